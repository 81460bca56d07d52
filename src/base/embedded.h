// embedded.h: a file that was compiled in (see cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace amdahl {

struct Embedded {
  std::string_view path;   // Relative to the folder it was embedded from.
  std::string_view bytes;  // Valid for the lifetime of the program.
};

}  // namespace amdahl
