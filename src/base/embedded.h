// embedded.h: a file whose bytes were compiled in (see cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace amdahl {

struct Embedded {
  std::string_view path;   // Relative to the folder it was embedded from.
  std::string_view bytes;  // Lives as long as the program.
};

}  // namespace amdahl
