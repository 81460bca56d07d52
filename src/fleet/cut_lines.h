// cut_lines.h: splits a stream of chunks into lines with their positions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/intake.h"

namespace amdahl::fleet {

// Lines end in "\n" or "\r\n". A line within one chunk is not copied. A leading byte order mark is
// skipped.
class LineCutter {
 public:
  // Calls `use(std::string_view line, Where where)`, which returns Result<>, for each complete
  // line.
  template <class Use>
  Result<> feed(std::string_view bytes, Use use) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (end == bytes.npos) {
        rest_ += piece;
        if (rest_.size() > kLongest) return bad_input(too_long());
        return Ok{};
      }
      if (rest_.empty()) {
        TRY(give(piece, use));
      } else {
        rest_ += piece;
        const std::string line = std::move(rest_);
        rest_.clear();
        TRY(give(line, use));
      }
      bytes.remove_prefix(end + 1);
    }
    return Ok{};
  }

  // The last line, if it has no newline.
  template <class Use>
  Result<> finish(Use use) {
    if (rest_.empty()) return Ok{};
    const std::string line = std::move(rest_);
    rest_.clear();
    return give(line, use);
  }

  bool ends_in_line() const { return !rest_.empty(); }
  std::uint64_t lines() const { return where_.line; }
  // Position after the lines and bytes so far.
  Where next() const { return where_; }

 private:
  static constexpr std::size_t kLongest = std::size_t{1} << 26;

  std::string too_long() const {
    return "line " + std::to_string(where_.line + 1) + " is longer than 64 MiB: not a table";
  }

  template <class Use>
  Result<> give(std::string_view line, Use& use) {
    ++where_.line;
    const Where where = where_;
    where_.byte += line.size() + 1;
    if (where.line == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return use(line, where);
  }

  std::string rest_;
  Where where_;
};

}  // namespace amdahl::fleet
