#include "code/cmake.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

TEST(Cmake, ACacheSaysHowTheFolderWasSetUp) {
  const auto cache = read_cmake_cache(
      "# This is the CMakeCache file.\n//Build type\nCMAKE_BUILD_TYPE:STRING=RelWithDebInfo\n"
      "CMAKE_CXX_FLAGS:STRING=-Wall\nCMAKE_CXX_FLAGS_RELWITHDEBINFO:STRING=-O2 -g -DNDEBUG\n"
      "CMAKE_CXX_COMPILER:FILEPATH=/usr/bin/c++\nWITH_THREADS:BOOL=ON\nEXTRA:UNINITIALIZED=x y\n"
      "EMPTY:STRING=\nray_BINARY_DIR:STATIC=/r/build\nCMAKE_HOME_DIRECTORY:INTERNAL=/r\n");
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->source, "/r");
  EXPECT_EQ(cache->flags, "-Wall -O2 -g -DNDEBUG");
  EXPECT_EQ(cache->settings, (std::vector<std::string>{"-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                                                       "-DCMAKE_CXX_FLAGS=-Wall",
                                                       "-DWITH_THREADS=ON", "-DEXTRA=x y"}));
  EXPECT_FALSE(read_cmake_cache("no cache\n"));
}

TEST(Cmake, TheFlagsOfATargetAreThoseThatWereWritten) {
  EXPECT_EQ(cmake_flags("# CMAKE generated\nCXX_DEFINES = \n\nCXX_FLAGS = -O3 -std=c++11\n", "ray"),
            "-O3 -std=c++11");
  const std::string ninja =
      "build CMakeFiles/a.dir/a.o: CXX a.cc\n  FLAGS = -O1\nbuild CMakeFiles/ray.dir/r.o: CXX "
      "r.cc\n  DEP_FILE = x\n  FLAGS = -O2\n";
  EXPECT_EQ(cmake_flags(ninja, "ray"), "-O2");
  EXPECT_EQ(cmake_flags(ninja, "b"), "");
}

TEST(Cmake, SpeedIsAskedForBehindTheProject) {
  const std::string lists =
      "cmake_minimum_required(VERSION 3.10)\n# project(no)\nProject ( ray\n  LANGUAGES CXX ) # it\n"
      "add_executable(ray ray.cc)\n";
  const auto faster = faster_cmake(lists, "-std=c++11", Rounding::kSame);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->line, 5);
  EXPECT_EQ(faster->before, "");
  EXPECT_EQ(
      edited(lists, faster->edits),
      "cmake_minimum_required(VERSION 3.10)\n# project(no)\nProject ( ray\n  LANGUAGES CXX ) # "
      "it\nadd_compile_options(-O3 -march=native -ffp-contract=off -DNDEBUG)\n"
      "add_executable(ray ray.cc)\n");
  const auto release = faster_cmake(lists, "-g -O0 -O3 -DNDEBUG", Rounding::kSame);
  ASSERT_TRUE(release);
  EXPECT_EQ(release->before, "-O3");
  EXPECT_EQ(release->edits[0].text, "\nadd_compile_options(-O3 -march=native -ffp-contract=off)");
  EXPECT_FALSE(faster_cmake(lists, "-O3 -march=native", Rounding::kSame));
  EXPECT_FALSE(faster_cmake(lists, "-Ofast", Rounding::kFree));
  EXPECT_FALSE(faster_cmake("add_executable(ray ray.cc)\n", "", Rounding::kSame));
}

}  // namespace
}  // namespace amdahl::code
