#include "bytes/unpack.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

namespace amdahl::bytes {
namespace {

// Fits a second-level cache together with what reads it.
constexpr std::size_t kOut = std::size_t{256} << 10;

class Plain final : public Unpacker {
 public:
  Result<std::size_t> step(std::string_view bytes, const Sink& sink) override {
    TRY(sink(bytes));
    return bytes.size();
  }
  bool has_more() const override { return false; }
  bool is_whole() const override { return true; }
};

Error damaged(std::uint64_t byte, std::string_view what, std::string_view why) {
  return bad_input(fmt::format("byte {}: {}: {}", byte, what, why));
}

std::string_view gzip_trouble(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK:
      return "invalid block header";
    case ISAL_INVALID_SYMBOL:
      return "invalid code";
    case ISAL_INVALID_LOOKBACK:
      return "invalid back reference";
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
      return "invalid member header";
    case ISAL_INCORRECT_CHECKSUM:
      return "checksum mismatch";
    default:
      return "damaged data";
  }
}

class Gzip final : public Unpacker {
 public:
  Gzip() : out_(kOut) { restart(); }

  Result<std::size_t> step(std::string_view bytes, const Sink& sink) override {
    auto* data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    state_.next_in = data;
    state_.avail_in = static_cast<std::uint32_t>(bytes.size());
    if (between_) {
      skip_padding();
      if (state_.avail_in == 0) return used(bytes);
      if (is_padded_) return damaged(at(bytes), "gzip", "unexpected data after the padding");
      const auto [next, left] = std::pair(state_.next_in, state_.avail_in);
      restart();
      state_.next_in = next;
      state_.avail_in = left;
    }
    TRY(inflate(bytes, sink));
    return used(bytes);
  }

  bool has_more() const override { return has_more_; }
  bool is_whole() const override { return between_; }

 private:
  Result<> inflate(std::string_view bytes, const Sink& sink) {
    state_.next_out = out_.data();
    state_.avail_out = static_cast<std::uint32_t>(out_.size());
    const int code = isal_inflate(&state_);
    const std::size_t made = out_.size() - state_.avail_out;
    has_more_ = state_.avail_out == 0;
    if (made > 0) TRY(sink({reinterpret_cast<const char*>(out_.data()), made}));
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) {
      return damaged(at(bytes), "gzip", gzip_trouble(code));
    }
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      between_ = true;
      has_more_ = false;
    }
    return Ok{};
  }

  std::size_t used(std::string_view bytes) {
    const std::size_t count = bytes.size() - state_.avail_in;
    done_ += count;
    return count;
  }

  void restart() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
    between_ = false;
    has_more_ = false;
  }

  void skip_padding() {
    while (state_.avail_in > 0 && *state_.next_in == 0) {
      ++state_.next_in;
      --state_.avail_in;
      is_padded_ = true;
    }
  }

  std::uint64_t at(std::string_view bytes) const { return done_ + bytes.size() - state_.avail_in; }

  inflate_state state_{};
  std::vector<std::uint8_t> out_;
  std::uint64_t done_ = 0;
  bool between_ = false;   // The last member has ended.
  bool has_more_ = false;  // The output was full.
  bool is_padded_ = false;
};

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class Zstd final : public Unpacker {
 public:
  Zstd() : context_{ZSTD_createDCtx()}, out_(kOut) {}

  Result<std::size_t> step(std::string_view bytes, const Sink& sink) override {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    ZSTD_outBuffer out{out_.data(), out_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context_.get(), &out, &in);
    if (out.pos > 0) TRY(sink({out_.data(), out.pos}));
    if (ZSTD_isError(left) != 0) return damaged(done_ + in.pos, "zstd", ZSTD_getErrorName(left));
    between_ = left == 0;
    has_more_ = out.pos == out.size && left != 0;
    done_ += in.pos;
    return in.pos;
  }

  bool has_more() const override { return has_more_; }
  bool is_whole() const override { return between_; }

 private:
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  std::vector<char> out_;
  std::uint64_t done_ = 0;
  bool between_ = false;
  bool has_more_ = false;
};

}  // namespace

Result<> Unpacker::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty() || has_more()) {
    const std::size_t used = TRY(step(bytes, sink));
    bytes.remove_prefix(used);
  }
  return Ok{};
}

std::string_view name(Packing packing) {
  return packing == Packing::kGzip ? "gzip" : packing == Packing::kZstd ? "zstd" : "plain";
}

Packing packing_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Packing::kGzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packing::kZstd;
  return Packing::kNone;
}

std::unique_ptr<Unpacker> Unpacker::make(Packing packing) {
  if (packing == Packing::kGzip) return std::make_unique<Gzip>();
  if (packing == Packing::kZstd) return std::make_unique<Zstd>();
  return std::make_unique<Plain>();
}

}  // namespace amdahl::bytes
