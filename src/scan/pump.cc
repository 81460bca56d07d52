#include "scan/pump.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace amdahl::scan {
namespace {

constexpr std::size_t kRead = std::size_t{1} << 18;
constexpr std::size_t kBlock = std::size_t{1} << 20;  // Unpacked; a little more may come.

struct Filled {
  std::string bytes;
  std::uint64_t packed = 0;
  bool is_last = false;
  bool is_truncated = false;
  std::string error;
};

// Reads and unpacks until a block is full or the input ends.
class Source {
 public:
  Source(ByteStream& stream, fleet::Packing packing, std::string first)
      : stream_{stream},
        is_packed_{packing != fleet::Packing::kNone},
        unpacker_{fleet::Unpacker::make(packing)},
        first_{std::move(first)} {}

  void fill(Filled& into) {
    into.bytes.clear();
    into.packed = 0;
    into.is_last = into.is_truncated = false;
    into.error.clear();
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
    const auto got = stream_.read(buffer_);
    if (!got) return end(into, got.error().text);
    left_ = std::string_view(buffer_).substr(0, *got);
    if (*got > 0) return;
    into.is_truncated = !unpacker_->is_whole();
    end(into, {});
  }

  void read_plain(Filled& into) {
    const std::size_t before = into.bytes.size();
    into.bytes.resize(before + kRead);
    const auto got = stream_.read(std::span(into.bytes).subspan(before));
    into.bytes.resize(before + (got ? *got : 0));
    into.packed += got ? *got : 0;
    if (!got) return end(into, got.error().text);
    if (*got == 0) end(into, {});
  }

  void unpack(Filled& into) {
    const auto used = unpacker_->step(left_, [&](std::string_view bytes) -> Result<> {
      into.bytes += bytes;
      return Ok{};
    });
    if (!used) return end(into, used.error().text);
    left_.remove_prefix(*used);
    into.packed += *used;
  }

  static void end(Filled& into, std::string why) {
    into.is_last = true;
    into.error = std::move(why);
  }

  ByteStream& stream_;
  bool is_packed_;
  std::unique_ptr<fleet::Unpacker> unpacker_;
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
  explicit Here(Source source) : source_{std::move(source)} {}
  Block next() override {
    source_.fill(filled_);
    return shown(filled_);
  }

 private:
  Source source_;
  Filled filled_;
};

// Three blocks go round: one is being used, one waits, one is being filled.
class Apart final : public Pump {
 public:
  Apart(Source source, const std::atomic<bool>* stop)
      : source_{std::move(source)}, stop_{stop}, thread_{[this] { work(); }} {}

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
      source_.fill(next);
      if (stop_ && stop_->load()) next.is_last = true;
      const bool is_last = next.is_last;
      lock.lock();
      ++filled_;
      changed_.notify_all();
      if (is_last) return;
    }
  }

  Source source_;
  const std::atomic<bool>* stop_;
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

std::unique_ptr<Pump> Pump::make(ByteStream& stream, fleet::Packing packing, std::string first,
                                 Options options) {
  Source source(stream, packing, std::move(first));
  if (!options.in_thread) return std::make_unique<Here>(std::move(source));
  return std::make_unique<Apart>(std::move(source), options.stop);
}

}  // namespace amdahl::scan
