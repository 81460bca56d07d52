#include "app/builds.h"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElf = "\x7f\x45LF, and so on";

class Builds : public testing::Test {
 protected:
  void SetUp() override {
    root_ = os::absolute(testing::TempDir() + "/builds-" + std::to_string(::getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    ASSERT_TRUE(os::write_file(root_ + "/" + path, text));
  }
  model::Spec spec(const std::string& program, const std::string& workdir = "") const {
    model::Spec made;
    made.repo = root_;
    made.workdir = root_ + workdir;
    made.command = {program};
    made.build = build_command_of(made);
    return made;
  }

  std::string root_;
};

TEST_F(Builds, AMakefileAboveTheProgramMakesIt) {
  write("bin/ray", kElf);
  write("Makefile", "OUT = bin/ray\nCXXFLAGS = -O2\n$(OUT): ray.o\n\t$(CXX) -o $@ ray.o\n");
  const model::Spec above = spec("./bin/ray");
  EXPECT_EQ(above.build, (std::vector<std::string>{"make", "-s", "-C", ".", "bin/ray"}));
  const auto faster = faster_build_of(above, code::Rounding::kSame);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->path, "Makefile");
  EXPECT_EQ(faster->line, 2);
  EXPECT_EQ(faster->before, "-O2");
  EXPECT_EQ(spec("./ray", "/bin").build, above.build);
  write("bin/script", "#!/bin/sh\n");
  EXPECT_TRUE(spec("./bin/script").build.empty());
  write("bin/other", kElf);
  EXPECT_TRUE(spec("./bin/other").build.empty());
}

// CMake without a build type optimises nothing. What is built anew runs, and has other flags.
TEST_F(Builds, WhatCMakeBuiltIsBuiltAnewForSpeed) {
  if (std::system("cmake --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "apt install cmake";
  write("CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.10)\nproject(ray C)\noption(LONG \"\" OFF)\n"
        "add_executable(ray src/ray.c)\n");
  write("src/ray.c",
        "#include <stdio.h>\nint main(void) {\n#ifdef __OPTIMIZE__\n  puts(\"fast\");\n#else\n"
        "  puts(\"slow\");\n#endif\n}\n");
  const auto shell = [&](const std::string& text) {
    return std::system(("cd " + root_ + " && " + text + " >/dev/null 2>&1").c_str());
  };
  ASSERT_EQ(shell("cmake -S . -B out/dev -DLONG=ON && cmake --build out/dev"), 0);
  EXPECT_EQ(shell("out/dev/ray | grep slow"), 0);
  const model::Spec made = spec("./out/dev/ray");
  ASSERT_EQ(made.build.size(), 8U);
  EXPECT_EQ(made.build[4], ".");
  EXPECT_EQ(made.build[5], "out/dev");
  EXPECT_EQ(made.build[6], "ray");
  EXPECT_EQ(made.build[7], "-DLONG=ON");
  const auto faster = faster_build_of(made, code::Rounding::kSame);
  ASSERT_TRUE(faster);
  EXPECT_EQ(faster->path, "CMakeLists.txt");
  EXPECT_EQ(faster->line, 3);
  EXPECT_EQ(faster->before, "");
  write("p", faster->patch);
  ASSERT_EQ(shell("rm -r out && patch -p1 < p && " + shell_quote(made.build)), 0);
  EXPECT_EQ(shell("out/dev/ray | grep fast"), 0);
  EXPECT_FALSE(faster_build_of(made, code::Rounding::kSame)) << "all of that is there";
  // Another folder's build is not ours.
  model::Spec elsewhere = made;
  elsewhere.repo = root_ + "/src";
  EXPECT_TRUE(build_command_of(elsewhere).empty());
}

}  // namespace
}  // namespace amdahl::app
