// tune_test.cc: a job that nobody prepared, from its command alone to a change that was proven.
#include <sstream>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

// Forces its log to the disk after each of 100 lines, which is most of what it does.
constexpr const char* kJob = R"(import os
import sys

log = open("losses", "w")
loss = 4.0
for step in range(1, 101):
    loss *= 0.99
    log.write("%.6f\n" % loss)
    log.flush()
    os.fsync(log.fileno())
    if step % 20 == 0:
        print("step", step, "loss %.4f" % loss)
)";

class Tune : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome python =
        run({"python3", "-c", "import sys; print(sys.executable, end='')"}, {}, sandbox_.path());
    if (python.code != 0) GTEST_SKIP() << "python3 is not installed: apt install python3";
    python_ = python.out;
    sandbox_.write("train.py", kJob);
  }
  Outcome tune(std::vector<std::string> words, const std::vector<std::string>& command) const {
    words.insert(words.begin(), "tune");
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return sandbox_.amdahl(words, {{"LD_PRELOAD", SLOW_SYNC}});
  }

  Sandbox sandbox_;
  std::string python_;
};

TEST_F(Tune, FromACommandAloneToAChangeThatIsProvenAndHandedOver) {
  const std::vector<std::string> command = {python_, "train.py"};
  const Outcome kept = run({"sh", "-c",
                            "git init -q . && git add train.py && git -c user.name=Ada -c "
                            "user.email=ada@example.org commit -qm train"},
                           {}, sandbox_.path());
  ASSERT_EQ(kept.code, 0) << kept.err;
  const Outcome tuned = tune({"--json", "--accelerators", "1", "--budget", "10m"}, command);
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  const Json doc = Json::parse(tuned.out);
  EXPECT_EQ(doc.at("family"), "train");
  EXPECT_EQ(doc.at("inferred").at(0).at("value"), "100 steps");
  const Json& won = doc.at("won");
  ASSERT_GE(won.size(), 1U);
  EXPECT_EQ(won.at(0).at("change").at("inject"), Json({{"fsync-late", ""}}));
  EXPECT_EQ(won.at(0).at("commit").at(0), "Call os.fsync once at the end, not after each line.");
  // Of about 1.25 s, 1.2 s are the disk's; once a second is left.
  EXPECT_GT(doc.at("stack").at("comparison").at("effect").get<double>(), 0.7);
  EXPECT_GE(doc.at("stack").at("comparison").at("pairs").get<int>(), 4);

  // Nothing of it runs on: the profile of the new baseline was waited for, or never started.
  const Outcome status = sandbox_.amdahl({"status", "--json"});
  EXPECT_EQ(Json::parse(status.out).at("in_flight"), 0);

  // The edit in its place was tested against it.
  EXPECT_NE(won.at(0).at("patch").get<std::string>().find("-    os.fsync(log.fileno())\n"),
            std::string::npos)
      << won.at(0);
  const std::string patch = doc.at("folder").get<std::string>() + "/commit.patch";
  EXPECT_EQ(run({"git", "apply", "--check", patch}, {}, sandbox_.path()).code, 0);

  // Its spec says what it was taken to be, and the job's own environment.
  const std::string spec =
      sandbox_.read(doc.at("spec").get<std::string>().substr(sandbox_.path("").size()));
  EXPECT_NE(spec.find("# work: 100 steps (80 % sure): both runs print it last"), std::string::npos);
  EXPECT_NE(spec.find("path = \"losses\"\ndigest = true"), std::string::npos);
  EXPECT_NE(spec.find("LD_PRELOAD"), std::string::npos);

  // The tuned form without amdahl, and with it: the same bytes, and a receipt that it engaged.
  const std::string before = sandbox_.read("losses");
  const Outcome script =
      run({doc.at("folder").get<std::string>() + "/run.sh"}, {}, sandbox_.path());
  EXPECT_EQ(script.code, 0) << script.err;
  EXPECT_NE(script.out.find("step 100 loss 1.4641"), std::string::npos) << script.out;
  EXPECT_EQ(sandbox_.read("losses"), before);
  const Outcome promoted = sandbox_.amdahl({"run", "--promoted", "--family", "train", "--json"});
  ASSERT_EQ(promoted.code, 0) << promoted.err;
  const Json injected = Json::parse(promoted.out).at("receipt").at("injected");
  EXPECT_EQ(injected.at(0).at("fix"), "fsync-late");
  EXPECT_GE(injected.at(0).at("times").get<int>(), 90);

  // The same command goes on where it was: there is nothing left to do.
  const Outcome again = tune({"--json", "--accelerators", "1", "--budget", "10m"}, command);
  EXPECT_EQ(again.code, 0) << again.err;
  const Json still = Json::parse(again.out).at("won");
  ASSERT_EQ(still.size(), won.size()) << still;
  EXPECT_EQ(still.at(0).at("hypothesis"), won.at(0).at("hypothesis"));
  EXPECT_EQ(still.at(0).at("comparison"), won.at(0).at("comparison"));
  EXPECT_NE(again.err.find("resumes train"), std::string::npos) << again.err;
}

// What `adopt last` leaves to a person, two runs of the command tell.
TEST_F(Tune, AdoptInfersFromTwoRunsOfACommand) {
  const std::vector<std::string> words = {"adopt", "--json", "--replace",
                                          "--",    python_,  "train.py"};
  for (int i = 0; i < 2; ++i) {  // The second time it has a spec, and is inferred again.
    const Outcome adopted = sandbox_.amdahl(words, {{"LD_PRELOAD", SLOW_SYNC}});
    ASSERT_EQ(adopted.code, 0) << adopted.err;
    const Json doc = Json::parse(adopted.out);
    EXPECT_EQ(doc.at("family"), "train");
    EXPECT_EQ(doc.at("notes").size(), 0U);
    const std::string spec =
        sandbox_.read(doc.at("file").get<std::string>().substr(sandbox_.path("").size()));
    EXPECT_NE(spec.find("unit = \"steps\""), std::string::npos) << spec;
    EXPECT_NE(spec.find("path = \"losses\"\ndigest = true"), std::string::npos) << spec;
  }
  EXPECT_EQ(sandbox_.amdahl({"adopt", "last", "--", python_, "train.py"}).code, 2);
}

TEST_F(Tune, OutputsThatDifferOnEveryRunAreNamedWithWhatToDo) {
  const Outcome adopted = sandbox_.amdahl(
      {"adopt", "--json", "--", "sh", "-c", "sleep 1.1; date +%s%N >result; echo step 5"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
  EXPECT_NE(adopted.err.find("1 of 2 had the same bytes in both runs. A change that spoils the "
                             "others is noticed only by the quality: set a seed, or add "
                             "[[quality]] to the spec"),
            std::string::npos)
      << adopted.err;
}

// Compiled without optimisation: -O3 makes it more than three times as fast, with the same bytes.
TEST_F(Tune, ACompiledProgramIsBuiltForSpeed) {
  sandbox_.write(
      "sum.c",
      "#include <stdio.h>\nint main(void) {\n  static float a[4096];\n  double sum = 0;\n"
      "  for (int r = 0; r < 400000; r++) {\n    for (int i = 0; i < 4096; i++)\n"
      "      a[i] = a[i] * 0.5f + (float)(i ^ r);\n    sum += a[r % 4096];\n  }\n"
      "  printf(\"sum %.6f\\n\", sum);\n}\n");
  sandbox_.write("Makefile", "CFLAGS = -Wall -O0\n\nsum: sum.c\n\t$(CC) $(CFLAGS) -o sum sum.c\n");
  sandbox_.write(".gitignore", "sum\n");
  // What lies there counts, and not what was committed: that would end at once.
  const Outcome made = run({"sh", "-c",
                            "make -s sum && git init -q . && sed 's/400000/15/' sum.c > short.c && "
                            "mv sum.c long.c && mv short.c sum.c && git add sum.c Makefile "
                            ".gitignore && git -c user.name=Ada -c user.email=ada@example.org "
                            "commit -qm sum && mv long.c sum.c"},
                           {}, sandbox_.path());
  if (made.code != 0) GTEST_SKIP() << "make, cc or git is not installed: " << made.err;
  const Outcome tuned =
      sandbox_.amdahl({"tune", "--json", "--accelerators", "1", "--budget", "6m", "--", "./sum"});
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  const Json doc = Json::parse(tuned.out);
  ASSERT_EQ(doc.at("won").size(), 1U);
  EXPECT_TRUE(doc.at("won").at(0).at("title").get<std::string>().starts_with(
      "patch Makefile:1: compiled for speed"));
  EXPECT_GT(doc.at("stack").at("comparison").at("effect").get<double>(), 1.1);
  EXPECT_GT(doc.at("first_win_s").get<double>(), 0);
  const std::string script = doc.at("folder").get<std::string>() + "/run.sh";
  const Outcome early = run({script}, {}, sandbox_.path());
  EXPECT_EQ(early.code, 1) << early.out;
  EXPECT_NE(early.err.find("its source is not patched; type: git -C "), std::string::npos);
  const Outcome applied = run(
      {"git", "apply", doc.at("folder").get<std::string>() + "/tuned.patch"}, {}, sandbox_.path());
  EXPECT_EQ(applied.code, 0) << applied.err;
  EXPECT_EQ(run({script}, {}, sandbox_.path()).code, 0);
  EXPECT_EQ(sandbox_.read("Makefile").find("-O0"), std::string::npos);
}

// Prints each of many lines by itself: nearly all it does. Nobody edits or builds it.
TEST_F(Tune, ACompiledProgramThatFlushesEachLineNeedsNoSource) {
  sandbox_.write(
      "lines.cpp",
      "#include <iostream>\nint main() {\n  for (int i = 0; i < 2000000; ++i)\n"
      "    std::cout << \"line \" << i << std::endl;\n  std::cout << \"step 2000000\\n\";\n}\n");
  const Outcome made = run({"c++", "-O2", "-o", "lines", "lines.cpp"}, {}, sandbox_.path());
  if (made.code != 0) GTEST_SKIP() << "no C++ compiler: apt install g++";
  const Outcome tuned =
      sandbox_.amdahl({"tune", "--json", "--accelerators", "1", "--budget", "6m", "--", "./lines"});
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  const Json doc = Json::parse(tuned.out);
  const Json& won = doc.at("won").at(0);
  EXPECT_EQ(won.at("change").at("inject"), Json({{"native-stdout", ""}}));
  EXPECT_FALSE(won.at("commit").empty());
  EXPECT_GT(doc.at("stack").at("comparison").at("effect").get<double>(), 0.5);
  const std::string script = doc.at("folder").get<std::string>() + "/run.sh";
  const Outcome promoted = run({"sh", "-c", script + " > promoted"}, {}, sandbox_.path());
  EXPECT_EQ(promoted.code, 0) << promoted.err;
  EXPECT_TRUE(sandbox_.read("promoted").ends_with("line 1999999\nstep 2000000\n"));
}

// Waits least with a buffer of 32 KiB, eight times its own: of three values one is tested.
TEST_F(Tune, ValuesOfOneSettingRaceAndTheBestIsProvenOnFreshPairs) {
  sandbox_.write("read.py", R"(import argparse
import json
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--io-buffer-kb", type=int, default=4)
kb = parser.parse_args().io_buffer_kb
report = open(os.environ["AMDAHL_REPORT"], "a")
took = {4: 1.0, 8: 0.9, 32: 0.3, 128: 0.7}[kb]
report.write(json.dumps({"phase": "read", "start": 0, "end": took}) + "\n")
time.sleep(took)
report.write(json.dumps({"work": 100}) + "\n")
print("checksum", 100)
)");
  sandbox_.write(
      "job.toml",
      "family = \"read\"\ncommand = [\"" + python_ +
          "\", \"read.py\", \"--io-buffer-kb\", \"4\"]\n"
          "accelerators = 1\ninputs = [\"read.py\"]\n[[outputs]]\n"
          "path = \"{out}/stdout\"\n[knobs.io_buffer_kb]\narg = \"--io-buffer-kb\"\nvalue = 4\n");
  const Outcome tuned = sandbox_.amdahl({"tune", "--json", "--budget", "4m", "--spec", "job.toml"});
  ASSERT_EQ(tuned.code, 0) << tuned.err << tuned.out;
  const Json doc = Json::parse(tuned.out);
  ASSERT_EQ(doc.at("won").size(), 1U);
  EXPECT_EQ(doc.at("won").at(0).at("change").at("args"), Json({{"--io-buffer-kb", "32"}}));
  // The others were dropped by the race, and its pairs are not among those of the proof.
  const std::string id = doc.at("won").at(0).at("hypothesis").get<std::string>();
  const Outcome events = sandbox_.amdahl({"ledger", "export"});
  int race = 0;
  int proof = 0;
  std::istringstream lines(events.out);
  for (std::string line; std::getline(lines, line);) {
    const Json event = Json::parse(line);
    if (event.at("kind") != "run.reserved") continue;
    const std::string purpose = event.at("payload").at("purpose").get<std::string>();
    race += purpose.starts_with("race:") ? 1 : 0;
    const bool is_its = event.at("payload").at("experiment") == "x-" + id.substr(2);
    proof += is_its && (purpose == "compare" || purpose == "replicate") ? 1 : 0;
  }
  EXPECT_GE(race, 3) << "one block of three values";
  EXPECT_LE(race, 9);
  EXPECT_EQ(doc.at("won").at(0).at("comparison").at("pairs").get<int>(), proof);
}

TEST_F(Tune, WhatDoesNotEngageIsInvalidAndSaysWhy) {
  const Outcome ran = sandbox_.amdahl({"run", "--accelerators", "1", "--", python_, "train.py"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  sandbox_.write("job.toml", "family = \"train\"\ncommand = [\"" + python_ +
                                 "\", \"train.py\"]\naccelerators = 1\n[work]\nfixed = 1\n"
                                 "[[outputs]]\npath = \"losses\"\n");
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const Outcome misspelt = sandbox_.amdahl({"propose", "train", "--inject", "loader-worker=2"});
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_NE(misspelt.err.find("there is no fix 'loader-worker'; did you mean 'loader-workers'?"),
            std::string::npos)
      << misspelt.err;
  sandbox_.write("config.toml",
                 "[campaign]\nk = 4\n[compare]\nsame_pairs = 1\nmin_gain = 0.9\n[loop]\n"
                 "per_family = 1\n");
  ASSERT_EQ(
      sandbox_.amdahl({"propose", "train", "--inject", "loader-workers=2", "--gain", "30"}).code,
      0);
  const Outcome cycle = sandbox_.amdahl({"cycle", "--watch"});
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  const Outcome listed = sandbox_.amdahl({"ledger", "list", "--json"});
  EXPECT_NE(listed.out.find("\"invalid\""), std::string::npos) << listed.out;
  const Json rows = Json::parse(listed.out);
  const Outcome shown = sandbox_.amdahl(
      {"ledger", "show", rows.at("hypotheses").at(0).at("hypothesis").at("id").get<std::string>()});
  EXPECT_NE(shown.out.find("the injection did not engage: loader-workers: the job never runs the "
                           "code that it changes"),
            std::string::npos)
      << shown.out;
}

// Every fifth run fails, whatever is changed.
TEST_F(Tune, AJobThatFailsNowAndThenIsNotBlamedOnAChange) {
  sandbox_.write("train.py",
                 std::string("import os, sys, tempfile\nos.makedirs('runs', exist_ok=True)\n"
                             "tempfile.mkdtemp(dir='runs')\n"
                             "if len(os.listdir('runs')) % 5 == 0: sys.exit('out of luck')\n") +
                     kJob);
  const Outcome tuned =
      tune({"--json", "--accelerators", "1", "--budget", "20s"}, {python_, "train.py"});
  EXPECT_LT(tuned.code, 2) << tuned.err;
  const Json doc = Json::parse(tuned.out);
  const std::string failing = doc.at("failing").get<std::string>();
  EXPECT_NE(failing.find("of the unchanged job failed"), std::string::npos) << failing;
  EXPECT_NE(failing.find("exit 1"), std::string::npos) << failing;
  EXPECT_TRUE(doc.at("tried").empty()) << "no change is to blame";
}

TEST_F(Tune, NothingToWinIsSaidWithTheCeiling) {
  const Outcome tuned =
      tune({"--accelerators", "1", "--budget", "2m"}, {"sh", "-c", "sleep 1.2; echo loss 1.5"});
  EXPECT_EQ(tuned.code, 1) << tuned.err;
  EXPECT_TRUE(tuned.out.starts_with("No change won for ")) << tuned.out;
}

// 100 times 12 ms of a disk beside a second of sleep: without them it is about twice as fast.
TEST_F(Tune, ACeilingIsMeasuredByTakingTheCauseOut) {
  sandbox_.write("logs.py", std::string("import time\ntime.sleep(1)\n") + kJob);
  const Outcome measured =
      sandbox_.amdahl({"profile", "--measure", "logging,input", "--json", "--", python_, "logs.py"},
                      {{"LD_PRELOAD", SLOW_SYNC}});
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Json ceilings = Json::parse(measured.out).at("ceilings");
  ASSERT_EQ(ceilings.size(), 2U);
  EXPECT_EQ(ceilings.at(0).at("cause"), "logging");
  EXPECT_EQ(ceilings.at(0).at("pairs"), 4);
  EXPECT_NEAR(ceilings.at(0).at("measured").get<double>(), 2.1, 0.4);
  EXPECT_LT(ceilings.at(0).at("lower").get<double>(), ceilings.at(0).at("measured").get<double>());
  EXPECT_TRUE(ceilings.at(1).at("measured").is_null());
  EXPECT_NE(ceilings.at(1).at("problem").get<std::string>().find("did not engage"),
            std::string::npos);
  const Outcome other = sandbox_.amdahl({"profile", "--measure", "luck", "--", python_, "logs.py"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("'luck' cannot be removed from a job to measure it"), std::string::npos)
      << other.err;
}

TEST_F(Tune, AJobThatCannotBeTunedGetsASentenceAndNothingIsSpent) {
  struct Case {
    const char* job;
    const char* want;
  };
  const Case cases[] = {
      {"read answer || { echo 'EOFError: no input' >&2; exit 1; }", "asked for a terminal"},
      {"exit 3", "failed: exit 3"},
      {"echo loss 1", "below a second the start of a process hides every effect"},
      {"sleep 1.1; date +%s%N", "nothing that the job leaves can be compared"},
      {"sleep 30 >/dev/null 2>&1 & sleep 1.1; echo loss 1", "the job exits while 1 process"},
      {"test -e once && exit 1; touch once; sleep 1.1; echo loss 1", "so the job fails at random"},
      {"mkdir results || exit 1; sleep 1.1; echo loss 1",
       "files that the first run left are in the way"},
      {"echo 'Error opening terminal: unknown.' >&2; exit 1", "asked for a terminal"},
      {"echo x >>n; sleep 1.1; echo step $(wc -l <n) loss 1", "different work (1 and 2 steps)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.job);
    const Outcome tuned = tune({"--accelerators", "1"}, {"sh", "-c", c.job});
    EXPECT_EQ(tuned.code, 2) << tuned.out;
    EXPECT_NE(tuned.err.find(c.want), std::string::npos) << tuned.err;
  }
  EXPECT_EQ(tune({"--budget", "soon"}, {"true"}).code, 2);
}

}  // namespace
}  // namespace amdahl::e2e
