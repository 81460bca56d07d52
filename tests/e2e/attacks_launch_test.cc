// attacks_launch_test.cc: what once hung the loop, ran for nothing, cost nothing or was counted
// twice.
#include <csignal>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

using namespace std::chrono_literals;

class Attack : public testing::Test {
 protected:
  // A family that runs the script, and no ideas but those that the test proposes.
  void adopt(const std::string& family, const std::string& script, const std::string& more = "",
             const std::vector<std::string>& words = {}) {
    sandbox_.write(family + ".sh",
                   "echo ran >> '" + sandbox_.path(family + ".log") + "'\n" + script);
    sandbox_.write(family + ".toml", "family = \"" + family + "\"\ncommand = [\"sh\", \"" + family +
                                         ".sh\"]\naccelerators = 1\n" + more +
                                         "[work]\nfixed = 1\n");
    std::vector<std::string> argv{"adopt", "--spec", family + ".toml"};
    argv.insert(argv.end(), words.begin(), words.end());
    const Outcome adopted = sandbox_.amdahl(argv);
    ASSERT_EQ(adopted.code, 0) << adopted.err;
  }
  void SetUp() override {
    sandbox_.write("config.toml",
                   "[campaign]\nk = 4\n[loop]\nqueue = 0\nper_family = 1\nlease_s = 3.0\n");
  }

  Outcome watch() const { return sandbox_.amdahl({"cycle", "--watch"}); }

  int ran(const std::string& family) const {
    return sandbox_.has(family + ".log") ? count_lines(sandbox_.read(family + ".log"), "ran") : 0;
  }

  // The worker of the only run that has started and is not over.
  pid_t worker() const {
    for (int tries = 0; tries < 1000; ++tries) {
      for (const std::string& run : sandbox_.list("state/runs")) {
        const std::string folder = "state/runs/" + run;
        if (!sandbox_.has(folder + "/started.json") || sandbox_.has(folder + "/done.json"))
          continue;
        return Json::parse(sandbox_.read(folder + "/started.json")).at("pid").get<pid_t>();
      }
      std::this_thread::sleep_for(10ms);
    }
    ADD_FAILURE() << "no worker began";
    return 0;
  }

  // What the budget says is what its runs say: nothing is free, and nothing is paid for twice.
  void expect_sums() const {
    double spent = 0;
    for (const char* kind : {"run.collected", "run.voided"}) {
      for (const Json& event : events(sandbox_, kind)) {
        spent += event.at("payload").at("spent_accelerator_s").get<double>();
      }
    }
    std::map<std::string, double> open;
    for (const Json& event : events(sandbox_, "run.reserved")) {
      open[event.at("subject")] = event.at("payload").at("reserved_accelerator_s").get<double>();
    }
    for (const char* kind : {"run.collected", "run.voided"}) {
      for (const Json& event : events(sandbox_, kind)) open.erase(event.at("subject"));
    }
    double committed = 0;
    for (const auto& [run, reserved] : open) committed += reserved;
    const Json budget = json_of(sandbox_.amdahl({"status", "--json"})).at("budgets");
    const Json& time = budget.at("accelerator_s");
    EXPECT_NEAR(time.at("spent").get<double>() + time.at("overrun").get<double>(), spent, 1e-4);
    EXPECT_NEAR(time.at("committed").get<double>(), committed, 1e-4);
  }

  Sandbox sandbox_;
};

TEST_F(Attack, ANewLedgerCollectsNothingOfAnOldOne) {
  adopt("nap", "sleep 0.1\n");
  ASSERT_EQ(watch().code, 0);
  const int before = ran("nap");
  ASSERT_GE(before, 2) << "a profile: a plain run and one with the hook";
  for (const std::string& file : sandbox_.list("state")) {
    if (file.starts_with("ledger.db")) {
      ASSERT_EQ(run({"mv", "state/" + file, "old-" + file}, {}, sandbox_.path()).code, 0);
    }
  }
  ASSERT_EQ(sandbox_.amdahl({"init"}).code, 0);
  adopt("nap", "sleep 0.1\n");
  const Outcome again = watch();
  ASSERT_EQ(again.code, 0) << again.err;
  const auto collected = static_cast<int>(events(sandbox_, "run.collected").size());
  EXPECT_GE(collected, 1) << again.err;
  EXPECT_EQ(ran("nap") - before, 2 * collected) << "old receipts were taken for new ones";
  EXPECT_FALSE(sandbox_.list("state/runs/.aside").empty()) << "nothing is thrown away";
  expect_sums();
}

TEST_F(Attack, AKilledRunIsPaidFor) {
  adopt("long", "sleep 30\n", "time_limit_s = 60\n");
  ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
  const pid_t killed = worker();
  std::this_thread::sleep_for(1s);
  ::kill(killed, SIGKILL);
  const Outcome next = sandbox_.amdahl({"cycle"});
  EXPECT_NE(next.err.find("the worker died without writing receipts"), std::string::npos)
      << next.err;
  ASSERT_EQ(events(sandbox_, "run.voided").size(), 1U);
  const double spent =
      events(sandbox_, "run.voided")[0].at("payload").at("spent_accelerator_s").get<double>();
  EXPECT_GE(spent, 1) << "it ran for a second at least";
  EXPECT_LT(spent, 60);
  expect_sums();
  ::kill(worker(), SIGKILL);
}

// As long as its limits and their grace: half a minute.
TEST_F(Attack, AStoppedWorkerIsWaitedForNoLongerThanItsDeadline) {
  adopt("nap", "sleep 0.5\n", "time_limit_s = 1\n");
  ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
  const pid_t stopped = worker();
  ::kill(stopped, SIGSTOP);
  const Outcome next = watch();
  EXPECT_EQ(next.code, 0) << next.err;
  EXPECT_NE(next.err.find("is not over after 32"), std::string::npos) << next.err;
  EXPECT_EQ(events(sandbox_, "run.voided").size(), 1U);
  EXPECT_EQ(events(sandbox_, "profile.recorded").size(), 1U) << "and the next run went well:\n"
                                                             << next.err;
  expect_sums();
  ::kill(stopped, SIGKILL);
}

TEST_F(Attack, AMendedSpecIsTriedAgain) {
  adopt("nap", "exit 3\n");
  const Outcome failed = watch();
  EXPECT_EQ(count_lines(failed.err, "the run to be profiled failed"), 3) << failed.err;
  EXPECT_EQ(count_lines(watch().err, "the run to be profiled failed"), 0) << "not for ever";
  // The script is mended, not the spec: a person must say so.
  sandbox_.write("nap.sh", "sleep 0.1\n");
  const Outcome refreshed = sandbox_.amdahl({"cycle", "--watch", "--refresh"});
  EXPECT_EQ(events(sandbox_, "profile.recorded").size(), 1U) << refreshed.err;
}

TEST_F(Attack, AnotherSpecHasFailedAtNothing) {
  adopt("nap", "exit 3\n");
  watch();
  adopt("nap", "sleep 0.1\n", "time_limit_s = 99\n", {"--replace"});
  const Outcome mended = watch();
  EXPECT_EQ(events(sandbox_, "profile.recorded").size(), 1U) << mended.err;
}

TEST_F(Attack, OneBadFamilyStopsNoOther) {
  adopt("wide", "sleep 0.1\n", "cpus = 4096\n");
  adopt("nap", "sleep 0.1\n");
  adopt("zoo", "sleep 0.1\n", "cpus = 4096\n");
  const Outcome cycle = watch();
  EXPECT_EQ(cycle.code, 3) << cycle.err;
  EXPECT_EQ(count_lines(cycle.err, "wide is skipped: it needs 4096 CPU slots"), 1) << cycle.err;
  EXPECT_EQ(count_lines(cycle.err, "zoo is skipped"), 1) << cycle.err;
  ASSERT_EQ(events(sandbox_, "profile.recorded").size(), 1U) << cycle.err;
  EXPECT_EQ(events(sandbox_, "cycle.noted").size(), 2U);
  EXPECT_EQ(ran("wide") + ran("zoo"), 0);
}

TEST_F(Attack, ARunWhoseFilesAreBrokenIsVoidAndStopsNoOther) {
  adopt("nap", "sleep 0.3\n");
  adopt("other", "sleep 0.1\n");
  ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
  worker();
  for (const std::string& run : sandbox_.list("state/runs")) {
    if (run.find("-nap-") != run.npos) sandbox_.write("state/runs/" + run + "/request.json", "{");
  }
  const Outcome cycle = watch();
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_NE(cycle.err.find("its folder is another run's, or cannot be read"), std::string::npos)
      << cycle.err;
  EXPECT_EQ(events(sandbox_, "profile.recorded").size(), 2U) << cycle.err;
  expect_sums();
}

}  // namespace
}  // namespace amdahl::e2e
