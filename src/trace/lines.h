// lines.h: reads a stream line by line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/reader.h"

namespace amdahl::trace {

class Lines {
 public:
  // Longer lines are truncated to `longest` and counted.
  explicit Lines(const NextBytes& next, std::size_t longest = std::size_t{16} << 20)
      : next_{next}, longest_{longest} {}

  // Without its newline; valid until the next call. Nothing at the end of the stream.
  Result<std::optional<std::string_view>> next();

  bool is_whole() const { return is_whole_; }       // The line ended with a newline.
  std::uint64_t number() const { return number_; }  // Of the last line, 1-based.
  std::uint64_t bytes() const { return bytes_; }    // Read so far.
  std::uint64_t cut() const { return cut_; }

 private:
  Result<bool> fill();

  const NextBytes& next_;
  std::size_t longest_;
  std::string buffer_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t cut_ = 0;
  bool is_whole_ = true;
  bool is_at_end_ = false;
};

}  // namespace amdahl::trace
