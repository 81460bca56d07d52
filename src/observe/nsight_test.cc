#include "observe/nsight.h"

#include <cstdlib>

#include "base/text.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

// Tools that write down how they were called and then run the command, as the real ones do.
class NsightTest : public InFolder {
 protected:
  void add_tool(const std::string& name) {
    write("bin/" + name,
          "#!/bin/sh\nout=\nwhile [ $# -gt 0 ]; do case $1 in\n"
          "--output=*) out=${1#--output=}.sqlite;; --log-file=*) out=${1#--log-file=};;\n"
          "profile|--*) ;; *) break;; esac; shift; done\n"
          "echo \"$@\" > \"$out\"\nexec \"$@\"\n");
    std::filesystem::permissions(path("bin/" + name), std::filesystem::perms::all);
  }
  void use_tools() {
    const char* before = std::getenv("PATH");
    path_ = before ? before : "";
    ::setenv("PATH", (path("bin") + ":" + path_).c_str(), 1);
  }
  void TearDown() override {
    if (!path_.empty()) ::setenv("PATH", path_.c_str(), 1);
  }
  std::string path_;
};

TEST_F(NsightTest, WithoutTheToolItSaysWhereToGetIt) {
  if (os::can_use("nsys")) GTEST_SKIP() << "nsys is installed here";
  const auto wrapped = in_nsys({"true"}, folder_);
  ASSERT_FALSE(wrapped);
  EXPECT_EQ(wrapped.error().text,
            "nsys is not on PATH; install Nsight Systems (developer.nvidia.com), or remove --nsys");
}

TEST_F(NsightTest, TheCommandRunsInsideTheToolAndLeavesWhatWeRead) {
  add_tool("nsys");
  add_tool("ncu");
  use_tools();
  for (const auto& wrap : {in_nsys, +[](const std::vector<std::string>&c, const std::string&f) {
                             return in_ncu(c, f, 5);
                           }}) {
    const auto wrapped = wrap({"sh", "-c", "echo it ran"}, folder_);
    ASSERT_TRUE(wrapped) << wrapped.error().text;
    const model::Receipt receipt = run(order(wrapped->argv));
    EXPECT_EQ(receipt.stdout_tail, "it ran\n") << join(wrapped->argv, " ");
    EXPECT_TRUE(os::exists(wrapped->output)) << wrapped->output;
  }
}

TEST_F(NsightTest, WhatItDidNotLeaveIsToldInItsOwnWords) {
  const std::string output = path("ncu.csv");
  const struct {
    const char* tool;
    const char* left;
    std::string want;
  } cases[] = {
      {"nsys", "", "nsys: it wrote no " + output + "; see its messages in the job's output"},
      {"nsys", "SQLite format 3", ""},
      {"ncu", "==PROF== Connected to process 1\n\"ID\",\"Process ID\",\"Kernel Name\"\n", ""},
      {"ncu",
       "==PROF== Connected to process 1\n==ERROR== ERR_NVGPUCTRPERM - The user does not have "
       "permission\n==WARNING== No kernels were profiled.\n",
       "ncu: ERR_NVGPUCTRPERM - The user does not have permission"},
      {"ncu", "==PROF== Disconnected\n==WARNING== No kernels were profiled.\n",
       "ncu: No kernels were profiled."},
      {"ncu", "==PROF== Disconnected\n", "ncu: no kernel was profiled"},
  };
  for (const auto& c : cases) {
    write("ncu.csv", c.left);
    EXPECT_EQ(trouble_of({{c.tool}, output}), c.want) << c.left;
  }
}

TEST_F(NsightTest, OurOwnCollectorsGiveWayToIt) {
  add_tool("nsys");
  use_tools();
  const std::string script = "echo \"[$NVTX_INJECTION64_PATH] $AMDAHL_HOOK_STEPS\"";
  RunOrder made = order(in_nsys({"sh", "-c", script}, folder_)->argv);
  made.with_hook = true;
  EXPECT_EQ(run(made).stdout_tail, "[] 0\n");
  made.plan.argv = {"sh", "-c", script};
  EXPECT_EQ(run(made).stdout_tail, "[" + path("out/inject/libamdahl_inject.so") + "] \n");
}

}  // namespace
}  // namespace amdahl::observe
