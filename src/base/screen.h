// screen.h: text in columns of a terminal.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace amdahl {

// Terminal columns: 2 for CJK and emoji, 0 for combining marks.
std::size_t columns_of(std::string_view text);

// Without control characters: a job's name or output must not move the cursor or change the
// terminal.
std::string plain(std::string_view text);

// Truncated or padded to this many columns.
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);  // Padded only.

struct Sign {
  std::string_view drawn;
  char ascii;
};
// Each listed sign becomes one ASCII character, so that columns stay aligned; '?' for others.
std::string to_ascii(std::string_view text, std::span<const Sign> signs);

}  // namespace amdahl
