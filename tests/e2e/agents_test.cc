// agents_test.cc: a model that is played by a script, from the brief it gets to the gate.
#include <cstdlib>
#include <filesystem>
#include <map>

#include "scripted_model.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

class Agents : public ScriptedModel {};

// Its attack on its own claim buys the pairs of the check that it names, and decides nothing.
TEST_F(Agents, AScriptedModelsFixIsBuiltMeasuredAttackedAndPromoted) {
  if (!can_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
  configure();
  play({idea("do not pause", fix()), idea("skip half", "nonsense")}, "",
       {{"vote", "refute"},
        {"check", "outlier"},
        {"because", "a few lucky pairs carry it"},
        {"numbers", Json::array({Json{{"name", "pairs"}, {"value", 3}}})}});
  const Outcome done = cycle();
  ASSERT_EQ(done.code, 0) << done.err;
  const auto reserved = events("ask.reserved");
  const auto settled = events("ask.settled");
  ASSERT_GE(settled.size(), 2U) << done.err;
  EXPECT_EQ(settled.size(), reserved.size());
  EXPECT_EQ(times_asked(), static_cast<int>(reserved.size()));
  const Json& first = settled.front().at("payload");
  EXPECT_EQ(first.at("outcome"), "answered");
  EXPECT_EQ(first.at("spent").at("tokens"), 2100);
  EXPECT_NEAR(first.at("spent").at("usd"), 0.005, 1e-9);
  ASSERT_EQ(first.at("proposed").size(), 1U) << first;
  EXPECT_EQ(first.at("refused").size(), 1U);
  const std::string id = first.at("proposed").at(0);
  const Json shown = json_of(house().amdahl({"ledger", "show", id, "--json"}));
  EXPECT_EQ(shown.at("hypothesis").at("origin").at("kind"), "agent");
  EXPECT_EQ(shown.at("state"), "promoted") << done.err;
  EXPECT_GE(shown.at("votes").size(), 5U);
  // It asks again about the new baseline, gets the same, and spends nothing on it.
  EXPECT_EQ(events("gate.decided").size(), 1U);
  EXPECT_EQ(reserved.at(1).at("payload").at("role"), "attack");
  EXPECT_EQ(settled.at(1).at("payload").at("outcome"), "refuted: outlier");
  int bought = 0;
  for (const Json& run : events("run.reserved")) {
    bought += run.at("payload").at("purpose") == "top-up:outlier" ? 1 : 0;
  }
  EXPECT_GE(bought, 4);
  ASSERT_EQ(shown.at("attacks").size(), 1U);
  EXPECT_EQ(shown.at("attacks").at(0).at("check"), "outlier");
  const Json gate = json_of(house().amdahl({"gate", "show", id, "--json"}));
  EXPECT_EQ(gate.at("attacks"), shown.at("attacks"));
  for (const Json& vote : shown.at("votes")) EXPECT_NE(vote.at("vote"), "refute") << vote;
  EXPECT_EQ(house().amdahl({"ledger", "verify"}).code, 0);
}

// It reads passages that fit the job, and that rules cannot apply. What it quotes must stand there,
// and what it sets is tested like anyone's idea.
TEST_F(Agents, AModelDreamsOfWhatDocumentsSay) {
  house().write("docs/threads.md",
                "# Threads\n\nWith OMP_NUM_THREADS at three we kept the threads of our queue from "
                "fighting for "
                "cores: batches took half of the time.\n\nLunch is at noon.\n");
  configure("[dream]\ndocs = \"" + house().path("docs") + "\"\nevery = 1\n");
  play({});
  const std::string quote = "kept the threads of our queue from fighting for cores";
  const auto dream = [](const std::string& title, const std::string& source,
                        const std::string& said, const std::string& variable) {
    return Json{
        {"title", title},
        {"source", source},
        {"quote", said},
        {"cause", "compute"},
        {"mechanism", "so."},
        {"expected_saving", 0.5},
        {"settings", Json::array({Json{{"kind", "env"}, {"name", variable}, {"value", "3"}}})}};
  };
  play_dream(
      {dream("three threads", "threads.md:3", quote, "OMP_NUM_THREADS"),
       dream("invented", "threads.md:3", "two threads made it ten times faster", "OMP_DYNAMIC"),
       dream("from elsewhere", "other.md:3", quote, "OMP_NESTED"),
       dream("loads code", "threads.md:3", quote, "LD_PRELOAD")});
  const Outcome done = cycle();
  ASSERT_EQ(done.code, 0) << done.err;
  std::map<std::string, std::string> refused;
  int asked = 0;
  for (const Json& reserved : events("ask.reserved")) {
    asked += reserved.at("payload").at("role") == "dream" ? 1 : 0;
  }
  EXPECT_EQ(asked, 1) << "once a profile";
  for (const Json& settled : events("ask.settled")) {
    for (const Json& row : settled.at("payload").value("refused", Json::array())) {
      refused[row.at("title")] = row.at("because");
    }
  }
  EXPECT_NE(refused["invented"].find("does not say that"), std::string::npos);
  EXPECT_NE(refused["from elsewhere"].find("does not say that"), std::string::npos);
  EXPECT_NE(refused["loads code"].find("LD_PRELOAD"), std::string::npos);
  const Json taken = hypothesis("three threads");
  ASSERT_FALSE(taken.is_null()) << done.err;
  EXPECT_EQ(taken.at("hypothesis").at("origin"),
            Json({{"kind", "agent"}, {"ref", "claude:sonnet (dream)"}}));
  EXPECT_EQ(taken.at("hypothesis").at("mechanism"), "threads.md:3: \"" + quote + "\" so.");
  EXPECT_NE(taken.at("state"), "promoted") << "it does nothing for this job";
  const Json brief = json_of(house().amdahl({"brief", "work", "--role", "dream", "--json"}));
  EXPECT_EQ(brief.at("memory").at("documents").size(), 1U) << "lunch fits nothing";
}

// Without a sandbox nothing of a model runs, unless that is set.
TEST_F(Agents, WhereThereIsNoSandboxAPatchIsRefused) {
  configure();
  play({idea("do not pause", fix())});
  house().write("bin/bwrap", "#!/bin/sh\necho 'no namespaces here' >&2\nexit 1\n", true);
  const std::map<std::string, std::string> env{
      {"PATH", house().path("bin") + ":" + std::getenv("PATH")}};
  const Outcome done = cycle(env);
  ASSERT_EQ(done.code, 0) << done.err;
  const auto settled = events("ask.settled");
  ASSERT_EQ(settled.size(), 1U) << done.err;
  const Json& refused = settled[0].at("payload").at("refused");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_NE(refused[0].at("because").get<std::string>().find("agent.unsandboxed"),
            std::string::npos);
  EXPECT_TRUE(events("experiment.registered").empty() || hypothesis("do not pause").is_null());
}

TEST_F(Agents, AStallIsATypedFailureAndPaidFor) {
  configure("deadline_s = 1.0\nquestion_tokens = 9000\n");
  play({}, "sleep 31418");
  const Outcome done = cycle();
  EXPECT_EQ(done.code, 0) << done.err;
  const auto settled = events("ask.settled");
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].at("payload").at("outcome"), "timeout");
  EXPECT_EQ(settled[0].at("payload").at("spent").at("tokens"), 9000);
}

TEST_F(Agents, ABudgetThatIsSpentEndsWithFour) {
  configure("[budget]\ntokens = 1000\n");
  play({idea("do not pause", fix())});
  const Outcome done = cycle();
  EXPECT_EQ(done.code, 4) << done.err;
  EXPECT_FALSE(house().has("state/asks") && times_asked() > 0);
  EXPECT_TRUE(events("ask.reserved").empty());
}

// The cycle dies between reservation and worker, the worker before and after the model answered.
TEST_F(Agents, NoAnswerIsLostAndNonePaidForTwice) {
  struct Crash {
    const char* point;
    int asked;            // In all.
    const char* outcome;  // Of the first question.
  };
  for (const Crash& crash :
       {Crash{"ask.reserved", 1, "answered"}, Crash{"ask.collect", 1, "answered"},
        Crash{"ask.started", 0, "lost"}, Crash{"ask.answered", 1, "lost"}}) {
    SCOPED_TRACE(crash.point);
    SetUp();
    configure();
    play({});
    cycle({{"AMDAHL_FAULT_POINT", crash.point}, {"AMDAHL_FAULT_AT", "1"}});
    const Outcome done = cycle();
    EXPECT_EQ(done.code, 0) << done.err;
    const auto settled = events("ask.settled");
    ASSERT_EQ(settled.size(), 1U) << done.err;
    EXPECT_EQ(settled[0].at("payload").at("outcome"), crash.outcome);
    EXPECT_EQ(times_asked(), crash.asked);
    EXPECT_EQ(house().amdahl({"ledger", "verify"}).code, 0);
  }
}

// A program that must be compiled: the patch is built once, and all pairs run that.
class Compiled : public ScriptedModel {
 protected:
  static void SetUpTestSuite() { house_ = std::make_unique<Sandbox>(); }
  void SetUp() override {
    if (!can_sandbox()) GTEST_SKIP() << "bubblewrap does not work here";
    if (run({"cmake", "--version"}, {}, "/").code != 0) GTEST_SKIP() << "no cmake";
  }
};

constexpr const char* kProgram = R"(#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long take(long at) {
  struct timespec pause = {0, 50000000};
  nanosleep(&pause, NULL);
  return at * at;
}

int main(int words, char **word) {
  long total = 0;
  const long most = words > 2 ? atol(word[2]) : 12;
  for (long at = 0; at < most; ++at) total += take(at);
  FILE *out = fopen(word[1], "w");
  fprintf(out, "%ld\n", total);
  return fclose(out);
}
)";

TEST_F(Compiled, AFixIsBuiltOnceAndCheckedBeforeItCostsAPair) {
  house().write(
      "repo/CMakeLists.txt",
      "cmake_minimum_required(VERSION 3.16)\nproject(job C)\nadd_executable(job job.c)\n");
  house().write("repo/.gitignore", "build/\nbuilds\n");
  house().write("repo/job.c", kProgram);
  const std::string build = "cmake -S . -B build && cmake --build build";
  ASSERT_EQ(run({"sh", "-c",
                 build + " && git init -q . && git add . && git -c user.name=a -c user.email=a@b "
                         "commit -q -m compiled"},
                {}, house().path("repo"))
                .code,
            0);
  house().write("job.toml",
                "family = \"work\"\ncommand = [\"./build/job\", \"{out}/result\"]\nworkdir = "
                "\"repo\"\nrepo = \"repo\"\nbuild = [\"sh\", \"-c\", \"" +
                    build +
                    " && echo built >> builds\"]\ncheck = [\"sh\", \"-c\", \"./build/job sum 4 && "
                    "test $(cat sum) = 14\"]\naccelerators = 1\ntime_limit_s = 60\ninputs = "
                    "[\"CMakeLists.txt\"]\n[work]\nunit = \"pass\"\nfixed = 1\n[[outputs]]\npath = "
                    "\"{out}/result\"\n");
  configure();
  ASSERT_EQ(house().amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const std::string head =
      "--- a/job.c\n+++ b/job.c\n@@ -5,5 +5,3 @@\n static long take(long at) {\n"
      "-  struct timespec pause = {0, 50000000};\n-  nanosleep(&pause, NULL);\n";
  play({idea("less work", head + "-  return at * at;\n+  return at;\n }\n"),
        idea("do not pause", head + "   return at * at;\n }\n")});
  const Outcome done = cycle();
  ASSERT_EQ(done.code, 0) << done.err;
  const Json wrong = hypothesis("less work");
  ASSERT_FALSE(wrong.is_null()) << done.err;
  EXPECT_EQ(wrong.at("state"), "invalid") << done.err;
  EXPECT_EQ(pairs_of(wrong.at("hypothesis").at("id")), 0);
  const Json right = hypothesis("do not pause");
  ASSERT_FALSE(right.is_null());
  EXPECT_EQ(right.at("state"), "promoted") << done.err;
  EXPECT_TRUE(right.at("hypothesis").at("change").at("needs_build"));
  // In the sandbox one tree without a patch and one with each; outside of it what was promoted, and
  // what it is compared with.
  int trees = 0;
  for (const auto& tree : fs::directory_iterator(house().path("state/trees"))) {
    const std::string builds =
        house().read(fs::path("state/trees") / tree.path().filename() / "builds");
    EXPECT_LE(count_lines(builds, "built"), 1) << tree.path();
    trees += count_lines(builds, "built");
  }
  EXPECT_GE(trees, 3);
  EXPECT_LE(trees, 5);
}

}  // namespace
}  // namespace amdahl::e2e
