// What a job does to the folder of its own run: no run is run again for it, none is forgotten, and
// nobody waits for it.
#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "launch/local/testing.h"

namespace amdahl::launch::local {
namespace {

class SabotageTest : public LocalTest {
 protected:
  // Until the arm has removed what it wants to, as somebody who looks now and then.
  void look_until_gone() {
    wait_for_file("began");
    EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kRunning);
    EXPECT_TRUE(os::write_file(path("seen"), ""));
    while (!os::exists(path("gone"))) {
      EXPECT_NE(status_of(*launcher_, {"r-1"}).state, RunState::kAbsent);
      os::real_clock().sleep(std::chrono::milliseconds(10));
    }
  }
  // An arm that waits to be seen, removes this of its run's folder and takes its worker with it.
  static std::string removes(const std::string& what) {
    return "cd \"$AMDAHL_OUT/..\"; echo > ../../../began; until [ -e ../../../seen ]; do sleep "
           "0.02; "
           "done; rm -rf " +
           what + "; echo > gone.tmp; mv gone.tmp ../../../gone; kill -9 $PPID; sleep 100";
  }
};

TEST_F(SabotageTest, ARunThatRemovesItsFolderIsLostToTheArmThatRan) {
  for (const char* what : {"\"$PWD\"; mkdir -p \"$PWD\"; cd \"$PWD\"", "[!r]*", "claim done.json",
                           "started.json handed claim", "request.json"}) {
    SCOPED_TRACE(what);
    std::filesystem::remove_all(path("state"));
    for (const char* name : {"began", "seen", "gone"}) std::filesystem::remove(path(name));
    launcher_ = make(path("state"));
    ASSERT_TRUE(hand_over(*launcher_, request("true", removes(what))));
    look_until_gone();
    EXPECT_EQ(wait_for({RunState::kLost, RunState::kAbsent, RunState::kHeld, RunState::kForeign}),
              RunState::kLost);
    const auto receipts = launcher_->collect({"r-1"});
    ASSERT_TRUE(receipts) << receipts.error().text;
    EXPECT_TRUE(receipts->lost);
    EXPECT_EQ(receipts->under_way, "B");
  }
}

TEST_F(SabotageTest, ItsLastWordIsTheWorkersAndNoFileOfThatName) {
  const std::string says =
      "echo '{\"problem\": \"the disk\"}' > \"$AMDAHL_OUT/../done.json\"; "
      "echo > said; sleep 0.3";
  ASSERT_TRUE(hand_over(*launcher_, request("true", says)));
  wait_for_file("said");
  EXPECT_EQ(status_of(*launcher_, {"r-1"}).state, RunState::kRunning);
  ASSERT_EQ(wait_for({RunState::kFinished, RunState::kLost}), RunState::kFinished);
  const Receipts receipts = *launcher_->collect({"r-1"});
  EXPECT_EQ(receipts.problem, "");
  EXPECT_TRUE(receipts.a && receipts.b);
}

// Nobody writes to it: who opens it waits for ever.
TEST_F(SabotageTest, APipeInPlaceOfAFileIsReadByNobody) {
  ASSERT_TRUE(hand_over(*launcher_, request("true", "true")));
  ASSERT_EQ(wait_for({RunState::kFinished}), RunState::kFinished);
  const RunFolder folder = run_folder();
  for (const std::string& file : {folder.receipt("B"), folder.done(), folder.request()}) {
    SCOPED_TRACE(file);
    ASSERT_TRUE(os::exists(file));
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    launcher_ = make(path("state"));
    status_of(*launcher_, {"r-1"});
    const auto receipts = launcher_->collect({"r-1"});
    EXPECT_TRUE(!receipts || receipts->problem.find("not a plain file") != std::string::npos);
  }
}

}  // namespace
}  // namespace amdahl::launch::local
