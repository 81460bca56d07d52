// Fixes of playbook/inject/ for compiled programs, under the supervisor.
#include <cstdlib>

#include "observe/fixes.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

class NativeFixesTest : public InFolder {
 protected:
  // The job prints 20,000 lines and flushes each, then does what its argument says.
  void SetUp() override {
    InFolder::SetUp();
    write("job.cpp", R"(
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>
int main(int, char** argv) {
  const std::string how = argv[1];
  if (how == "own buffer") std::ios::sync_with_stdio(false);
  if (how == "quiet") return 0;
  if (how == "read") {
    std::ifstream file("big");
    std::string line;
    long sum = 0;
    while (std::getline(file, line)) sum += line.size();
    std::FILE* again = std::fopen("big", "r");
    for (int c; (c = std::fgetc(again)) != EOF;) sum += c;
    std::fclose(again);
    std::printf("%ld\n", sum);
    return 0;
  }
  for (int i = 0; i < 20000; ++i) std::cout << "line " << i << std::endl;
  std::cout << "last" << std::endl;
  if (how == "starts") std::system("echo from another");
  if (how == "starts") std::cout << "after" << std::endl;
  if (how == "forks" && fork() == 0) { std::printf("child\n"); std::fflush(stdout); _exit(0); }
  if (how == "forks") sleep(1);
  if (how == "crashes") std::abort();
  if (how == "leaves") _exit(3);
}
)");
    const std::string build = "c++ -O1 -o " + path("job") + " " + path("job.cpp");
    if (std::system(build.c_str()) != 0) GTEST_SKIP() << "no C++ compiler: apt install g++";
  }
  model::Receipt run_with(const std::string& fix, std::vector<std::string> argv) {
    RunOrder made = order(std::move(argv));
    made.out_dir = path("out" + std::to_string(++runs_));
    if (!fix.empty()) made.plan.inject[fix] = "";
    return run(made);
  }
  std::string read(const std::string& name) const {
    const auto text = os::read_file(path(name));
    return text ? *text : "cannot be read";
  }
  std::string printed() const { return read("out" + std::to_string(runs_) + "/stdout"); }

 private:
  int runs_ = 0;
};

TEST_F(NativeFixesTest, FlushesOfStdoutAreLeftOutAndNothingIsLost) {
  for (const std::string how : {"ends", "own buffer", "starts", "forks", "crashes", "leaves"}) {
    SCOPED_TRACE(how);
    const model::Receipt before = run_with("", {"./job", how});
    const std::string plain = printed();
    const model::Receipt after = run_with("native-stdout", {"./job", how});
    EXPECT_EQ(printed(), plain);
    EXPECT_NE(plain.find("\nlast\n"), std::string::npos);
    EXPECT_EQ(after.code, before.code);
    EXPECT_EQ(after.ending, before.ending);
    ASSERT_EQ(after.injected.size(), 1U);
    EXPECT_GE(after.injected[0].times, how == "crashes" ? 16384 : 20000);
    EXPECT_GT(before.write_calls, 20000) << "one for each line";
    EXPECT_LT(after.write_calls, 1000);
  }
}

TEST_F(NativeFixesTest, WhatDoesNotFlushOrSharesItsFileIsLeftAlone) {
  const model::Receipt quiet = run_with("native-stdout", {"./job", "quiet"});
  EXPECT_EQ(quiet.never_runs, model::NeverRuns::kDidNotEngage);
  // Whoever reads a pipe may answer each line.
  write("pipe.sh", "./job ends | cat >copy\n");
  const model::Receipt receipt = run_with("native-stdout", {"/bin/sh", "pipe.sh"});
  EXPECT_TRUE(read("copy").ends_with("\nlast\n"));
  EXPECT_EQ(receipt.injected[0].times, 0);
  EXPECT_EQ(receipt.injected[0].refused, "stdout is a terminal or is read by another program");
  write("both.sh", "./job ends > both 2>&1\n");
  EXPECT_EQ(run_with("native-stdout", {"/bin/sh", "both.sh"}).injected.at(0).times, 0);
  EXPECT_NE(read("both").find("\nlast\n"), std::string::npos);
}

TEST_F(NativeFixesTest, LargeFilesAreReadInLargePieces) {
  std::string big;
  for (int i = 0; i < 100000; ++i) big += "a line of a file\n";
  write("big", big);
  const model::Receipt before = run_with("", {"./job", "read"});
  const model::Receipt after = run_with("native-read-buffer", {"./job", "read"});
  EXPECT_EQ(after.stdout_tail, before.stdout_tail);
  EXPECT_EQ(after.injected.at(0).times, 2);
  EXPECT_GT(before.read_calls, 300);
  EXPECT_LT(after.read_calls, before.read_calls / 10);
  write("big", "short\n");
  EXPECT_EQ(run_with("native-read-buffer", {"./job", "read"}).never_runs,
            model::NeverRuns::kDidNotEngage);
}

}  // namespace
}  // namespace amdahl::observe
