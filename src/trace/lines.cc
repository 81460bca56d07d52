#include "trace/lines.h"

namespace amdahl::trace {
namespace {

constexpr std::size_t kPiece = 1 << 18;

}  // namespace

// False at the end of the stream.
Result<bool> Lines::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t used = buffer_.size();
  buffer_.resize(used + kPiece);
  const auto got = next_(std::span(buffer_).subspan(used));
  buffer_.resize(used + (got ? *got : 0));
  if (!got) return got.error();
  bytes_ += *got;
  return *got > 0;
}

Result<std::optional<std::string_view>> Lines::next() {
  bool is_cut = false;
  std::size_t searched = at_;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != buffer_.npos) {
      ++number_;
      cut_ += is_cut ? 1 : 0;
      is_whole_ = true;
      const auto line = std::string_view(buffer_).substr(at_, end - at_).substr(0, longest_);
      at_ = end + 1;
      return std::optional(line);
    }
    if (buffer_.size() - at_ > longest_) {
      is_cut = true;
      buffer_.resize(at_ + longest_);
    }
    searched = buffer_.size() - at_;
    if (is_at_end_ || !TRY(fill())) break;
  }
  is_at_end_ = true;
  if (at_ == buffer_.size()) return std::optional<std::string_view>{};
  ++number_;
  cut_ += is_cut ? 1 : 0;
  is_whole_ = false;
  const auto line = std::string_view(buffer_).substr(at_).substr(0, longest_);
  at_ = buffer_.size();
  return std::optional(line);
}

}  // namespace amdahl::trace
