// attacks_registered_test.cc: what was registered is what is judged: the environment, the code and
// the spec that a pair was reserved under.
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

using namespace std::chrono_literals;

// Every run keeps the MODE that it was given.
constexpr const char* kJob = R"(#!/bin/bash
echo "mode=$MODE secret=$MY_API_TOKEN" >> "$LOG"
echo '{"metric": {"seconds": 7}}' >> "$AMDAHL_REPORT"
echo 42 > "$AMDAHL_OUT/result.txt"
if [ -n "$FAST" ]; then sleep 0.05; else sleep 0.2; fi
)";

class Registered : public testing::Test {
 protected:
  Registered() {
    sandbox_.write("config.toml",
                   "slots = [0]\n[campaign]\nk = 5\nalpha = 0.5\n[loop]\nqueue = 0\n"
                   "worth_at_least = 0.0\nbusy_hosts = false\nper_family = 1\nlease_s = 3.0\n"
                   "[canary]\nruns = 0\n");
    sandbox_.write("data/a", "what it reads\n");
    sandbox_.write("job.sh", kJob, true);
  }

  void adopt(const std::string& more = "") {
    sandbox_.write("job.toml",
                   "family = \"job\"\ncommand = [\"./job.sh\"]\nworkdir = \".\"\n"
                   "inputs = [\"data/*\"]\ntime_limit_s = 10\n" +
                       more + "[env]\nLOG = \"" + sandbox_.path("log") +
                       "\"\n[work]\nfixed = 1\n[[outputs]]\npath = \"{out}/result.txt\"\n");
    const Outcome adopted = sandbox_.amdahl({"adopt", "--spec", "job.toml", "--replace"});
    ASSERT_EQ(adopted.code, 0) << adopted.err;
  }

  void propose() {
    const Outcome proposed =
        sandbox_.amdahl({"propose", "job", "--env", "FAST=1", "--gain", "40", "--title", "fast"});
    ASSERT_EQ(proposed.code, 0) << proposed.err;
  }

  std::string cycle(const std::map<std::string, std::string>& env = {},
                    const std::string& word = "") {
    std::vector<std::string> words{"cycle", "--gate-policy", "demo"};
    if (!word.empty()) words.push_back(word);
    const Outcome outcome = sandbox_.amdahl(words, env);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out + outcome.err;
  }

  // Single cycles until the ledger has such an event; each leaves its runs in flight.
  void until(const std::string& kind, std::size_t count = 1) {
    for (int i = 0; i < 100 && events(sandbox_, kind).size() < count; ++i) {
      cycle();
      std::this_thread::sleep_for(600ms);
    }
    ASSERT_GE(events(sandbox_, kind).size(), count) << kind;
  }

  Json hypothesis() const {
    return json_of(sandbox_.amdahl({"ledger", "list", "--json"})).at("hypotheses").at(0);
  }

  Sandbox sandbox_;
};

TEST_F(Registered, AVariableOfTheShellReachesEveryRunOrNone) {
  adopt();
  const std::string first = cycle({{"MODE", "one"}, {"MY_API_TOKEN", "s3cret-1"}});
  EXPECT_EQ(first.find("here differ"), std::string::npos) << first;
  propose();
  const std::string said = cycle({{"MODE", "two"}, {"MY_API_TOKEN", "s3cret-2"}}, "--watch");
  EXPECT_NE(said.find("job: arms run in the environment of its first run; here differ: MODE."),
            std::string::npos)
      << said;
  const std::string log = sandbox_.read("log");
  EXPECT_EQ(count_lines(log, "mode=two"), 0) << log;
  EXPECT_GE(count_lines(log, "mode=one"), 20) << log;
  EXPECT_GE(count_lines(log, "secret=s3cret-2"), 18) << "secrets are not kept, but passed on";
  for (const std::string& file : sandbox_.list("state/environments")) {
    EXPECT_EQ(sandbox_.read("state/environments/" + file).find("s3cret"), std::string::npos)
        << file;
  }
  EXPECT_EQ(hypothesis().at("state"), "promoted") << said;
  // Whoever wants the new one says so, and it is another setup.
  cycle({{"MODE", "two"}}, "--refresh");
  std::this_thread::sleep_for(1s);
  EXPECT_GE(count_lines(sandbox_.read("log"), "mode=two"), 1) << sandbox_.read("log");
}

TEST_F(Registered, CodeThatMovesEndsTheExperiment) {
  const auto git = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-c", "user.name=a", "-c", "user.email=a@b"});
    ASSERT_EQ(run(words, {}, sandbox_.path()).code, 0);
  };
  git({"init", "-q"});
  git({"add", "job.sh"});
  git({"commit", "-qm", "one"});
  adopt("repo = \".\"\n");
  propose();
  until("experiment.registered");
  sandbox_.write("notes.txt", "git does not follow it\n");
  EXPECT_EQ(cycle().find("source code"), std::string::npos);
  sandbox_.write("job.sh", std::string(kJob) + "sleep 0.3\n", true);
  std::this_thread::sleep_for(1s);
  const std::string said = cycle();
  const Json aborted = hypothesis();
  EXPECT_EQ(aborted.at("state"), "aborted") << said;
  EXPECT_NE(said.find("changed during the test (source code)"), std::string::npos) << said;
  for (const Json& event : events(sandbox_, "run.voided")) {
    const std::string reason = event.at("payload").at("reason");
    EXPECT_NE(reason.find("ran source code"), std::string::npos) << reason;
  }
}

TEST_F(Registered, APairInFlightBelongsToTheSpecItWasReservedUnder) {
  adopt("[metric]\nname = \"seconds\"\n");
  until("profile.recorded");
  propose();
  until("run.reserved", 2);  // The profile's, and an A/A pair's.
  const std::string pair = events(sandbox_, "run.reserved").at(1).at("subject");
  adopt();
  std::this_thread::sleep_for(1s);
  cycle();
  bool found = false;
  for (const Json& event : events(sandbox_, "run.collected")) {
    if (event.at("subject") != pair) continue;
    found = true;
    EXPECT_EQ(event.at("payload").at("fact").at("a").at("metric"), 7) << event.dump();
  }
  EXPECT_TRUE(found) << pair;
}

// Half the throughput, which is bad until somebody turns the metric round.
TEST_F(Registered, AMetricThatIsTurnedRoundEndsItsTests) {
  sandbox_.write(
      "job.sh",
      "#!/bin/bash\necho 42 > \"$AMDAHL_OUT/result.txt\"\nsleep 0.1\n"
      "echo \"{\\\"metric\\\": {\\\"speed\\\": $([ -n \"$FAST\" ] && echo 50 || echo 100)."
      "$((RANDOM % 90 + 10))}}\" >> \"$AMDAHL_REPORT\"\n",
      true);
  adopt("[metric]\nname = \"speed\"\ndirection = \"higher\"\n");
  propose();
  const auto compared = [&] {
    int pairs = 0;
    for (const Json& event : events(sandbox_, "run.collected")) {
      const Json& fact = event.at("payload").at("fact");
      pairs += fact.is_object() && fact.at("purpose") == "compare" ? 1 : 0;
    }
    return pairs;
  };
  for (int i = 0; i < 100 && compared() == 0; ++i) {
    cycle();
    std::this_thread::sleep_for(500ms);
  }
  ASSERT_GE(compared(), 1);
  ASSERT_EQ(hypothesis().at("state"), "live") << "one pair is no proof";
  adopt("[metric]\nname = \"speed\"\ndirection = \"lower\"\n");
  const std::string said = cycle({}, "--watch");
  EXPECT_NE(said.find("changed during the test (metric direction)"), std::string::npos) << said;
  EXPECT_EQ(hypothesis().at("state"), "aborted") << said;
  EXPECT_TRUE(events(sandbox_, "gate.opened").empty());
}

// One run has more pairs of steps than the cap allows: nothing is told, and nothing waits for it.
TEST_F(Registered, StepsBeyondTheCapEndTheWatch) {
  sandbox_.write("job.py", R"(import json, os, random
schedule = open(os.environ["AMDAHL_STEPS"]).read() if "AMDAHL_STEPS" in os.environ else ""
arms = json.loads(os.environ.get("AMDAHL_STEPS_ARMS", "{}"))
open(os.environ["AMDAHL_OUT"] + "/result.txt", "w").write("42")
with open(os.environ["AMDAHL_REPORT"], "a") as report:
    if not schedule:
        report.write('{"work": 10}\n')
    for i, arm in enumerate(schedule):
        batch = (arms.get(arm, {}).get("args", {}) or {}).get("--batch")
        seconds = 0.01 * random.lognormvariate(0, 0.2) * (0.98 if batch == "16" else 1)
        report.write(json.dumps({"step": i, "arm": arm, "seconds": seconds, "work": 1}) + "\n")
)");
  sandbox_.write("job.toml",
                 "family = \"job\"\ncommand = [\"python3\", \"job.py\", \"--batch\", \"8\"]\n"
                 "workdir = \".\"\ntime_limit_s = 30\npairing = \"steps\"\n"
                 "inputs = [\"data/*\"]\n[[outputs]]\npath = \"{out}/result.txt\"\n"
                 "[knobs.batch_size]\narg = \"--batch\"\nvalue = 8\n");
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  ASSERT_EQ(sandbox_.amdahl({"propose", "job", "--arg=--batch=16", "--gain", "10"}).code, 0);
  const std::string said = cycle({}, "--watch");
  EXPECT_NE(hypothesis().at("state"), "promoted") << said;
  std::size_t most = 0;
  for (const Json& event : events(sandbox_, "run.collected")) {
    const Json& fact = event.at("payload").at("fact");
    if (fact.is_object()) most = std::max(most, fact.value("steps", Json::array()).size());
  }
  EXPECT_GT(most, 40U) << "a run has more pairs of steps than the cap";
}

}  // namespace
}  // namespace amdahl::e2e
