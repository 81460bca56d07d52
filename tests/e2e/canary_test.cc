// canary_test.cc: a promoted change in production, where it turns out as it is.
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

const std::map<std::string, std::string> kInProduction{{"PRODUCTION", "1"}};

class CanaryTest : public testing::Test {
 protected:
  // NAP=0.01 saves time in every experiment; `in_production` is what the job does with it there.
  void promote(const std::string& in_production, const std::string& canary) {
    sandbox_.add_nap_job();
    sandbox_.write("job.sh",
                   "#!/bin/sh\n"
                   "if [ -n \"$PRODUCTION\" ] && [ -n \"$NAP\" ]; then\n" +
                       in_production +
                       "\nelse\n  sleep ${NAP:-0.2}\nfi\n"
                       "echo \"$* nap ${NAP:-none}\" >> \"$PWD/done.log\"\n"
                       "echo fine > \"$AMDAHL_OUT/result\"\n"
                       "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                   true);
    sandbox_.write("config.toml", sandbox_.read("config.toml") + "[canary]\n" + canary);
    ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
    ASSERT_EQ(sandbox_.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
    const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"});
    ASSERT_EQ(cycle.code, 0) << cycle.err;
    const Json gate = json_of(sandbox_.amdahl({"gate", "list", "--json"}));
    ASSERT_EQ(gate.at("gate").size(), 1U) << cycle.err;
    id_ = gate.at("gate").at(0).at("packet").at("hypothesis");
    const Outcome approved =
        sandbox_.amdahl({"gate", "approve", id_, "--reason", "it is true", "--as", "ada"});
    ASSERT_EQ(approved.code, 0) << approved.err;
  }

  Outcome produce(const std::map<std::string, std::string>& env = kInProduction) {
    return sandbox_.amdahl(
        {"run", "--promoted", "--family", "nap", "--", "./job.sh", "--day", "monday"}, env);
  }

  Json canary() {
    const Outcome shown = sandbox_.amdahl({"canary", "nap", "--json"});
    return json_of(shown).at("canaries").at(0);
  }

  Sandbox sandbox_;
  std::string id_;
};

TEST_F(CanaryTest, AChangeThatIsSlowInProductionIsProposedForRollbackAndRolledBack) {
  promote("  sleep 0.7", "one_in = 2\nruns = 60\n");
  EXPECT_EQ(canary().at("state"), "open");
  for (int i = 0; i < 14; ++i) ASSERT_EQ(produce().code, 0);
  const std::string log = sandbox_.read("done.log");
  EXPECT_EQ(count_lines(log, "--day monday nap 0.01"), 7) << log;
  EXPECT_EQ(count_lines(log, "--day monday nap none"), 7) << "one in two goes without: " << log;

  const Outcome cycle = sandbox_.amdahl({"cycle"});
  EXPECT_NE(cycle.err.find("the canary of " + id_ +
                           " ended, rollback proposed: in production it"
                           " costs "),
            std::string::npos)
      << cycle.err;
  EXPECT_EQ(canary().at("state"), "rollback proposed");
  EXPECT_EQ(canary().at("result").at("comparison").at("pairs"), 7);
  const std::string hint = "amdahl gate rollback " + id_ + " --reason TEXT";
  for (const char* verb : {"gate", "status", "canary"}) {
    EXPECT_NE(sandbox_.amdahl({verb}).out.find(hint), std::string::npos) << verb;
  }
  const Json status = json_of(sandbox_.amdahl({"status", "--json"}));
  EXPECT_EQ(status.at("rollbacks_proposed").at(0).at("hypothesis"), id_);
  EXPECT_NE(sandbox_.read("state/overlays/nap.toml").find("0.01"), std::string::npos)
      << "the loop rolls nothing back by itself";

  ASSERT_EQ(sandbox_.amdahl({"gate", "rollback", id_, "--reason", "slow", "--as", "ada"}).code, 0);
  EXPECT_EQ(canary().at("state"), "rolled back");
  const Outcome after = produce();
  EXPECT_NE(after.err.find("it ran without promoted changes"), std::string::npos) << after.err;
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
}

TEST_F(CanaryTest, AChangeThatFailsInProductionIsCaughtAndAKilledRunIsNotForgotten) {
  promote("  exit 3", "one_in = 2\nruns = 60\n");
  int failed = 0;
  for (int i = 0; i < 13; ++i) failed += produce().code == 3 ? 1 : 0;
  EXPECT_GE(failed, 6);
  // Killed after it was recorded: nobody is left to record how it ended.
  std::map<std::string, std::string> fault = kInProduction;
  fault["AMDAHL_FAULT_POINT"] = "run.registered";
  fault["AMDAHL_FAULT_AT"] = "1";
  EXPECT_EQ(produce(fault).code, 128 + 9);
  const Json result = canary().at("result");
  EXPECT_EQ(result.at("runs").get<int>() + result.at("held_back").get<int>(), 14);
  EXPECT_EQ(result.at("lost"), 1);
  ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
  EXPECT_EQ(canary().at("state"), "rollback proposed");
  EXPECT_NE(std::string(canary().at("reason")).find(" runs failed with it, "), std::string::npos);

  const Outcome kept =
      sandbox_.amdahl({"canary", "keep", id_, "--reason", "the disk was full", "--as", "ada"});
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(canary().at("state"), "kept");
  EXPECT_EQ(sandbox_.amdahl({"canary", "keep", id_, "--reason", "again"}).code, 1);
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
}

TEST_F(CanaryTest, AGoodChangeIsKeptAndWhatItSavedIsOnTheBill) {
  promote("  sleep 0.01", "one_in = 2\nruns = 6\n");
  // As long as half of the promise is not proven, the watch goes on: at most 5 times 6 runs.
  for (int i = 0; i < 70 && canary().at("state") == "open"; ++i) {
    ASSERT_EQ(produce().code, 0);
    ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
  }
  EXPECT_EQ(canary().at("state"), "kept");
  const Json roi = json_of(sandbox_.amdahl({"roi", "--json"}));
  EXPECT_GT(roi.at("families").at(0).at("production").at("effect").get<double>(), 0.2);
  EXPECT_GE(roi.at("families").at(0).at("production").at("pairs"), 3);
  const Json run =
      json_of(sandbox_.amdahl({"run", "--promoted", "--family", "nap", "--json"}, kInProduction));
  EXPECT_EQ(run.at("promoted").at(0), id_);
  EXPECT_EQ(run.at("held_back"), "") << "the watch is over";
}

TEST_F(CanaryTest, PromotedNeedsAFamilyThatIsKnown) {
  sandbox_.add_nap_job();
  const Outcome none = sandbox_.amdahl({"run", "--promoted", "--", "./job.sh"});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("there is no ledger in "), std::string::npos) << none.err;
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const Outcome typo = sandbox_.amdahl({"run", "--promoted", "--family", "nep", "--", "./job.sh"});
  EXPECT_EQ(typo.code, 1);
  EXPECT_NE(typo.err.find("no family 'nep' has a spec, did you mean 'nap'?"), std::string::npos)
      << typo.err;
  EXPECT_EQ(sandbox_.amdahl({"run", "--promoted"}).code, 2);
  EXPECT_EQ(sandbox_.amdahl({"canary"}).out, "No promoted change is being watched.\n");
}

}  // namespace
}  // namespace amdahl::e2e
