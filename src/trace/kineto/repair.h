// repair.h: what can be saved of bytes that are not JSON as a whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace amdahl::trace::kineto {

// A stretch of bytes that may be one event.
struct Unit {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// By brackets: elements of a list, without the commas between them. The last may lack its end.
std::vector<Unit> split_balanced(std::string_view bytes);

// By what starts like an event (`key` as of first_key()), each up to its closing bracket or the
// next start.
std::vector<Unit> split_at_markers(std::string_view bytes, std::string_view key);

struct Cleaned {
  std::string text;  // With 128 bytes of zeros behind it.
};

// Control characters in strings become spaces, bytes that are no UTF-8 question marks. True if
// there were any.
bool clean(std::string_view bytes, Cleaned& cleaned);

}  // namespace amdahl::trace::kineto
