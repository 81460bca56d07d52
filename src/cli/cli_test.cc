#include "cli/cli.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "model/codec.h"

// Verbs as a person types them, in one process, on a state folder of their own.
namespace amdahl::cli {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

class CliTest : public testing::Test {
 protected:
  CliTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / fmt::format("cli-{}", test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    ::setenv("AMDAHL_STATE", state().c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", path("no-config").c_str(), 1);
    ::setenv("NO_COLOR", "1", 1);
    for (const char* name : {"AMDAHL_CONFIG", "AMDAHL_GATE_POLICY"}) ::unsetenv(name);
  }
  ~CliTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string state() const { return path("state"); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }

  static Outcome type(const std::vector<std::string>& argv) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.code = run(argv);
    std::fflush(stdout);
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }
  // What a wrong line answers; it must print nothing else.
  static std::string wrong(const std::vector<std::string>& argv, int code = 2) {
    const Outcome outcome = type(argv);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
  static Json json(const std::vector<std::string>& argv) {
    std::vector<std::string> with = argv;
    with.push_back("--json");
    const auto parsed = parse_json(type(with).out);
    EXPECT_TRUE(parsed);
    return parsed ? *parsed : Json();
  }

  // A family with one live and one inconclusive hypothesis, and a run that cost something.
  void remember() {
    ASSERT_EQ(type({"init"}).code, 0);
    auto opened = ledger::open_sqlite(state() + "/ledger.db");
    ASSERT_TRUE(opened);
    const auto ledger = *std::move(opened);
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"true"};
    spec.workdir = "/";
    const auto idea = [](const std::string& id, const std::string& title) {
      model::Hypothesis h;
      h.id = id;
      h.family = "eval";
      h.key = "key of " + id;
      h.title = title;
      h.change.env["A"] = "1";
      h.predicted_gain = 0.2;
      return ledger::Draft{"hypothesis.proposed", "cycle", id, encode(h)};
    };
    model::Experiment experiment;
    experiment.id = "x-22";
    experiment.hypothesis = "h-22";
    experiment.family = "eval";
    experiment.campaign = "c1";
    model::Verdict verdict;
    verdict.hypothesis = "h-22";
    verdict.experiment = "x-22";
    verdict.kind = model::VerdictKind::kInconclusive;
    verdict.reason = "40 pairs were not enough";
    const std::vector<ledger::Draft> drafts{
        {"family.adopted", "ada", "eval", encode(spec)},
        {"campaign.opened", "cycle", "c1", {{"k", 9}, {"alpha", 0.1}}},
        idea("h-11", "larger batches"),
        idea("h-22", "more loader workers"),
        {"experiment.registered", "cycle", "x-22", encode(experiment)},
        {"run.reserved",
         "cycle",
         "r-1",
         {{"family", "eval"},
          {"experiment", "x-22"},
          {"purpose", "compare"},
          {"index", 1},
          {"variant_second", true},
          {"reserved_accelerator_s", 7200},
          {"reserved", {{"usd", 5}}}}},
        {"run.collected",
         "cycle",
         "r-1",
         {{"spent_accelerator_s", 3600}, {"spent", {{"usd", 2.5}}}}},
        {"verdict.recorded", "cycle", "h-22", encode(verdict)}};
    const auto done = ledger->append(drafts);
    ASSERT_TRUE(done) << done.error().text;
  }

  fs::path folder_;
};

TEST_F(CliTest, SlipsAreNamedWithWhatToType) {
  EXPECT_EQ(wrong({"statsu"}),
            "amdahl: unknown command 'statsu', did you mean 'status'?; type: amdahl --help\n");
  EXPECT_EQ(wrong({"hlep"}),
            "amdahl: unknown command 'hlep', did you mean 'help'?; type: amdahl --help\n");
  EXPECT_EQ(wrong({"--hepl"}),
            "amdahl: unknown option --hepl, did you mean --help?; type: amdahl --help\n");
  EXPECT_EQ(wrong({"help", "ledgr"}),
            "amdahl: there is no help on 'ledgr', did you mean 'ledger'?; type: amdahl --help\n");
  EXPECT_EQ(wrong({"--state", "status"}), "amdahl: no command was given; type: amdahl --help\n");
  EXPECT_EQ(wrong({"status", "now"}),
            "amdahl: status: unexpected argument 'now'; type: amdahl status --help\n");
  EXPECT_EQ(wrong({"roi", "--jsn"}),
            "amdahl: roi: unknown option --jsn, did you mean --json?; type: amdahl roi --help\n");
  EXPECT_EQ(
      wrong({"ledger", "list", "--limit", "abc"}),
      "amdahl: ledger: --limit needs a whole number, not 'abc'; type: amdahl ledger --help\n");
  EXPECT_EQ(wrong({"roi", "--price=much"}),
            "amdahl: roi: --price needs a number, not 'much'; type: amdahl roi --help\n");
  EXPECT_EQ(wrong({"roi", "--price"}),
            "amdahl: roi: --price needs a number; type: amdahl roi --help\n");
  EXPECT_EQ(wrong({"roi", "--price", "-3"}),
            "amdahl: --price is what an accelerator-hour costs, in USD: 0 or more\n");
  EXPECT_EQ(wrong({"ledger", "lst"}),
            "amdahl: ledger: unknown subcommand 'lst', did you mean 'list'?\n");
  EXPECT_EQ(wrong({"ledger", "show"}),
            "amdahl: ledger needs one of: list, log [ID], show ID, pairs ID, search WORDS, "
            "calibration, verify, export, copy FROM TO or reopen ID --reason TEXT\n");
  EXPECT_EQ(wrong({"completion", "powershell"}),
            "amdahl: completion is for bash, zsh or fish, not 'powershell'\n");
  EXPECT_EQ(wrong({"propose", "eval", "--set", "batch=3"}),
            "amdahl: --set must be FILE#KEY=VALUE (job.yaml#train.batch=32), not 'batch=3'\n");
  EXPECT_EQ(wrong({"status"}, 1),
            "amdahl: there is no ledger in " + state() + "; type: amdahl init\n");
}

TEST_F(CliTest, AnOutputThatWouldDoHarmIsRefused) {
  write("trace.json", "[]");
  fs::create_hard_link(path("trace.json"), path("same.json"));
  fs::create_directories(path("folder"));
  for (const char* name : {"trace.json", "same.json"}) {
    EXPECT_EQ(wrong({"profile", path("trace.json"), "--html", path(name)}),
              "amdahl: --html " + path(name) +
                  ": the output would overwrite an input; name another file\n");
  }
  EXPECT_EQ(wrong({"profile", path("trace.json"), "--html", "-"}),
            "amdahl: --html -: give the name of a file\n");
  EXPECT_EQ(wrong({"ledger", "export", "--output", "/dev/stdout"}),
            "amdahl: --output /dev/stdout: give the name of a file\n");
  EXPECT_EQ(wrong({"scan", "--html", path("no/such/page.html")}, 1),
            "amdahl: --html: there is no folder " + path("no/such") + "; make it first\n");
  for (const char* option : {"--what-if=input=0", "--hta", "--show", "--format=kineto"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find('='));
    EXPECT_EQ(wrong({"profile", option, "--", "true"}),
              "amdahl: " + name + " is not for a command\n");
  }
  EXPECT_EQ(wrong({"profile", path("trace.json"), "--", "true"}),
            "amdahl: profile takes files or a command, not both: '" + path("trace.json") +
                "' before --\n");
  EXPECT_EQ(wrong({"profile", "--accelerators=-1", "--", "true"}),
            "amdahl: --accelerators must be at least 1\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  EXPECT_EQ(wrong({"profile", "folder"}, 1),
            "amdahl: folder is a folder, and there is no such family; type: amdahl profile "
            "folder/*\n");
  fs::create_directories(path("gone"));
  fs::current_path(path("gone"));
  fs::remove(path("gone"));
  EXPECT_EQ(wrong({"profile", "--", "true"}, 1),
            "amdahl: the current folder was deleted (No such file or directory); change to another "
            "folder\n");
  fs::current_path(before);
}

TEST_F(CliTest, FiltersThatFitNothingAreNotAnEmptyLedger) {
  remember();
  EXPECT_EQ(wrong({"ledger", "list", "--hypothesis-state", "refutd"}),
            "amdahl: unknown hypothesis state 'refutd', did you mean 'refuted'?; states are: live, "
            "parked, "
            "reopened, promoted, declined, refuted, no effect, harmful, inconclusive, invalid, "
            "aborted, dropped\n");
  EXPECT_EQ(wrong({"ledger", "list", "--family", "evl"}, 1),
            "amdahl: no family 'evl' has a spec, did you mean 'eval'?; type: amdahl adopt JOB\n");
  EXPECT_EQ(wrong({"ledger", "list", "--limit", "0"}), "amdahl: limit must be at least 1\n");
  EXPECT_EQ(json({"ledger", "list", "--hypothesis-state", "live"})["total"], 1);
  EXPECT_EQ(type({"ledger", "list", "--hypothesis-state", "dropped"}).out, "No such hypotheses.\n");
}

TEST_F(CliTest, TheLedgerShowsWhateverHasAnId) {
  remember();
  const Outcome hypothesis = type({"ledger", "show", "h-2"});
  EXPECT_NE(hypothesis.out.find("Verdict     inconclusive: 40 pairs were not enough"),
            std::string::npos)
      << hypothesis.out;
  EXPECT_EQ(type({"ledger", "show", "x-22"}).out, hypothesis.out);
  EXPECT_NE(type({"ledger", "show", "r-1"}).out.find("run.collected"), std::string::npos);
  EXPECT_EQ(json({"ledger", "log", "r-1"})["events"].size(), 2U);
  EXPECT_EQ(json({"ledger", "log", "--limit", "3"})["events"][0]["kind"], "verdict.recorded");
  EXPECT_EQ(wrong({"ledger", "show", "h-9"}, 1),
            "amdahl: no hypothesis \"h-9\": see `amdahl ledger list`\n");
  EXPECT_EQ(wrong({"ledger", "reopen", "h-11"}),
            "amdahl: reopening needs a reason: amdahl ledger reopen h-11 --reason TEXT\n");
  EXPECT_EQ(type({"ledger", "verify"}).out,
            "8 events: the hash chain holds and replay gives the same projections.\n");
}

TEST_F(CliTest, StatusAndRoiTellHoursAndMoney) {
  remember();
  const std::string status = type({"status"}).out;
  EXPECT_NE(status.find("Budget    1.00 h of accelerator time spent, 0 h committed, no limit\n"),
            std::string::npos)
      << status;
  EXPECT_NE(status.find("Budget    $2.50 spent, $0.00 committed, no limit\n"), std::string::npos)
      << status;
  EXPECT_NE(status.find("Live      1 hypothesis, 0 under test, 0 runs in flight\n"),
            std::string::npos)
      << status;
  const Json doc = json({"status"});
  EXPECT_EQ(doc["campaign"]["registered"], 1);
  EXPECT_EQ(doc["budgets"]["usd"]["spent"], 2.5);
  EXPECT_EQ(json({"roi"})["spent_usd"], 2.5);                  // As charged.
  EXPECT_EQ(json({"roi", "--price", "4"})["spent_usd"], 4.0);  // As it would be.
}

TEST_F(CliTest, ConfigSaysWhoSetWhat) {
  EXPECT_NE(type({"config"}).out.find("No file was read; make one with: amdahl init"),
            std::string::npos);
  ASSERT_EQ(type({"init"}).code, 0);
  EXPECT_NE(type({"init"}).out.find("(exists already, not changed; --replace overwrites it)"),
            std::string::npos);
  write("state/config.toml", "[budget]\nusd = 20\n[gate]\npolicy = \"demo\"\n");
  const Json doc = json({"config"});
  EXPECT_EQ(doc["file"], state() + "/config.toml");
  std::map<std::string, Json> rows;
  for (const Json& row : doc["settings"]) rows[row["name"].get<std::string>()] = row;
  EXPECT_EQ(rows.at("budget.usd")["value"], 20);
  EXPECT_EQ(rows.at("budget.usd")["from"], "line 2");
  EXPECT_EQ(rows.at("budget.tokens")["value"], nullptr);
  EXPECT_EQ(rows.at("compare.cap")["from"], "default");
  EXPECT_EQ(rows.at("state_dir")["from"], "AMDAHL_STATE");
  EXPECT_EQ(type({"config", "gate.policy"}).out, "\"demo\"\n");
  EXPECT_EQ(wrong({"config", "gate.polcy"}, 1),
            "amdahl: there is no setting 'gate.polcy', did you mean 'gate.policy'?; type: amdahl "
            "config\n");
  EXPECT_EQ(wrong({"--config", path("none.toml"), "config"}, 1),
            "amdahl: configuration: " + path("none.toml") +
                ": no such file, which --config names; type: amdahl init\n");
}

TEST_F(CliTest, TheDoctorGoesOnWithABrokenConfiguration) {
  ASSERT_EQ(type({"init"}).code, 0);
  write("state/config.toml", "[budget]\nusdd = 20\n");
  const Outcome outcome = type({"doctor"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(outcome.out.starts_with("missing configuration    configuration: " + state() +
                                      "/config.toml: line 2: no setting 'budget.usdd', did you "
                                      "mean 'budget.usd'?\n"))
      << outcome.out;
  EXPECT_NE(outcome.out.find("GiB free in "), std::string::npos) << outcome.out;
}

// Sourced and asked as bash does when Tab is pressed.
TEST_F(CliTest, BashCompletes) {
  struct Case {
    const char* words;
    int at;
    const char* want;
  };
  const Case cases[] = {
      {"amdahl sta", 1, "status stack"},        {"amdahl --state x ga", 3, "gate"},
      {"amdahl gate app", 2, "approve"},        {"amdahl --no-color ledger ver", 3, "verify"},
      {"amdahl cycle --until s", 3, "settled"}, {"amdahl help conf", 2, "config"},
      {"amdahl ledger list --output s", 4, ""},
  };
  write("completion", type({"completion", "bash"}).out);
  for (const Case& c : cases) {
    const std::string script = fmt::format(
        "source '{}'; COMP_WORDS=({}); COMP_CWORD={}; _amdahl; echo \"${{COMPREPLY[*]}}\" > '{}'",
        path("completion"), c.words, c.at, path("answer"));
    write("ask.sh", script);
    ASSERT_EQ(std::system(fmt::format("bash '{}'", path("ask.sh")).c_str()), 0);
    std::ifstream file(path("answer"));
    std::string answer;
    std::getline(file, answer);
    EXPECT_EQ(answer, c.want) << c.words;
  }
}

TEST_F(CliTest, AServerThatDoesNotAnswerIsSaidFirst) {
  std::ofstream(path("sacct.txt"))
      << "JobID|Start|End|AllocTRES\n7|2024-03-01T00:00:00|2024-03-01T01:00:00|gres/gpu=1\n";
  const Outcome scan =
      type({"scan", path("sacct.txt"), "--source", "prometheus=http://127.0.0.1:9"});
  EXPECT_EQ(scan.code, 3);
  EXPECT_TRUE(scan.out.starts_with("Missing: ")) << scan.out;
}

}  // namespace
}  // namespace amdahl::cli
