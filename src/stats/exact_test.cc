#include "stats/exact.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "source_dir.h"

namespace amdahl::stats {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> build_files() {
  const fs::path root = AMDAHL_SOURCE_DIR;
  std::vector<fs::path> found = {root / "CMakeLists.txt", root / "CMakePresets.json"};
  for (const char* folder : {"cmake", "src", "tests", "bench", "examples", "script"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& path = entry.path();
      const bool builds = path.filename() == "CMakeLists.txt" || path.extension() == ".cmake" ||
                          path.parent_path() == root / "script";
      if (entry.is_regular_file() && builds) found.push_back(path);
    }
  }
  return found;
}

TEST(Exact, NothingIsBuiltWithArithmeticThatIsNotIeee) {
  int read = 0;
  for (const fs::path& path : build_files()) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    read += text.empty() ? 0 : 1;
    for (const char* flag : {"-ffast-math", "-Ofast", "-ffinite-math-only", "-funsafe-math",
                             "-fassociative-math", "-freciprocal-math", "-fno-signed-zeros"}) {
      EXPECT_EQ(text.find(flag), std::string::npos) << path << " has " << flag;
    }
  }
  EXPECT_GT(read, 10);
}

// What those flags would take away, seen in this very build.
TEST(Exact, InfinitiesTiesAndSignsAreKept) {
  volatile double huge = 1e16;
  volatile double one = 1;
  EXPECT_EQ((huge + one) - huge, 0);  // Not reassociated to 1.
  volatile double zero = 0;
  EXPECT_EQ(-1 / zero, -std::numeric_limits<double>::infinity());
  EXPECT_NE(zero / zero, zero / zero);
}

}  // namespace
}  // namespace amdahl::stats
