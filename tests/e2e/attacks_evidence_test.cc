// attacks_evidence_test.cc: jobs that would be promoted if what is missing counted as equal, or if
// a variant could choose which of its runs are looked at.

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

// Slower unless FAST is set, by much more than a busy host adds. `n` counts the runs of the fast
// one.
constexpr const char* kHead = R"(#!/bin/bash
work() { echo '{"work": 1}' >> "$AMDAHL_REPORT"; }
result() { echo 42 > "$AMDAHL_OUT/result.txt"; }
if [ -n "$FAST" ]; then echo >> "$COUNT"; n=$(wc -l < "$COUNT"); sleep 0.1; else sleep 0.4; fi
)";

class Attack : public testing::Test {
 protected:
  Attack() {
    sandbox_.write("config.toml",
                   "slots = [0]\n[campaign]\nk = 5\nalpha = 0.5\n[loop]\nqueue = 0\n"
                   "worth_at_least = 0.0\nbusy_hosts = false\nper_family = 1\nlease_s = 3.0\n"
                   "[canary]\nruns = 0\n");
    sandbox_.write("data/a", "what it reads\n");
  }

  // A job of this body and what its spec says besides.
  void adopt(const std::string& body, const std::string& inputs, const std::string& rest) {
    sandbox_.write("job.sh", kHead + body, true);
    sandbox_.write("job.toml", "family = \"job\"\ncommand = [\"./job.sh\"]\nworkdir = \".\"\n" +
                                   inputs + "time_limit_s = 10\n[env]\nCOUNT = \"" +
                                   sandbox_.path("count") + "\"\n" + rest);
    const Outcome adopted = sandbox_.amdahl({"adopt", "--spec", "job.toml", "--replace"});
    ASSERT_EQ(adopted.code, 0) << adopted.err;
  }

  // The hypothesis, once all is settled.
  Json settle(const std::map<std::string, std::string>& env = {}) {
    const Outcome proposed =
        sandbox_.amdahl({"propose", "job", "--env", "FAST=1", "--gain", "40", "--title", "fast"});
    EXPECT_EQ(proposed.code, 0) << proposed.err;
    const Outcome cycle = sandbox_.amdahl({"cycle", "--watch", "--gate-policy", "demo"}, env);
    EXPECT_EQ(cycle.code, 0) << cycle.err;
    said_ = cycle.out + cycle.err;
    return json_of(sandbox_.amdahl({"ledger", "list", "--json"})).at("hypotheses").at(0);
  }

  // How the check voted last, and why.
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

  Sandbox sandbox_;
  std::string said_;
};

constexpr const char* kInputs = "inputs = [\"data/*\"]\n";
constexpr const char* kResult = "[[outputs]]\npath = \"{out}/result.txt\"\n";
constexpr const char* kOneUnit = "[work]\nfixed = 1\n";

TEST_F(Attack, AnOutputThatIsNeverThereIsNoResult) {
  adopt("echo garbage-$RANDOM > \"$AMDAHL_OUT/result.txt\"\n", kInputs,
        std::string(kOneUnit) + "[[outputs]]\npath = \"{out}/reslt.txt\"\n");
  EXPECT_NE(settle().at("state"), "promoted") << said_;
  EXPECT_NE(said_.find("output {out}/reslt.txt is missing"), std::string::npos) << said_;
}

TEST_F(Attack, AnInputThatIsNeverThereIsNotTheSame) {
  adopt("result\n", "inputs = [\"dta/*\"]\n", std::string(kOneUnit) + kResult);
  EXPECT_NE(settle().at("state"), "promoted") << said_;
  EXPECT_NE(vote("input").find("abstain"), std::string::npos) << vote("input");
  EXPECT_NE(vote("input").find("nothing matches dta/*"), std::string::npos) << vote("input");
}

TEST_F(Attack, RunsWithoutANumberCountAgainstTheirArm) {
  adopt("result\nif [ -n \"$FAST\" ] && [ $((n % 3)) = 0 ]; then sleep 1; exit 0; fi\nwork\n",
        kInputs, kResult);
  EXPECT_EQ(settle().at("state"), "refuted") << said_;
  EXPECT_NE(vote("failures").find("refute"), std::string::npos) << vote("failures");
}

TEST_F(Attack, RunsThatTakeTheirWorkerWithThemCountAgainstTheirArm) {
  adopt("result\nif [ -n \"$FAST\" ] && [ $((n % 3)) = 0 ]; then kill -9 $PPID; sleep 5; fi\n",
        kInputs, std::string(kOneUnit) + kResult);
  EXPECT_EQ(settle().at("state"), "refuted") << said_;
  EXPECT_NE(vote("failures").find("refute"), std::string::npos) << vote("failures");
}

TEST_F(Attack, QualityThatIsShownOnlyWhenGoodDoesNotPass) {
  adopt(
      "result\nif [ -n \"$FAST\" ] && [ $((n % 2)) = 0 ]; then work; exit 0; fi\n"
      "echo '{\"work\": 1, \"metric\": {\"accuracy\": 0.9}}' >> \"$AMDAHL_REPORT\"\n",
      kInputs, "[[quality]]\nname = \"accuracy\"\ntolerance = 0.01\n");
  EXPECT_NE(settle().at("state"), "promoted") << said_;
  EXPECT_NE(vote("quality").find("reported by A but not by B"), std::string::npos)
      << vote("quality");
}

TEST_F(Attack, ALogThatIsNotDigestedHoldsNothingUp) {
  adopt(
      "result\ndate +%s%N > \"$AMDAHL_OUT/job.log\"\n", kInputs,
      std::string(kOneUnit) + kResult + "[[outputs]]\npath = \"{out}/job.log\"\ndigest = false\n");
  EXPECT_EQ(settle().at("state"), "promoted") << said_ << vote("quality");
}

TEST_F(Attack, AClockThatIsSetBackRefutesNothing) {
  adopt("result\n", kInputs, std::string(kOneUnit) + kResult);
  sandbox_.write("worker.sh",
                 "#!/bin/sh\nLD_PRELOAD=" CLOCK_STEP " exec " + program() + " \"$@\"\n", true);
  const Json ended = settle({{"AMDAHL_WORKER", sandbox_.path("worker.sh")}});
  EXPECT_EQ(ended.at("state"), "promoted") << said_ << vote("design");
  int stepped = 0;
  for (const Json& event : events(sandbox_, "run.collected")) {
    const Json& fact = event.at("payload").at("fact");
    if (!fact.is_object()) continue;
    EXPECT_EQ(fact.at("ran_variant_second"), fact.at("variant_second"));
    const bool by_wall = fact.at("b").at("started_s") > fact.at("a").at("started_s");
    stepped += by_wall != fact.at("variant_second") ? 1 : 0;
  }
  EXPECT_GT(stepped, 0) << "the clock was never set back between two arms";
}

TEST_F(Attack, NoiseIsThatOfTheJobItWasMeasuredOn) {
  const auto same_pairs = [&] {
    int pairs = 0;
    for (const Json& event : events(sandbox_, "run.reserved")) {
      pairs += event.at("payload").at("purpose") == "same" ? 1 : 0;
    }
    return pairs;
  };
  adopt("result\n", kInputs, std::string(kOneUnit) + kResult);
  settle();
  const int before = same_pairs();
  EXPECT_GE(before, 6);
  adopt("result\n", kInputs, "[work]\nfixed = 2\n" + std::string(kResult));
  const Outcome proposed = sandbox_.amdahl({"propose", "job", "--env", "OTHER=1", "--gain", "40"});
  ASSERT_EQ(proposed.code, 0) << proposed.err;
  ASSERT_EQ(sandbox_.amdahl({"cycle", "--watch"}).code, 0);
  EXPECT_GE(same_pairs(), before + 6) << "work is counted in other units now";
}

}  // namespace
}  // namespace amdahl::e2e
