#include "base/shown.h"

#include <algorithm>
#include <array>

#include "base/screen.h"

namespace amdahl {
namespace {

// Bytes at the start that lay text out or colour it as we do; 0 if it has none.
std::size_t layout_at(std::string_view text) {
  constexpr auto kOurs = std::to_array<std::string_view>(
      {"\n", "\t", "\r\n", "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m"});
  for (const std::string_view piece : kOurs) {
    if (text.starts_with(piece)) return piece.size();
  }
  return 0;
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string line(text);
  for (const char c : {'\n', '\r', '\t'}) std::ranges::replace(line, c, ' ');
  return plain(line);
}

std::string harmless(std::string_view text) {
  std::string result;
  std::size_t from = 0;  // What is not written yet.
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t layout = layout_at(text.substr(at));
    if (layout == 0) {
      ++at;
      continue;
    }
    result += plain(text.substr(from, at - from));
    result += text.substr(at, layout);
    at += layout;
    from = at;
  }
  return result + plain(text.substr(from));
}

}  // namespace amdahl
