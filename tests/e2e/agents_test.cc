// agents_test.cc: a model that is played by a script, from the brief it gets to the gate.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

// Looks for the end of each batch only after a pause, though it is there at once. No rule of ours
// knows this queue.
constexpr const char* kQueue = R"(import threading


class Queue:
    def __init__(self):
        self.pause = threading.Event()

    def take(self, batch):
        self.pause.wait(0.06)
        return sum(batch)
)";
constexpr const char* kJob = R"(import json
import os

from queues import Queue

queue = Queue()
total = 0
for at in range(12):
    total += queue.take(range(at, at + 1000))
with open(os.path.join(os.environ["AMDAHL_OUT"], "result"), "w") as out:
    out.write("%d\n" % total)
with open(os.environ["AMDAHL_REPORT"], "a") as report:
    report.write(json.dumps({"work": 1}) + "\n")
)";
constexpr const char* kFix =
    "--- a/jobs/queues.py\n+++ b/jobs/queues.py\n@@ -6,5 +6,4 @@\n"
    "         self.pause = threading.Event()\n \n     def take(self, batch):\n"
    "-        self.pause.wait(0.06)\n         return sum(batch)\n";

Json idea(const std::string& title, const std::string& patch, double saving) {
  return {{"title", title},
          {"cause", "compute"},
          {"mechanism", "what it waits for is there already"},
          {"expected_saving", saving},
          {"change",
           {{"env", Json::array()},
            {"args", Json::array()},
            {"config", Json::array()},
            {"inject", Json::array()},
            {"accelerators", nullptr},
            {"patch", patch},
            {"needs_build", false}}}};
}

class Agents : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome python =
        run({"python3", "-c", "import sys; print(sys.executable, end='')"}, {}, house_.path());
    if (python.code != 0) GTEST_SKIP() << "python3 is not installed: apt install python3";
    house_.write("repo/jobs/work.py", kJob);
    house_.write("repo/jobs/queues.py", kQueue);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"init", "-q", "."},
                                               {"config", "user.email", "ada@example.org"},
                                               {"config", "user.name", "Ada"},
                                               {"add", "."},
                                               {"commit", "-q", "-m", "the job"}}) {
      std::vector<std::string> argv{"git"};
      argv.insert(argv.end(), words.begin(), words.end());
      ASSERT_EQ(run(argv, {}, house_.path("repo")).code, 0);
    }
    house_.write("job.toml", "family = \"work\"\ncommand = [\"" + python.out +
                                 "\", \"work.py\"]\nworkdir = \"repo/jobs\"\nrepo = \"repo\"\n"
                                 "accelerators = 1\ntime_limit_s = 60\ninputs = [\"work.py\"]\n"
                                 "[env]\nOMP_WAIT_POLICY = \"passive\"\n[work]\nunit = \"pass\"\n"
                                 "[[outputs]]\npath = \"{out}/result\"\n");
  }

  // The scripted client prints result.json, after these lines of shell.
  void play(const std::vector<Json>& ideas, const std::string& first = "") {
    const Json answer{{"hypotheses", ideas}, {"nothing_because", ""}};
    const Json result{{"type", "result"},
                      {"subtype", "success"},
                      {"is_error", false},
                      {"result", answer.dump()},
                      {"structured_output", answer},
                      {"total_cost_usd", 0.005},
                      {"usage", {{"input_tokens", 2000}, {"output_tokens", 100}}}};
    house_.write("client/result.json", result.dump());
    house_.write("client/claude",
                 "#!/bin/sh\necho asked >> \"$HOME/asked\"\n" + first +
                     "\ncat \"$(dirname \"$0\")/result.json\"\n",
                 true);
  }

  void configure(const std::string& more) {
    house_.write("config.toml",
                 "[campaign]\nk = 4\n[compare]\ncap = 24\nmin_gain = 0.3\n[loop]\nlease_s = 3.0\n"
                 "per_family = 1\n" +
                     more);
    ASSERT_EQ(house_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  }
  std::string client(const std::string& more = "") const {
    return "[agent]\nfrontier = \"claude\"\nkey_env = \"\"\nfrontier_program = \"" +
           house_.path("client/claude") + "\"\n" + more;
  }

  // Events of one kind.
  std::vector<Json> events(const std::string& kind) const {
    EXPECT_EQ(house_.amdahl({"ledger", "export", "--output", "ledger.jsonl"}).code, 0);
    std::vector<Json> found;
    std::ifstream in(house_.path("ledger.jsonl"));
    for (std::string line; std::getline(in, line);) {
      const Json event = Json::parse(line, nullptr, false);
      if (event.value("kind", "") == kind) found.push_back(event);
    }
    return found;
  }

  int times_asked() const {
    int asked = 0;
    for (const auto& entry : fs::recursive_directory_iterator(house_.path())) {
      if (entry.path().filename() != "asked") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) ++asked;
    }
    return asked;
  }

  Outcome cycle(const std::map<std::string, std::string>& env = {}) const {
    return house_.amdahl({"cycle", "--watch", "--gate-policy", "demo"}, env);
  }

  Sandbox house_;
};

TEST_F(Agents, AScriptedModelsFixIsBuiltMeasuredAttackedAndPromoted) {
  configure(client());
  play({idea("do not pause", kFix, 0.5), idea("skip half", "nonsense", 0.5)});
  const Outcome done = cycle();
  ASSERT_EQ(done.code, 0) << done.err;
  const auto reserved = events("ask.reserved");
  const auto settled = events("ask.settled");
  ASSERT_GE(settled.size(), 1U) << done.err;
  EXPECT_EQ(settled.size(), reserved.size());
  EXPECT_EQ(times_asked(), static_cast<int>(reserved.size()));
  const Json& first = settled.front().at("payload");
  EXPECT_EQ(first.at("outcome"), "answered");
  EXPECT_EQ(first.at("spent").at("tokens"), 2100);
  EXPECT_NEAR(first.at("spent").at("usd"), 0.005, 1e-9);
  ASSERT_EQ(first.at("proposed").size(), 1U) << first;
  EXPECT_EQ(first.at("refused").size(), 1U);
  const std::string id = first.at("proposed").at(0);
  const Json shown = json_of(house_.amdahl({"ledger", "show", id, "--json"}));
  EXPECT_EQ(shown.at("hypothesis").at("origin").at("kind"), "agent");
  EXPECT_EQ(shown.at("state"), "promoted") << done.err;
  EXPECT_GE(shown.at("votes").size(), 5U);
  // It asks again about the new baseline, gets the same, and spends nothing on it.
  EXPECT_EQ(events("gate.decided").size(), 1U);
  EXPECT_EQ(house_.amdahl({"ledger", "verify"}).code, 0);
}

// The same in a program that must be compiled: the patch is built once, and all pairs run that.
TEST_F(Agents, AFixOfACompiledProgramIsBuiltOnce) {
  if (run({"cmake", "--version"}, {}, house_.path()).code != 0) GTEST_SKIP() << "no cmake";
  house_.write("repo/CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.16)\nproject(job C)\nadd_executable(job job.c)\n");
  house_.write("repo/.gitignore", "build/\n");
  house_.write("repo/job.c",
               "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n\n"
               "static long take(long at) {\n"
               "  struct timespec pause = {0, 60000000};\n"
               "  nanosleep(&pause, NULL);\n"
               "  return at * at;\n}\n\n"
               "static FILE *in_folder(const char *folder, const char *name, const char *mode) {\n"
               "  char path[4096];\n"
               "  snprintf(path, sizeof path, \"%s/%s\", folder, name);\n"
               "  return fopen(path, mode);\n}\n\n"
               "int main(void) {\n  long total = 0;\n"
               "  for (long at = 0; at < 12; ++at) total += take(at);\n"
               "  FILE *out = in_folder(getenv(\"AMDAHL_OUT\"), \"result\", \"w\");\n"
               "  fprintf(out, \"%ld\\n\", total);\n  fclose(out);\n"
               "  FILE *report = fopen(getenv(\"AMDAHL_REPORT\"), \"a\");\n"
               "  fprintf(report, \"{\\\"work\\\": 1}\\n\");\n  return fclose(report);\n}\n");
  const std::string build = "cmake -S . -B build && cmake --build build";
  ASSERT_EQ(run({"sh", "-c", build + " && git add . && git commit -q -m compiled"}, {},
                house_.path("repo"))
                .code,
            0);
  house_.write("job.toml",
               "family = \"work\"\ncommand = [\"./build/job\"]\nworkdir = \"repo\"\nrepo = "
               "\"repo\"\nbuild = [\"sh\", \"-c\", \"" +
                   build + " && echo built >> '" + house_.path("builds") +
                   "'\"]\naccelerators = 1\ntime_limit_s = 60\ninputs = [\"CMakeLists.txt\"]\n"
                   "[work]\nunit = \"pass\"\n[[outputs]]\npath = \"{out}/result\"\n");
  configure(client());
  play({idea("do not pause",
             "--- a/job.c\n+++ b/job.c\n@@ -4,5 +4,3 @@\n \n static long take(long at) {\n"
             "-  struct timespec pause = {0, 60000000};\n-  nanosleep(&pause, NULL);\n"
             "   return at * at;\n",
             0.5)});
  const Outcome done = cycle();
  ASSERT_EQ(done.code, 0) << done.err;
  const auto settled = events("ask.settled");
  ASSERT_GE(settled.size(), 1U) << done.err;
  ASSERT_EQ(settled[0].at("payload").at("proposed").size(), 1U) << settled[0];
  const std::string id = settled[0].at("payload").at("proposed").at(0);
  const Json shown = json_of(house_.amdahl({"ledger", "show", id, "--json"}));
  EXPECT_EQ(shown.at("state"), "promoted") << done.err;
  EXPECT_TRUE(shown.at("hypothesis").at("change").at("needs_build"));
  // One tree without the patch and one with it.
  EXPECT_EQ(count_lines(house_.read("builds"), "built"), 2);
}

TEST_F(Agents, NobodyIsAskedUnlessAModelIsNamed) {
  configure("");
  const Outcome done = cycle();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(events("ask.reserved").empty());
  EXPECT_FALSE(house_.has("state/asks"));
}

TEST_F(Agents, AStallIsATypedFailureAndPaidFor) {
  configure(client("deadline_s = 1.0\nquestion_tokens = 9000\n"));
  play({}, "sleep 31418");
  const Outcome done = cycle();
  EXPECT_EQ(done.code, 0) << done.err;
  const auto settled = events("ask.settled");
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].at("payload").at("outcome"), "timeout");
  EXPECT_EQ(settled[0].at("payload").at("spent").at("tokens"), 9000);
}

TEST_F(Agents, ABudgetThatIsSpentEndsWithFour) {
  configure(client() + "[budget]\ntokens = 1000\n");
  play({idea("do not pause", kFix, 0.5)});
  const Outcome done = cycle();
  EXPECT_EQ(done.code, 4) << done.err;
  EXPECT_EQ(times_asked(), 0);
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
    fs::remove_all(house_.path("state"));
    configure(client());
    play({});
    cycle({{"AMDAHL_FAULT_POINT", crash.point}, {"AMDAHL_FAULT_AT", "1"}});
    const Outcome done = cycle();
    EXPECT_EQ(done.code, 0) << done.err;
    const auto settled = events("ask.settled");
    ASSERT_EQ(settled.size(), 1U) << done.err;
    EXPECT_EQ(settled[0].at("payload").at("outcome"), crash.outcome);
    EXPECT_EQ(times_asked(), crash.asked);
    EXPECT_EQ(house_.amdahl({"ledger", "verify"}).code, 0);
  }
}

}  // namespace
}  // namespace amdahl::e2e
