// cmake.h: how a CMake build folder was set up, and a CMakeLists.txt that asks for speed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "code/makefile.h"

namespace amdahl::code {

// What CMakeCache.txt says.
struct CmakeCache {
  std::string source;                 // The folder of the top CMakeLists.txt.
  std::string flags;                  // For C++, of the build type.
  std::vector<std::string> settings;  // "-DCMAKE_BUILD_TYPE=Release": what sets up another like it.
};

// Nothing if the text is no cache.
std::optional<CmakeCache> read_cmake_cache(std::string_view text);

// The flags of a target in what CMake wrote for make (flags.make) or for ninja (build.ninja); empty
// if they are not there.
std::string cmake_flags(std::string_view written, std::string_view target);

// Asks for speed right behind project(), where it counts for every target and comes after the flags
// of the build type. `flags` are those of now. Nothing where all of that is there.
std::optional<FasterBuild> faster_cmake(std::string_view lists, std::string_view flags,
                                        Rounding rounding);

}  // namespace amdahl::code
