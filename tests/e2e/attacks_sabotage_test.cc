// attacks_sabotage_test.cc: jobs that meddle with the folder of their run, with what the baseline
// uses, or with the time at which they are over.
#include <map>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

class Sabotage : public testing::Test {
 protected:
  Sabotage() {
    sandbox_.write("config.toml",
                   "slots = [0]\n[campaign]\nk = 5\nalpha = 0.5\n[loop]\nqueue = 0\n"
                   "worth_at_least = 0.0\nbusy_hosts = false\nper_family = 1\nlease_s = 3.0\n"
                   "[canary]\nruns = 0\n");
    sandbox_.write("data/a", "what it reads\n");
  }

  // A job of which FAST=1 is the variant; HERE is a folder that all its runs share.
  void adopt(const std::string& script, const std::string& output = "{out}/result.txt",
             const std::string& family = "job") {
    sandbox_.write(family + ".sh", "#!/bin/bash\n" + script, true);
    sandbox_.write(family + ".toml",
                   "family = \"" + family + "\"\ncommand = [\"./" + family + ".sh\"]\n" +
                       "workdir = \".\"\ninputs = [\"data/*\"]\ntime_limit_s = 10\n" +
                       "[env]\nHERE = \"" + sandbox_.path() + "\"\n[work]\nfixed = 1\n" +
                       "[[outputs]]\npath = \"" + output + "\"\n");
    const Outcome adopted = sandbox_.amdahl({"adopt", "--spec", family + ".toml"});
    ASSERT_EQ(adopted.code, 0) << adopted.err;
  }

  std::string settle() {
    const Outcome proposed =
        sandbox_.amdahl({"propose", "job", "--env", "FAST=1", "--gain", "40", "--title", "fast"});
    EXPECT_EQ(proposed.code, 0) << proposed.err;
    const Outcome cycle = sandbox_.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
    EXPECT_EQ(cycle.code, 0) << cycle.err;
    said_ = cycle.out + cycle.err;
    return json_of(sandbox_.amdahl({"ledger", "list", "--json"}))
        .at("hypotheses")
        .at(0)
        .at("state");
  }

  std::string vote(const std::string& check) const {
    std::string last;
    for (const Json& event : events(sandbox_, "check.voted")) {
      const Json& finding = event.at("payload");
      if (finding.at("check") != check) continue;
      last =
          finding.at("vote").get<std::string>() + ": " + finding.at("because").get<std::string>();
    }
    return last;
  }

  // Every third run of the variant is slow, takes what its run left and then its worker with it.
  void slow_runs_do(const std::string& what) {
    adopt(R"(
echo "$AMDAHL_OUT" >> $HERE/ran
if [ -z "$FAST" ]; then sleep 0.3; echo 42 > $AMDAHL_OUT/result.txt; exit; fi
echo >> $HERE/count
if [ $(($(wc -l < $HERE/count) % 3)) = 0 ]; then
  sleep 1; run=$(realpath $AMDAHL_OUT/..); cd $run; )" +
          what + "; kill -9 $PPID; sleep 5\nfi\n" +
          "sleep 0.1; echo 42 > $AMDAHL_OUT/result.txt\n");
    EXPECT_EQ(settle(), "refuted") << said_;
    EXPECT_NE(vote("failures").find("refute"), std::string::npos) << vote("failures");
    std::map<std::string, int> times;
    std::istringstream ran(sandbox_.read("ran"));
    for (std::string arm; std::getline(ran, arm);) ++times[arm];
    for (const auto& [arm, count] : times) EXPECT_EQ(count, 1) << arm << " ran again";
  }

  // The variant does no work where it finds results, whoever left them.
  void done_before_does(const std::string& what) {
    adopt("mkdir -p results\nif [ -n \"$FAST\" ] && [ -s results/1 ]; then sleep 0.05; " + what +
              "; exit; fi\nsleep 0.3; echo 42 > results/1\n",
          "results/1");
    EXPECT_NE(settle(), "promoted") << said_;
  }

  Sandbox sandbox_;
  std::string said_;
};

// It is as long as the baseline, but its main process is not there for most of the time.
TEST_F(Sabotage, AChildThatEndsAfterItsParentIsPaidFor) {
  adopt(R"(
if [ -z "$FAST" ]; then sleep 0.3; echo 42 > $AMDAHL_OUT/result.txt; exit; fi
sleep 0.13
( sleep 0.17; echo 42 > $AMDAHL_OUT/result.txt ) &
)");
  EXPECT_NE(settle(), "promoted") << said_;
  for (const Json& event : events(sandbox_, "run.collected")) {
    const Json& fact = event.at("payload").at("fact");
    if (!fact.is_object()) continue;
    EXPECT_GE(fact.at("b").at("wall_s").get<double>(), 0.3);
  }
}

TEST_F(Sabotage, ResultsOfTheBaselineInAFolderAreNoneOfTheVariants) {
  adopt(R"(
mkdir -p results
if [ -n "$FAST" ]; then sleep 0.1; echo > results/.mark; rm results/.mark; exit; fi
sleep 0.3; rm -f results/*; echo 1 > results/1; echo 2 > results/2
)",
        "results");
  EXPECT_NE(settle(), "promoted") << said_;
  EXPECT_NE(said_.find("B: output results is an empty folder"), std::string::npos) << said_;
}

TEST_F(Sabotage, ResultsThatAreWrittenInPlaceAreResults) {
  adopt(R"(
mkdir -p results
[ -n "$FAST" ] && sleep 0.1 || sleep 0.4
echo 1 > results/1; echo 2 > results/2
)",
        "results");
  EXPECT_EQ(settle(), "promoted") << said_ << vote("quality");
}

TEST_F(Sabotage, ResultsOfEarlierRunsAreNotThereToBeResumedFrom) {
  done_before_does("x=$(cat results/1); echo $x > results/1");
}

TEST_F(Sabotage, ResultsOfEarlierRunsAreNotThereToBeTouched) {
  done_before_does("touch results/1");
}

// It is pinned to one CPU and lets itself run on all of them.
TEST_F(Sabotage, WhoWidensItsSetOfCpusPaysForWhatItUses) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs two CPUs";
  adopt(R"(
work() { i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; }
[ -n "$FAST" ] && taskset -a -p ffffffff $$ > $AMDAHL_OUT/mask
work & work & wait
echo 42 > $AMDAHL_OUT/result.txt
)");
  EXPECT_NE(settle(), "promoted") << said_;
  int seen = 0;
  for (const Json& event : events(sandbox_, "run.collected")) {
    const Json& fact = event.at("payload").at("fact");
    if (!fact.is_object()) continue;
    ++seen;
    EXPECT_GE(fact.at("b").at("cost").get<double>(),
              fact.at("b").at("cpu_s").get<double>() * 0.999);
  }
  EXPECT_GT(seen, 0);
}

// The variant saves nothing: it spoils, for good, what makes the baseline fast.
TEST_F(Sabotage, WhatTheVariantSpoilsForGoodIsNoWin) {
  sandbox_.write("warm", "a cache\n");
  adopt(R"(
if [ -n "$FAST" ]; then rm -f $HERE/warm; sleep 0.15
elif [ -e $HERE/warm ]; then sleep 0.15; else sleep 0.4; fi
echo 42 > $AMDAHL_OUT/result.txt
)");
  const std::string end = settle();
  EXPECT_NE(end, "promoted") << said_ << vote("aa");
  if (end == "parked") return;  // A ran first in the first pair, which then shows no gain.
  EXPECT_NE(vote("aa").find("more in the claim's pairs than in A/A pairs"), std::string::npos)
      << end << vote("aa");
}

TEST_F(Sabotage, ASlowRunThatRemovesItsFolderCountsAgainstTheVariant) {
  slow_runs_do("rm -rf $run");
}

TEST_F(Sabotage, ASlowRunThatLeavesOnlyItsRequestIsNotRunAgain) {
  slow_runs_do("ls | grep -v request.json | xargs rm -rf");
}

// What the cycle would read or write is a pipe that nobody serves; another family is well.
TEST_F(Sabotage, NoPipeInAFolderOfARunHangsTheCycle) {
  const auto piped = [](const std::string& file) {
    return "sleep 0.1; echo 42 > $AMDAHL_OUT/result.txt\n"
           "cd $AMDAHL_OUT/..; [ -d B ] && rm -rf " +
           file + " && mkfifo " + file + "; exit 0\n";
  };
  const std::vector<std::string> files{"evidence.json", "B/hook.json",    "B/x.pt.trace.json",
                                       "done.json",     "A/receipt.json", "B/receipt.json"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    adopt(piped(files[i]), "{out}/result.txt", "pipe-" + std::to_string(i));
  }
  adopt("sleep 0.1; echo 42 > $AMDAHL_OUT/result.txt\n", "{out}/result.txt", "zoo");
  const Outcome cycle = run(
      {"timeout", "120", program(), "cycle", "--watch"},
      {{"AMDAHL_STATE", sandbox_.path("state")}, {"AMDAHL_CONFIG", sandbox_.path("config.toml")}},
      sandbox_.path());
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  int profiled = 0;
  for (const Json& event : events(sandbox_, "profile.recorded")) {
    profiled += event.at("subject") == "zoo" ? 1 : 0;
  }
  EXPECT_EQ(profiled, 1) << cycle.err;
}

}  // namespace
}  // namespace amdahl::e2e
