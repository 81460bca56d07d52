// work_test.cc: one cycle and three helpers on machines of their own, with one ledger on a real
// PostgreSQL: every piece of work counts once, also when a helper dies in the middle of one.
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "command.h"
#include "json.h"
#include "ledger/postgres/testing/server.h"

namespace amdahl::e2e {
namespace {

constexpr int kKilled = 128 + 9;
using ledger::postgres::TestServer;

std::map<std::string, int> fates(const Sandbox& sandbox) {
  std::map<std::string, int> all;
  for (const Json& event : events(sandbox, "run.reserved")) all[event.at("subject")] = 0;
  for (const char* kind : {"run.collected", "run.voided"}) {
    for (const Json& event : events(sandbox, kind)) ++all[event.at("subject")];
  }
  return all;
}

// By whom runs were collected: the cycle, or helpers ("work:m1:4711").
std::map<std::string, int> collectors(const Sandbox& sandbox) {
  std::map<std::string, int> all;
  for (const Json& event : events(sandbox, "run.collected")) {
    const std::string actor = event.at("actor");
    ++all[actor.substr(0, actor.rfind(':'))];
  }
  return all;
}

void expect_each_arm_once(const Sandbox& sandbox) {
  std::set<std::string> arms;
  std::istringstream log(sandbox.read("runs.log"));
  for (std::string arm; std::getline(log, arm);) {
    EXPECT_TRUE(arms.insert(arm).second) << arm << " ran twice";
  }
  EXPECT_GT(arms.size(), 8U);
}

class WorkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.runs()) GTEST_SKIP() << server_.reason();
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a process a host name of its own";
    sandbox_.add_nap_job();
    sandbox_.write("config.toml", sandbox_.read("config.toml") + "[ledger]\nurl = \"" +
                                      server_.url("work") + "\"\nwait_s = 20\n");
    ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
    ASSERT_EQ(sandbox_.amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60"}).code, 0);
  }

  std::vector<std::string> argv_on(const std::string& host, const std::string& settings,
                                   const std::vector<std::string>& words) const {
    std::vector<std::string> argv{"unshare",
                                  "--uts",
                                  "sh",
                                  "-c",
                                  "hostname " + host + " && " + settings + " exec \"$0\" \"$@\"",
                                  program()};
    argv.insert(argv.end(), words.begin(), words.end());
    return argv;
  }
  std::map<std::string, std::string> variables() const {
    return {{"AMDAHL_STATE", sandbox_.path("state")},
            {"AMDAHL_CONFIG", sandbox_.path("config.toml")}};
  }
  Outcome on(const std::string& host, const std::string& settings,
             const std::vector<std::string>& words) const {
    return run(argv_on(host, settings, words), variables(), sandbox_.path());
  }
  void await_helpers(std::size_t count) const {
    for (int i = 0; i < 200 && sandbox_.list("state/work/helpers").size() < count; ++i) {
      ::usleep(100'000);
    }
    EXPECT_GE(sandbox_.list("state/work/helpers").size(), count);
  }

  TestServer server_{std::vector<std::string>{}};
  Sandbox sandbox_;
};

TEST_F(WorkTest, ThreeHelpersCollectWhatOneCycleDecidesOn) {
  const std::vector<std::string> work = {"work", "--idle", "25", "--json"};
  std::vector<Outcome> helpers(3);
  std::vector<std::thread> threads;
  // The second dies when it has claimed its second piece, the third when it is about to write.
  const std::vector<std::string> faults = {"", "AMDAHL_FAULT_POINT=work.claimed AMDAHL_FAULT_AT=2",
                                           "AMDAHL_FAULT_POINT=cycle.collect AMDAHL_FAULT_AT=2"};
  for (std::size_t i = 0; i < helpers.size(); ++i) {
    threads.emplace_back([&, i] { helpers[i] = on("m" + std::to_string(i + 1), faults[i], work); });
  }
  await_helpers(3);
  const Outcome cycle = on("m0", "", {"cycle", "--watch"});
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_EQ(helpers[0].code, 0) << helpers[0].err;
  EXPECT_EQ(helpers[1].code, kKilled) << helpers[1].err;
  EXPECT_EQ(helpers[2].code, kKilled) << helpers[2].err;

  const std::map<std::string, int> all = fates(sandbox_);
  EXPECT_GT(all.size(), 4U);
  for (const auto& [run, times] : all) EXPECT_EQ(times, 1) << run;
  expect_each_arm_once(sandbox_);
  std::map<std::string, int> by = collectors(sandbox_);
  EXPECT_GT(by["work:m1"], 2) << cycle.err;
  // It may have read a run that the cycle had taken back meanwhile and wrote first.
  EXPECT_LE(by["work:m1"], Json::parse(helpers[0].out).at("collected").get<int>());
  EXPECT_EQ(by["work:m2"], 1) << "it died with the second in its hands";
  EXPECT_EQ(by["work:m3"], 1);
  EXPECT_TRUE(sandbox_.list("state/work/pieces").empty()) << "all is cleared away";

  EXPECT_EQ(json_of(sandbox_.amdahl({"gate", "list", "--json"})).at("gate").size(), 1U);
  const std::string here = on("m0", "", {"ledger", "export"}).out;
  for (const char* host : {"m1", "m2", "m3"}) {
    EXPECT_EQ(on(host, "", {"ledger", "export"}).out, here) << host;
    EXPECT_EQ(on(host, "", {"ledger", "verify"}).code, 0) << host;
  }
}

// Cycles from cron: what helpers collect while a cycle runs counts in that cycle.
TEST_F(WorkTest, SingleCyclesWaitForHelpersAndGoOnWithoutThem) {
  Outcome helper;
  // Signs in, and dies with its first piece: nobody else is there.
  std::thread dies([&] {
    helper =
        on("m1", "AMDAHL_FAULT_POINT=work.claimed AMDAHL_FAULT_AT=1", {"work", "--idle", "60"});
  });
  await_helpers(1);
  bool at_gate = false;
  for (int i = 0; i < 150 && !at_gate; ++i) {
    const Outcome cycle = on("m0", "", {"cycle"});
    ASSERT_EQ(cycle.code, 0) << cycle.err;
    ::usleep(200'000);
    at_gate = !json_of(sandbox_.amdahl({"gate", "list", "--json"})).at("gate").empty();
  }
  dies.join();
  EXPECT_EQ(helper.code, kKilled) << helper.err;
  EXPECT_TRUE(at_gate);
  for (const auto& [run, times] : fates(sandbox_)) EXPECT_LE(times, 1) << run;
  expect_each_arm_once(sandbox_);
  EXPECT_EQ(collectors(sandbox_).count("work:m1"), 0U);
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
}

// A patch of a compiled job: its worktree and the baseline's are built once each, by helpers; what
// one had that died, the cycle's machine builds.
TEST_F(WorkTest, HelpersBuildTheWorktreesOfPatches) {
  sandbox_.write("repo/build.sh",
                 "#!/bin/sh\necho \"$(hostname) $PWD\" >> '" + sandbox_.path("builds") +
                     "'\nsleep 0.5\ncp nap.txt nap.built\n",
                 true);
  sandbox_.write("repo/job.sh",
                 "#!/bin/sh\nsleep \"$(cat nap.built)\"\necho fine > \"$AMDAHL_OUT/result\"\n"
                 "echo '{\"work\": 1}' >> \"$AMDAHL_REPORT\"\n",
                 true);
  sandbox_.write("repo/nap.txt", "0.3\n");
  sandbox_.write("repo/input", "what it reads\n");
  sandbox_.write("repo/.gitignore", "nap.built\n");
  const Outcome committed = run(
      {"sh", "-c",
       "git init -q . && git add . && git -c user.email=ada@example.org -c user.name=Ada commit "
       "-qm job && ./build.sh && rm ../builds"},
      {}, sandbox_.path("repo"));
  ASSERT_EQ(committed.code, 0) << committed.err;
  sandbox_.write("built.toml",
                 "family = \"built\"\ncommand = [\"./job.sh\"]\nworkdir = \"repo\"\n"
                 "repo = \"repo\"\nbuild = [\"./build.sh\"]\ntime_limit_s = 20\n"
                 "inputs = [\"input\"]\n[[outputs]]\npath = \"{out}/result\"\n");
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "built.toml"}).code, 0);
  sandbox_.write("shorter.patch", "--- a/nap.txt\n+++ b/nap.txt\n@@ -1 +1 @@\n-0.3\n+0.05\n");
  const Outcome proposed = sandbox_.amdahl(
      {"propose", "built", "--patch", "shorter.patch", "--gain", "60", "--as", "ada"});
  ASSERT_EQ(proposed.code, 0) << proposed.err;

  Command second;
  second.start(argv_on("m2", "", {"work", "--idle", "300"}), variables(), sandbox_.path("m2.log"));
  Outcome first;
  // The first dies with the first piece that it takes.
  std::thread dies(
      [&] { first = on("m1", "AMDAHL_FAULT_POINT=work.claimed AMDAHL_FAULT_AT=1", {"work"}); });
  await_helpers(2);
  const Outcome cycle = on("m0", "", {"cycle", "--watch"});
  dies.join();
  second.signal(SIGINT);
  std::optional<int> ended;
  while (!(ended = second.ended())) ::usleep(100'000);
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_EQ(first.code, kKilled) << first.err;
  EXPECT_EQ(*ended, 0) << sandbox_.read("m2.log");

  std::set<std::string> trees;
  std::map<std::string, int> by;
  std::istringstream log(sandbox_.read("builds"));
  for (std::string host, tree; log >> host >> tree;) {
    ++by[host];
    EXPECT_TRUE(trees.insert(tree).second) << tree << " was built twice";
  }
  EXPECT_EQ(trees.size(), 2U) << "the baseline's and the patch's" << cycle.err;
  EXPECT_GE(by["m2"], 1) << cycle.err;
  EXPECT_EQ(by["m0"] + by["m2"], 2) << "one of them at most had died";
  const std::string told = "(" + std::to_string(by["m2"]) + " built)";
  EXPECT_NE(sandbox_.read("m2.log").find(told), std::string::npos) << sandbox_.read("m2.log");
  for (const auto& [run, times] : fates(sandbox_)) EXPECT_EQ(times, 1) << run;
  const std::string idea = proposed.out.substr(0, proposed.out.find(' '));
  int at_gate = 0;
  const Json gate = json_of(sandbox_.amdahl({"gate", "list", "--json"}));
  for (const Json& row : gate.at("gate")) at_gate += row.at("packet").at("hypothesis") == idea;
  EXPECT_EQ(at_gate, 1) << cycle.err;
  EXPECT_EQ(on("m2", "", {"ledger", "verify"}).code, 0);
}

}  // namespace
}  // namespace amdahl::e2e
