// repair.h: salvages events from bytes that are not valid JSON as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::trace::kineto {

// A range of bytes that may be one event.
struct Unit {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Splits by brackets: elements of a list, without commas. The last one may be incomplete.
std::vector<Unit> split_balanced(std::string_view bytes);

// Splits by what looks like the start of an event (`key` from first_key()), each up to its closing
// bracket or the next start.
std::vector<Unit> split_at_markers(std::string_view bytes, std::string_view key);

struct Cleaned {
  std::string text;  // Followed by 128 zero bytes.
};

// Replaces control characters in strings by spaces and invalid UTF-8 by question marks. True if
// there were any.
bool clean(std::string_view bytes, Cleaned& cleaned);

}  // namespace amdahl::trace::kineto
