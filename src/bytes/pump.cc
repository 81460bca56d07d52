#include "bytes/pump.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace amdahl::bytes {
namespace {

constexpr std::size_t kRead = std::size_t{1} << 18;
constexpr std::size_t kBlock = std::size_t{1} << 20;  // Unpacked; a little more may come.

struct Filled {
  std::string bytes;
  std::uint64_t packed = 0;
  bool is_last = false;
  bool is_truncated = false;
  std::optional<Error> error;
};

// Reads and unpacks until a block is full or the input ends.
class Filler {
 public:
  Filler(Read read, Packing packing, std::string first)
      : read_{std::move(read)},
        is_packed_{packing != Packing::kNone},
        unpacker_{Unpacker::make(packing)},
        first_{std::move(first)} {}

  void fill(Filled& into) {
    into.bytes.clear();
    into.packed = 0;
    into.is_last = into.is_truncated = false;
    into.error.reset();
    if (!is_begun_) {
      is_begun_ = true;
      left_ = first_;
    }
    // A few bytes may unpack to gigabytes: what does not fit waits.
    while (!into.is_last && into.bytes.size() < kBlock) {
      if (!left_.empty() || unpacker_->has_more()) {
        unpack(into);
      } else {
        read(into);
      }
    }
  }

 private:
  void read(Filled& into) {
    if (!is_packed_) return read_plain(into);
    buffer_.resize(kRead);
    const auto got = read_(buffer_);
    if (!got) return end(into, got.error());
    left_ = std::string_view(buffer_).substr(0, *got);
    if (*got > 0) return;
    into.is_truncated = !unpacker_->is_whole();
    end(into, std::nullopt);
  }

  void read_plain(Filled& into) {
    const std::size_t before = into.bytes.size();
    into.bytes.resize(before + kRead);
    const auto got = read_(std::span(into.bytes).subspan(before));
    into.bytes.resize(before + (got ? *got : 0));
    into.packed += got ? *got : 0;
    if (!got) return end(into, got.error());
    if (*got == 0) end(into, std::nullopt);
  }

  void unpack(Filled& into) {
    const auto used = unpacker_->step(left_, [&](std::string_view bytes) -> Result<> {
      into.bytes += bytes;
      return Ok{};
    });
    if (!used) return end(into, used.error());
    left_.remove_prefix(*used);
    into.packed += *used;
  }

  static void end(Filled& into, std::optional<Error> why) {
    into.is_last = true;
    into.error = std::move(why);
  }

  Read read_;
  bool is_packed_;
  std::unique_ptr<Unpacker> unpacker_;
  std::string first_;
  std::string buffer_;
  std::string_view left_;  // Of first_ or buffer_: not unpacked yet.
  bool is_begun_ = false;
};

Pump::Block shown(const Filled& filled) {
  return {filled.bytes, filled.packed, filled.is_last, filled.is_truncated, filled.error};
}

class Here final : public Pump {
 public:
  explicit Here(Filler filler) : filler_{std::move(filler)} {}
  Block next() override {
    filler_.fill(filled_);
    return shown(filled_);
  }

 private:
  Filler filler_;
  Filled filled_;
};

// Three blocks go round: one is being used, one waits, one is being filled.
class Apart final : public Pump {
 public:
  explicit Apart(Filler filler) : filler_{std::move(filler)}, thread_{[this] { work(); }} {}

  ~Apart() override {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Block next() override {
    std::unique_lock lock(mutex_);
    if (has_used_) {
      ++used_;
      changed_.notify_all();
    }
    has_used_ = true;
    changed_.wait(lock, [this] { return filled_ > used_; });
    return shown(ring_[used_ % ring_.size()]);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      changed_.wait(lock, [this] { return is_over_ || filled_ < used_ + ring_.size(); });
      if (is_over_) return;
      Filled& next = ring_[filled_ % ring_.size()];
      lock.unlock();
      filler_.fill(next);
      const bool is_last = next.is_last;
      lock.lock();
      ++filled_;
      changed_.notify_all();
      if (is_last) return;
    }
  }

  Filler filler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Filled, 3> ring_;
  std::size_t filled_ = 0;
  std::size_t used_ = 0;
  bool has_used_ = false;
  bool is_over_ = false;
  std::thread thread_;  // Last: it uses all of the others.
};

}  // namespace

Result<std::string> read_first(const Read& read, std::size_t most) {
  std::string first(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const std::size_t got = TRY(read(std::span(first).subspan(have)));
    if (got == 0) break;
    have += got;
  }
  first.resize(have);
  return first;
}

Result<std::string> unpack_first(std::string_view first, std::size_t most) {
  std::string text;
  const auto unpacker = Unpacker::make(packing_of(first));
  while (text.size() < most && (!first.empty() || unpacker->has_more())) {
    const auto used = unpacker->step(first, [&](std::string_view bytes) -> Result<> {
      text.append(bytes.substr(0, most - text.size()));
      return Ok{};
    });
    if (!used && text.empty()) return used.error();
    if (!used) break;  // The next read reports the damage.
    first.remove_prefix(*used);
  }
  return text;
}

std::unique_ptr<Pump> Pump::make(Read read, Options options) {
  Filler filler(std::move(read), options.packing, std::move(options.first));
  if (!options.in_thread) return std::make_unique<Here>(std::move(filler));
  return std::make_unique<Apart>(std::move(filler));
}

}  // namespace amdahl::bytes
