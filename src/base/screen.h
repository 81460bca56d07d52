// screen.h: text that stands in columns of a terminal, whoever wrote it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace amdahl {

// As a terminal draws it: CJK and emoji are two columns wide, combining marks none.
std::size_t columns_of(std::string_view text);

// Without controls: what a job is called or prints must not move the cursor or change the terminal.
std::string plain(std::string_view text);

// Clipped and filled up to this many columns.
std::string left(std::string_view text, std::size_t width);
std::string right(std::string_view text, std::size_t width);  // Filled up alone.

struct Sign {
  std::string_view drawn;
  char ascii;
};
// Each sign becomes one ASCII character, so that nothing moves; '?' for those not listed.
std::string to_ascii(std::string_view text, std::span<const Sign> signs);

}  // namespace amdahl
