// loop_test.cc: the whole loop through the real program on jobs whose truth we know.
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

void adopt_nap(const Sandbox& sandbox) {
  sandbox.add_nap_job();
  const Outcome adopted = sandbox.amdahl({"adopt", "--spec", "job.toml"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
}

void propose(const Sandbox& sandbox, const std::string& env, const std::string& gain) {
  const Outcome outcome = sandbox.amdahl(
      {"propose", "nap", "--env", env, "--gain", gain, "--title", env, "--as", "ada"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
}

TEST(Loop, ARealWinIsProvedGatedAndRemembered) {
  Sandbox sandbox;
  adopt_nap(sandbox);
  propose(sandbox, "NAP=0.01", "60");
  propose(sandbox, "COLOUR=red", "50");
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_NE(cycle.out.find("1 waits at the gate"), std::string::npos) << cycle.out << cycle.err;

  const Json gate = json_of(sandbox.amdahl({"gate", "list", "--json"}));
  ASSERT_EQ(gate.at("gate").size(), 1U) << cycle.err;
  const std::string id = gate.at("gate").at(0).at("packet").at("hypothesis");
  EXPECT_EQ(sandbox.amdahl({"gate", "approve", id}).code, 2) << "a reason is wanted";
  const Outcome approved =
      sandbox.amdahl({"gate", "approve", id, "--reason", "it is true", "--as", "ada"});
  EXPECT_EQ(approved.code, 0) << approved.err;
  EXPECT_NE(sandbox.read("state/overlays/nap.toml").find("\"NAP\" = \"0.01\""), std::string::npos);

  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  std::map<std::string, std::string> states;
  for (const Json& row : list.at("hypotheses")) {
    states[row.at("hypothesis").at("title")] = row.at("state");
  }
  EXPECT_EQ(states["NAP=0.01"], "promoted");
  EXPECT_EQ(states["COLOUR=red"], "parked") << "a few pairs close nothing for ever";
  const Json stack = json_of(sandbox.amdahl({"stack", "nap", "--pairs", "6", "--json"}));
  EXPECT_GT(stack.at("stacks").at(0).at("comparison").at("effect").get<double>(), 0.5);
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
  const Json roi =
      json_of(sandbox.amdahl({"roi", "--json", "--html", sandbox.path("campaign.html")}));
  const std::string page = sandbox.read("campaign.html");
  for (const char* shown : {"NAP=0.01", "COLOUR=red", "1 of 2 ideas promoted", "parked"}) {
    EXPECT_NE(page.find(shown), std::string::npos) << shown;
  }
  EXPECT_GT(roi.at("families").at(0).at("realised_share").get<double>(), 0.4);
  EXPECT_GT(roi.at("spent_accelerator_h").get<double>(), 0.0);
}

TEST(Loop, ARefutedIdeaSpendsNoRunUnderAnotherSpelling) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("job.sh",
                "#!/bin/sh\necho \"$AMDAHL_OUT\" >> \"$RUN_LOG\"\nsleep 0.05\ncase "
                "\"$OMP_WAIT_POLICY\" in ?*) sleep 0.2;; "
                "esac\necho fine > \"$AMDAHL_OUT/result\"\n"
                "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                true);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  propose(sandbox, "OMP_WAIT_POLICY=passive", "50");
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  const std::string before = sandbox.read("runs.log");
  for (const char* spelling : {"OMP_WAIT_POLICY=PASSIVE", "OMP_WAIT_POLICY= passive"}) {
    const Outcome again = sandbox.amdahl({"propose", "nap", "--env", spelling, "--gain", "50"});
    EXPECT_EQ(again.code, 1) << spelling;
    EXPECT_NE(again.err.find("already holds this idea"), std::string::npos) << again.err;
  }
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  EXPECT_EQ(sandbox.read("runs.log"), before) << "no run was spent";

  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  const std::string id = list.at("hypotheses").at(0).at("hypothesis").at("id");
  EXPECT_EQ(sandbox.amdahl({"ledger", "reopen", id}).code, 2) << "a reason is wanted";
  EXPECT_EQ(sandbox.amdahl({"ledger", "reopen", id, "--reason", "new kernel", "--as", "ada"}).code,
            0);
  EXPECT_EQ(sandbox.amdahl({"propose", "nap", "--env", "OMP_WAIT_POLICY=passive"}).code, 0);
}

TEST(Loop, AParkedIdeaIsShownApartAndResumedUnderAnySpelling) {
  Sandbox sandbox;
  adopt_nap(sandbox);
  propose(sandbox, "OMP_WAIT_POLICY=passive", "50");
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  const auto parked = [&] {
    return json_of(sandbox.amdahl({"ledger", "list", "--hypothesis-state", "parked", "--json"}))
        .at("hypotheses");
  };
  ASSERT_EQ(parked().size(), 1U);
  const Json row = parked().at(0);
  const std::string id = row.at("hypothesis").at("id");
  EXPECT_FALSE(row.contains("verdict"));
  EXPECT_LT(row.at("parked").at("e_no_effect").get<double>(), 20);
  EXPECT_EQ(row.at("parked").at("e_asked").get<double>(), 20);
  EXPECT_GT(row.at("parked").at("pairs_to_settle").get<int>(), 0);
  const std::string status = sandbox.amdahl({"status"}).out;
  EXPECT_NE(status.find(id + " is parked, no verdict: about "), std::string::npos) << status;

  const auto pairs = [&] {
    const Json all = json_of(sandbox.amdahl({"status", "--json"}));
    for (const Json& x : all.at("experiments")) {
      if (x.at("hypothesis") == id) return x.at("comparison").at("pairs").get<int>();
    }
    return 0;
  };
  const int before = pairs();
  const Outcome again =
      sandbox.amdahl({"propose", "nap", "--env", "OMP_WAIT_POLICY=PASSIVE", "--gain", "50"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find(id + " was parked"), std::string::npos) << again.out;
  EXPECT_TRUE(parked().empty());
  ASSERT_EQ(sandbox.amdahl({"cycle"}).code, 0);
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch", "--until", "settled"}).code, 0);
  const Json story = json_of(sandbox.amdahl({"ledger", "show", id, "--json"}));
  const int after = story.contains("verdict")
                        ? story.at("verdict").at("comparison").at("pairs").get<int>()
                        : pairs();
  EXPECT_GT(after, before) << "it went on with the pairs it had";
}

TEST(Loop, ARefreshLooksOnceAtEachFamilyAndRetriesNothing) {
  Sandbox sandbox;
  adopt_nap(sandbox);
  propose(sandbox, "COLOUR=red", "50");
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  const int before = count_lines(sandbox.read("runs.log"), "r-profile-nap-");
  const std::string same = sandbox.amdahl({"ledger", "list"}).out;
  const Outcome again = sandbox.amdahl({"cycle", "--watch", "--refresh"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(count_lines(sandbox.read("runs.log"), "r-profile-nap-"), before + 2)
      << "one plain run and one with the hook";
  EXPECT_EQ(sandbox.amdahl({"ledger", "list"}).out, same) << "and every verdict stands";
}

TEST(Loop, AWinThatChangesItsOutputIsVetoed) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("job.sh",
                "#!/bin/sh\nsleep ${NAP:-0.2}\necho \"${NAP:-0.2}\" > \"$AMDAHL_OUT/result\"\n"
                "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                true);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  propose(sandbox, "NAP=0.01", "60");
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  EXPECT_EQ(list.at("hypotheses").at(0).at("state"), "refuted") << cycle.err;
  EXPECT_NE(std::string(list.at("hypotheses").at(0).at("verdict").at("reason")).find("quality"),
            std::string::npos);
}

TEST(Loop, AVariantThatFailsIsInvalidAndOneThatSkipsWorkIsRefuted) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("job.sh",
                "#!/bin/sh\n[ -n \"$BREAK\" ] && exit 7\n"
                "if [ -n \"$SKIP\" ]; then w=0.5; sleep 0.01; else w=1; sleep 0.3; fi\n"
                "echo fine > \"$AMDAHL_OUT/result\"\n"
                "echo \"{\\\"work\\\": $w}\" >> \"$AMDAHL_REPORT\"\n",
                true);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  propose(sandbox, "BREAK=1", "60");
  propose(sandbox, "SKIP=1", "60");
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  for (const Json& row : list.at("hypotheses")) {
    const std::string title = row.at("hypothesis").at("title");
    EXPECT_EQ(row.at("state"), title == "BREAK=1" ? "invalid" : "refuted") << cycle.err;
  }
}

TEST(Loop, TheSecondCycleSaysWhoHoldsTheLease) {
  Sandbox sandbox;
  sandbox.add_nap_job();
  sandbox.write("config.toml", "[loop]\nlease_s = 60.0\n");
  sandbox.write("job.sh", "#!/bin/sh\nsleep 5\necho '{\"work\":1}' >> \"$AMDAHL_REPORT\"\n", true);
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string held =
      "'" + program() + "' cycle --watch & pid=$!; sleep 1; '" + program() +
      "' cycle; echo \"second: $?\"; kill -9 $pid; wait $pid 2>/dev/null; '" + program() +
      "' cycle; echo \"third: $?\"";
  const Outcome both =
      run({"sh", "-c", held},
          {{"AMDAHL_STATE", sandbox.path("state")}, {"AMDAHL_CONFIG", sandbox.path("config.toml")}},
          sandbox.path());
  EXPECT_NE(both.out.find("second: 5"), std::string::npos) << both.out << both.err;
  EXPECT_NE(both.err.find("another cycle holds the lease: pid "), std::string::npos) << both.err;
  EXPECT_NE(both.out.find("third: 0"), std::string::npos)
      << "a dead holder's lease is taken over: " << both.out << both.err;
}

TEST(Loop, TheBudgetIsNeverExceeded) {
  Sandbox sandbox;
  adopt_nap(sandbox);
  // Room for one pair at its time limit, and a little more.
  sandbox.write("config.toml",
                sandbox.read("config.toml") + "[budget]\naccelerator_hours = 0.0196\n");
  propose(sandbox, "NAP=0.01", "60");
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--json"});
  EXPECT_EQ(json_of(cycle, 4).at("stopped_because"), "budget");
  const Json budget =
      json_of(sandbox.amdahl({"status", "--json"})).at("budgets").at("accelerator_s");
  EXPECT_GT(budget.at("spent").get<double>(), 0.0);
  EXPECT_LE(budget.at("spent").get<double>() + budget.at("committed").get<double>(),
            budget.at("limit").get<double>());
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Loop, MoneyIsABudgetTooAndRaisingItGoesOn) {
  Sandbox sandbox;
  adopt_nap(sandbox);
  const std::string config = sandbox.read("config.toml");
  // 70 accelerator-seconds at $2 and as many of a CPU at $0.02 an hour are one pair's reservation.
  sandbox.write("config.toml", config + "[budget]\nusd = 0.0396\n");
  propose(sandbox, "NAP=0.01", "60");
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  EXPECT_EQ(cycle.code, 4) << cycle.out << cycle.err;
  EXPECT_NE(cycle.err.find(" usd would exceed the budget: "), std::string::npos) << cycle.err;
  EXPECT_NE(cycle.err.find("raise budget.usd in the configuration"), std::string::npos);
  const Json budgets = json_of(sandbox.amdahl({"status", "--json"})).at("budgets");
  const double seconds = budgets.at("accelerator_s").at("spent").get<double>();
  const double dollars = budgets.at("usd").at("spent").get<double>();
  EXPECT_TRUE(budgets.at("accelerator_s").at("limit").is_null());
  EXPECT_GE(dollars, 1.99 * seconds / 3600);  // $2 an hour, in whole millionths for each run,
  EXPECT_LE(dollars, 2.1 * seconds / 3600);   // and what its CPU time cost.
  EXPECT_LE(dollars + budgets.at("usd").at("committed").get<double>(), 0.0396);

  sandbox.write("config.toml", config);
  const Outcome after = sandbox.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  EXPECT_EQ(after.code, 0) << after.out << after.err;
  EXPECT_TRUE(
      json_of(sandbox.amdahl({"status", "--json"})).at("budgets").at("usd").at("limit").is_null());
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

}  // namespace
}  // namespace amdahl::e2e
