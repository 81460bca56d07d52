// crash_test.cc: kill -9 at every ledger write and around every submit, then resume.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

constexpr int kKilled = 128 + 9;

void set_up(const Sandbox& sandbox) {
  sandbox.add_nap_job("0.08");  // Cycles are many here, and any verdict will do.
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  for (const char* env : {"NAP=0.01", "COLOUR=red"}) {
    ASSERT_EQ(sandbox.amdahl({"propose", "nap", "--env", env, "--gain", "60", "--title", env}).code,
              0);
  }
}

// What must hold after any number of crashes, once a cycle has settled.
void expect_sound(const Sandbox& sandbox) {
  const Outcome verify = sandbox.amdahl({"ledger", "verify"});
  EXPECT_EQ(verify.code, 0) << verify.out << verify.err;

  const Outcome exported = sandbox.amdahl({"ledger", "export"});
  std::map<std::string, int> reserved;
  std::map<std::string, int> ended;
  std::map<std::string, int> verdicts;
  std::size_t proposed = 0;
  std::set<std::string> workers;
  std::istringstream lines(exported.out);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    const std::string kind = event.at("kind");
    const std::string subject = event.at("subject");
    if (kind == "run.reserved") ++reserved[subject];
    if (kind == "run.collected" || kind == "run.voided") ++ended[subject];
    if (kind == "verdict.recorded") ++verdicts[subject];
    if (kind == "hypothesis.proposed") ++proposed;
    if (kind == "run.submitted") {
      EXPECT_TRUE(workers.insert(event.at("payload").at("worker_run_id")).second) << line;
    }
  }
  for (const auto& [reservation, count] : reserved) {
    EXPECT_EQ(count, 1) << reservation;
    EXPECT_EQ(ended[reservation], 1) << reservation << " was lost or counted twice";
  }
  // A moved baseline proposes the other idea anew. What is parked or held has no verdict yet.
  const Json live = json_of(sandbox.amdahl({"status", "--json"}));
  EXPECT_GE(proposed, 2U);
  EXPECT_EQ(verdicts.size() + live.at("experiments").size(), proposed);
  for (const auto& [hypothesis, count] : verdicts) EXPECT_EQ(count, 1) << hypothesis;

  // The job itself tells how often each arm really ran.
  std::map<std::string, int> ran;
  std::istringstream log(sandbox.read("runs.log"));
  for (std::string line; std::getline(log, line);) ++ran[line];
  for (const auto& [arm, count] : ran) EXPECT_EQ(count, 1) << arm << " ran twice";
}

// Resumes until a cycle ends by itself; returns how many were killed on the way.
template <class Env>
int turn_until_settled(const Sandbox& sandbox, int at_most, const Env& env_of) {
  int killed = 0;
  for (int turn = 0; turn < at_most; ++turn) {
    const Outcome cycle =
        sandbox.amdahl({"cycle", "--watch", "--quiet", "--gate-policy", "demo"}, env_of(turn));
    if (cycle.code == 0) return killed;
    EXPECT_EQ(cycle.code, kKilled) << cycle.err;
    if (cycle.code != kKilled) return killed;
    ++killed;
  }
  const Outcome last = sandbox.amdahl({"cycle", "--watch", "--quiet", "--gate-policy", "demo"});
  EXPECT_EQ(last.code, 0) << last.err;
  return killed;
}

class AtPoint : public ::testing::TestWithParam<const char*> {};

TEST_P(AtPoint, NothingIsLostOrDoneTwice) {
  Sandbox sandbox;
  set_up(sandbox);
  // The first, the third and the ninth time it is passed: each in a cycle of its own.
  const int at[] = {1, 3, 9, 2, 5};
  const int killed = turn_until_settled(sandbox, 5, [&](int turn) {
    return std::map<std::string, std::string>{{"AMDAHL_FAULT_POINT", GetParam()},
                                              {"AMDAHL_FAULT_AT", std::to_string(at[turn])}};
  });
  EXPECT_GE(killed, 3) << "the point was not reached often enough to mean anything";
  expect_sound(sandbox);
}

INSTANTIATE_TEST_SUITE_P(Crash, AtPoint,
                         ::testing::Values("ledger.append.begin", "ledger.append.before_commit",
                                           "ledger.append.after_commit", "cycle.reserved",
                                           "cycle.launched", "cycle.recorded",
                                           "launch.submit.before_spawn",
                                           "launch.submit.after_spawn", "cycle.collect"));

// Every number of fault points from 1 on: with enough turns, every write is hit.
TEST(Crash, AtSeededPlaces) {
  const char* given = std::getenv("AMDAHL_TEST_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::atoi(given)) : 20261115U;
  SCOPED_TRACE("AMDAHL_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  Sandbox sandbox;
  set_up(sandbox);
  std::uniform_int_distribution<int> place(4, 25);
  const int killed = turn_until_settled(sandbox, 60, [&](int) {
    return std::map<std::string, std::string>{{"AMDAHL_FAULT_AT", std::to_string(place(random))}};
  });
  EXPECT_GE(killed, 10);
  expect_sound(sandbox);
}

// The worker dies, not the cycle: the pair is void, and another one takes its place.
TEST(Crash, AKilledWorkerVoidsItsPair) {
  Sandbox sandbox;
  set_up(sandbox);
  sandbox.write("job.sh",
                "#!/bin/sh\necho \"$AMDAHL_OUT\" >> \"$RUN_LOG\"\n"
                "if mkdir \"" +
                    sandbox.path("once") +
                    "\" 2>/dev/null; then kill -9 $PPID; fi\n"
                    "sleep ${NAP:-0.08}\necho fine > \"$AMDAHL_OUT/result\"\n"
                    "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                true);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch", "--gate-policy", "demo"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_NE(cycle.err.find("the worker died without writing receipts"), std::string::npos)
      << cycle.err;
  expect_sound(sandbox);
}

}  // namespace
}  // namespace amdahl::e2e
