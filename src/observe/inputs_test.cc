#include "observe/inputs.h"

#include <filesystem>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "observe/testing.h"

namespace amdahl::observe {
namespace {

using FilesTest = InFolder;

TEST_F(FilesTest, OutputsAreDigestedUnderNamesThatBothArmsShare) {
  RunOrder made = shell("echo a > {out}/a.txt; echo b > {out}/b.txt; echo c > c.txt");
  write("stale.txt", "from an earlier run");
  std::filesystem::last_write_time(
      path("stale.txt"),
      std::filesystem::last_write_time(path("stale.txt")) - std::chrono::hours(1));
  made.outputs = {{"{out}/*.txt"}, {"c.txt"}, {"stale.txt"}, {"{out}/missing.json"}};
  const model::Receipt receipt = run(made);
  ASSERT_EQ(receipt.outputs.size(), 5u);
  EXPECT_EQ(receipt.outputs[0].path, "{out}/a.txt");
  EXPECT_EQ(receipt.outputs[0].sha256, sha256_hex("a\n"));
  EXPECT_EQ(receipt.outputs[0].bytes, 2);
  EXPECT_EQ(receipt.outputs[1].path, "{out}/b.txt");
  EXPECT_EQ(receipt.outputs[2].path, "c.txt");
  EXPECT_EQ(receipt.outputs[2].sha256, sha256_hex("c\n"));
  EXPECT_FALSE(receipt.outputs[3].sha256);
  EXPECT_EQ(receipt.outputs[4].path, "{out}/missing.json");
  EXPECT_FALSE(receipt.outputs[4].sha256);
  EXPECT_EQ(receipt.report_problems,
            std::vector<std::string>{"output stale.txt is older than the run: not written by it"});
}

// The folder of results is the workdir's, so that files of earlier runs lie in it.
TEST_F(FilesTest, OfAFolderOnlyWhatTheRunWroteIsItsResult) {
  const auto old = [&](const std::string& file, const std::string& text) {
    write(file, text);
    const auto hour = std::chrono::hours(1);
    std::filesystem::last_write_time(path(file),
                                     std::filesystem::last_write_time(path(file)) - hour);
  };
  const auto digest_of = [&](const char* script) {
    old("results/1", "one\n");
    old("results/2", "two\n");
    const auto now = std::filesystem::last_write_time(path("results"));
    std::filesystem::last_write_time(path("results"), now - std::chrono::hours(1));
    RunOrder made = shell(script);
    made.outputs = {{"results"}};
    return run(made).outputs.at(0).sha256;
  };
  const auto both = digest_of("echo one > results/1; echo two > results/2");
  EXPECT_TRUE(both) << "written in place, which leaves the folder's own time as it was";
  EXPECT_EQ(digest_of("rm results/*; echo one > results/1; echo two > results/2"), *both);
  const auto none = digest_of("echo > results/mark; rm results/mark");
  EXPECT_EQ(none.sight(), model::Sight::kAbsent) << "another run's results";
  EXPECT_EQ(none.why(), "older than the run: not written by it");
  const auto half = digest_of("echo one > results/1");
  EXPECT_TRUE(half);
  EXPECT_FALSE(half == *both);
}

TEST_F(FilesTest, ResultsOfEarlierRunsAreSetAsideAndThoseOfOthersStay) {
  write("results/others", "of a person\n");
  // It looks new, but the run has not written to it.
  std::filesystem::last_write_time(
      path("results/others"),
      std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  RunOrder made = shell("ls results; mkdir -p results; echo 1 > results/a; echo 2 > {out}/b");
  made.outputs = {{"results"}, {"{out}/b"}};
  made.results_list = path("lists/of.json");
  run(made);
  EXPECT_TRUE(os::exists(path("results/a")));
  EXPECT_EQ(run(made).stdout_tail, "others\n") << "the first run's is gone";
  const model::Plan writes = made.plan;
  made.plan = shell("ls results").plan;
  EXPECT_EQ(run(made).stdout_tail, "others\n");
  EXPECT_EQ(*os::read_file(path("results/a")), "1\n") << "it is back after the run";
  EXPECT_EQ(run(made).stdout_tail, "others\n") << "and set aside for each run";
  made.plan = writes;
  run(made);
  write("results/a", "mine now\n");
  EXPECT_EQ(run(made).stdout_tail, "a\nothers\n") << "somebody has written to it";
  made.results_list.clear();
  EXPECT_EQ(run(made).stdout_tail, "a\nothers\n") << "outside of a test all stay";
}

TEST_F(FilesTest, WhatIsNoResultIsNotDigested) {
  RunOrder made = shell(
      "mkdir {out}/none {out}/odd; ln -s nowhere {out}/odd/x; mkfifo {out}/pipe; "
      "date > {out}/log; : > {out}/void");
  made.outputs = {
      {"{out}/none"}, {"{out}/odd"}, {"{out}/pipe"}, {"{out}/log", false}, {"{out}/void", false}};
  const model::Receipt receipt = run(made);
  ASSERT_EQ(receipt.outputs.size(), 5u);
  EXPECT_EQ(receipt.outputs[0].sha256.sight(), model::Sight::kAbsent) << "an empty folder";
  EXPECT_EQ(receipt.outputs[1].sha256.sight(), model::Sight::kUnreadable) << "a link to nothing";
  EXPECT_EQ(receipt.outputs[2].sha256.sight(), model::Sight::kUnreadable) << "and no waiting";
  EXPECT_TRUE(receipt.outputs[3].presence_only);
  EXPECT_FALSE(receipt.outputs[3].sha256) << "it was not to be digested";
  EXPECT_GT(receipt.outputs[3].bytes, 0);
  EXPECT_EQ(receipt.outputs[4].bytes, 0);
}

// A clock that is set back while the job runs, as a virtual machine's is when it is woken.
class SteppedClock final : public os::Clock {
 public:
  Nanos monotonic() override { return os::real_clock().monotonic(); }
  Nanos unix_time() override {
    const Nanos now = os::real_clock().unix_time();
    return std::exchange(asked_, true) ? now : now + std::chrono::hours(1);
  }
  void sleep(Nanos time) override { os::real_clock().sleep(time); }

 private:
  bool asked_ = false;
};

TEST_F(FilesTest, AClockThatIsSetBackMakesNoOutputStale) {
  RunOrder made = shell("echo a > {out}/a.txt");
  made.outputs = {{"{out}/a.txt"}};
  SteppedClock clock;
  const auto receipt = supervise(made, clock);
  ASSERT_TRUE(receipt) << receipt.error().text;
  EXPECT_EQ(receipt->outputs[0].sha256, sha256_hex("a\n"));
  EXPECT_GT(receipt->started_monotonic, Nanos{0});
}

TEST_F(FilesTest, InputsAreFingerprintedByContent) {
  write("data/1.bin", "one");
  write("data/deep/2.bin", "two");
  RunOrder made = shell("true");
  made.inputs = {"data"};
  const model::Receipt first = run(made);
  EXPECT_EQ(first.input_bytes, 6);
  EXPECT_EQ(run(made).input_fingerprint, *first.input_fingerprint);
  EXPECT_TRUE(os::exists(path("state/inputs.json")));
  write("data/deep/2.bin", "TWO");
  EXPECT_FALSE(run(made).input_fingerprint == *first.input_fingerprint);
  write("data/deep/2.bin", "two");
  EXPECT_EQ(run(made).input_fingerprint, *first.input_fingerprint);
  made.inputs = {"data", "nothing*"};
  const model::Receipt half = run(made);
  EXPECT_EQ(half.report_problems, std::vector<std::string>{"inputs: nothing matches nothing*"});
  EXPECT_EQ(half.input_fingerprint.sight(), model::Sight::kAbsent) << "half of them is none";
  EXPECT_EQ(half.input_fingerprint.why(), "nothing matches nothing*");
  std::filesystem::create_symlink("nowhere", path("data/broken"));
  made.inputs = {"data"};
  EXPECT_EQ(run(made).input_fingerprint.sight(), model::Sight::kUnreadable);
}

}  // namespace
}  // namespace amdahl::observe
