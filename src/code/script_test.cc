#include "code/script.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

TEST(Script, LinesThatNameAProgram) {
  constexpr const char* kScript = R"(#!/bin/bash
# basename is called for each
for i in $(seq 1 1500); do
  name=$(basename "/a/b/$i.txt")  # basename
  basename=$name; echo "$basename ${basename}" basename.txt my-basename
  /usr/bin/basename x;basename y
done
)";
  EXPECT_EQ(lines_naming(kScript, "basename"), (std::vector<int>{4, 6}));
  EXPECT_EQ(lines_naming(kScript, "seq"), std::vector<int>{3});
  EXPECT_TRUE(lines_naming(kScript, "sed").empty());
  EXPECT_TRUE(lines_naming(kScript, "").empty());
}

TEST(Script, TheKernelCutsLongNames) {
  EXPECT_EQ(lines_naming("x\nmy-long-program-of-mine a\n", "my-long-program"), std::vector<int>{2});
}

TEST(Script, AShellIsToldByNameOrFirstLine) {
  EXPECT_TRUE(is_script("run.sh", ""));
  EXPECT_TRUE(is_script("run", "#!/usr/bin/env bash\nls\n"));
  EXPECT_TRUE(is_script("run", "#!/bin/sh"));
  EXPECT_FALSE(is_script("run", "#!/usr/bin/python3\n"));
  EXPECT_FALSE(is_script("run", ""));
}

}  // namespace
}  // namespace amdahl::code
