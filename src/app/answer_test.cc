#include "app/answer.h"

#include <fstream>

#include <gtest/gtest.h>

#include "app/test_kit.h"
#include "os/program.h"

namespace amdahl::app {
namespace {

constexpr const char* kGood =
    "--- a/src/work.py\n+++ b/src/work.py\n@@ -1,3 +1,3 @@\n def work(items):\n-    seen = []\n"
    "+    seen = set()\n     return seen\n";

class AnswerTest : public ContextTest {
 protected:
  void SetUp() override {
    const std::string repo = (folder_ / "repo").string();
    std::filesystem::create_directories(repo + "/src");
    std::filesystem::create_directories(repo + "/tests");
    std::ofstream(repo + "/src/work.py") << "def work(items):\n    seen = []\n    return seen\n";
    std::ofstream(repo + "/src/report.py") << "import os\nprint(os.environ['AMDAHL_REPORT'])\n";
    std::ofstream(repo + "/tests/test_work.py") << "assert 1\n";
    std::ofstream(repo + "/check.sh") << "exit 0\n";
    std::ofstream(repo + "/secret.py") << "x = 1\n";
    std::ofstream(repo + "/setup.py") << "a = 1\n";
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"init", "-q"},
             {"add", "."},
             {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "x"}}) {
      std::vector<std::string> argv{"git", "-C", repo};
      argv.insert(argv.end(), words.begin(), words.end());
      const auto ran = os::run_program({.argv = argv}, [](auto) -> Result<> { return Ok{}; }, {});
      ASSERT_TRUE(ran) << ran.error().text;
    }
    model::Spec spec;
    spec.family = "eval";
    spec.command = {"python3", "src/work.py", "--batch", "8"};
    spec.workdir = spec.repo = repo;
    spec.check = {"sh", "./check.sh"};
    spec.paths = {"src", "check.sh", "secret.py"};
    spec.deny = {"secret*"};
    spec.work_pattern = R"(worked on (\d+) items)";
    model::Profile profile;
    profile.id = "p-1";
    profile.family = "eval";
    profile.causes = {
        {"input.wait", "waiting for input", model::Bottleneck::kInput, 2, 0.2, 1.25, "20 %"}};
    ASSERT_EQ(say({{"family.adopted", "ada", spec.family, encode(spec)},
                   {"campaign.opened", "cycle", "c1", {{"k", 50}, {"alpha", 0.1}}},
                   {"profile.recorded", "cycle", "eval", encode(profile)}}),
              "");
  }

  static Json idea() {
    return {{"title", "t"},
            {"cause", "compute"},
            {"mechanism", "m"},
            {"expected_saving", 0.1},
            {"change",
             {{"env", Json::array()},
              {"args", Json::array()},
              {"config", Json::array()},
              {"inject", Json::array()},
              {"accelerators", nullptr},
              {"patch", ""},
              {"needs_build", false}}}};
  }
  static Json patched(const std::string& patch) {
    Json json = idea();
    json["change"]["patch"] = patch;
    return json;
  }
  // Of a file of one line.
  static std::string diff(const std::string& file, const std::string& from, const std::string& to) {
    return "--- a/" + file + "\n+++ b/" + file + "\n@@ -1 +1 @@\n-" + from + "\n+" + to + "\n";
  }

  TakenAnswer take(const Json& one) {
    const ledger::Family family = *context_.ledger->family("eval");
    auto taken = take_answer(context_, family, {{"hypotheses", {one}}, {"nothing_because", ""}},
                             {"agent", "claude:sonnet"});
    EXPECT_TRUE(taken) << taken.error().text;
    if (!taken->outcome.drafts.empty()) {
      EXPECT_TRUE(context_.ledger->append(taken->outcome.drafts));
    }
    return *std::move(taken);
  }
  // "" if it was taken; "known" if the ledger has it; else why it was refused.
  std::string refusal(const Json& one) {
    const TakenAnswer taken = take(one);
    if (!taken.refused.empty()) return taken.refused.front().because;
    return taken.outcome.fresh.empty() ? "known" : "";
  }
};

TEST_F(AnswerTest, APatchComesInLikeAnyonesIdea) {
  const TakenAnswer taken = take(patched(kGood));
  ASSERT_EQ(taken.outcome.fresh.size(), 1U);
  const model::Hypothesis& h = taken.outcome.fresh.front();
  EXPECT_EQ(h.origin, (model::Origin{"agent", "claude:sonnet"}));
  EXPECT_EQ(h.bottleneck, model::Bottleneck::kCompute);
  EXPECT_EQ(h.mechanism, "m");
  EXPECT_EQ(h.profile, "p-1");
  EXPECT_EQ(context_.ledger->hypothesis(h.id)->state, "live");
  EXPECT_EQ(refusal(patched(kGood)), "known");
}

// What a model that cheats may answer, and what it is told. None of it costs a run.
TEST_F(AnswerTest, CheatsAreRefusedForNothing) {
  const auto with = [](const char* kind, const char* name, const Json& value) {
    Json json = idea();
    json["change"][kind].push_back({{"name", name}, {"value", value}});
    return json;
  };
  Json greedy = with("args", "--batch", "16");
  greedy["cause"] = "input";
  greedy["expected_saving"] = 0.5;
  Json timid = with("args", "--batch", "16");
  timid["expected_saving"] = 0.0001;
  Json invented = with("args", "--batch", "16");
  invented["cause"] = "communication";
  Json twice = with("args", "--batch", "16");
  twice["change"]["args"].push_back({{"name", "--batch"}, {"value", "32"}});
  struct Cheat {
    const char* name;
    Json idea;
    const char* part;  // Of what it is told.
  };
  for (const Cheat& c : std::vector<Cheat>{
           {"edits a test", patched(diff("tests/test_work.py", "assert 1", "pass")),
            "tests/test_work.py: tests, checks"},
           {"edits the check", patched(diff("check.sh", "exit 0", "exit 1")), "touches check.sh"},
           {"edits what the spec denies", patched(diff("secret.py", "x = 1", "x = 2")),
            "touches secret.py"},
           {"edits what the spec does not list", patched(diff("setup.py", "a = 1", "a = 2")),
            "touches setup.py, and the spec's paths allow only: src, check.sh, secret.py"},
           {"edits what the work is read from",
            patched("--- a/src/work.py\n+++ b/src/work.py\n@@ -3 +3,2 @@\n     return seen\n"
                    "+    print('worked on 9 items')\n"),
            "'worked on'"},
           {"edits what is reported",
            patched("--- a/src/report.py\n+++ b/src/report.py\n@@ -1,2 +1,2 @@\n import os\n"
                    "-print(os.environ['AMDAHL_REPORT'])\n+print('AMDAHL_REPORT')\n"),
            "lines that report what the job did are frozen"},
           {"writes outside of the repo", patched(diff("../x.py", "a", "b")),
            "outside of the repo"},
           {"writes to /etc", patched("--- /dev/null\n+++ /etc/x\n@@ -0,0 +1 @@\n+x\n"), "etc/x"},
           {"writes into .git", patched(diff(".git/hooks/pre-commit", "a", "b")), "frozen"},
           {"makes a link",
            patched("diff --git a/src/l b/src/l\nnew file mode 120000\n--- /dev/null\n+++ b/src/l\n"
                    "@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"),
            "mode 120000"},
           {"does not apply", patched(diff("src/work.py", "nothing", "like it")), "does not apply"},
           {"is no diff", patched("rm -rf /"), "no unified diff"},
           {"is huge", patched(std::string(kGood) + std::string(100000, 'x')), "bytes"},
           {"loads code", with("env", "LD_PRELOAD", "/tmp/x.so"), "LD_PRELOAD"},
           {"redirects the report", with("env", "AMDAHL_REPORT", "/dev/null"), "AMDAHL_REPORT"},
           {"finds other modules", with("env", "PYTHONPATH", "/tmp"), "PYTHONPATH"},
           {"claims beyond the ceiling", greedy, "explains 20 % of the cost at most"},
           {"claims too little", timid, "less than is worth a test"},
           {"invents a cause", invented, "has no such cause"},
           {"sets a flag twice", twice, "set twice"},
           {"changes nothing", idea(), "the change is empty"},
           {"injects what is not there", with("inject", "make-it-fast", ""), "there is no fix"},
           {"removes a cause to look good", with("inject", "ceiling-input", ""),
            "can never be promoted"},
           {"holds a secret", with("args", "--token", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
            "secret"}}) {
    SCOPED_TRACE(c.name);
    const std::string told = refusal(c.idea);
    EXPECT_NE(told.find(c.part), std::string::npos) << told;
  }
  EXPECT_TRUE(context_.ledger->hypotheses("eval", "")->empty());
}

// One edit spelled in many ways: other context, headers, names, text around it, other files first.
class Spelling {
 public:
  explicit Spelling(unsigned seed) : state_{seed * 2654435761U + 1} {}

  // Replaces line `at` (from 0) of the lines by `to`.
  std::string of(const std::vector<std::string>& lines, std::size_t at, const std::string& to) {
    const std::size_t before = std::min<std::size_t>(at, 1 + draw(5));
    const std::size_t after = std::min<std::size_t>(lines.size() - at - 1, 1 + draw(5));
    std::string text;
    if (draw(2) == 0)
      text += "From: a model\nSubject: this is a new idea, number " + number() + "\n\n";
    if (draw(2) == 0)
      text += "diff --git a/src/many.py b/src/many.py\nindex 1" + number() + "..2" + number() +
              " 100644\n";
    const std::string when = draw(2) == 0 ? "\t2026-11-1" + std::to_string(draw(9)) : "";
    text += "--- a/src/many.py" + when + "\n+++ b/src/many.py" + when + "\n";
    text += fmt::format("@@ -{},{} +{},{} @@{}\n", at - before + 1, before + after + 1,
                        at - before + 1, before + after + 1, draw(2) == 0 ? " def f():" : "");
    for (std::size_t i = at - before; i < at; ++i) text += " " + lines[i] + "\n";
    text += "-" + lines[at] + "\n+" + to + "\n";
    for (std::size_t i = at + 1; i <= at + after; ++i) text += " " + lines[i] + "\n";
    if (draw(2) == 0) text += "-- \n2.39." + number() + "\n";
    return text;
  }

 private:
  unsigned draw(unsigned below) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 16U) % below;
  }
  std::string number() { return std::to_string(1000 + draw(9000)); }

  unsigned state_;
};

// Refuted patches come back in new spellings, with other titles and claims: none of them runs.
TEST_F(AnswerTest, RefutedPatchesDoNotComeBackInAnySpelling) {
  // Each asks git several times: a thousand take minutes (the slow test `spellings`).
  const char* asked = std::getenv("AMDAHL_SPELLINGS");
  const int spellings = asked ? std::atoi(asked) : 6;
  const int patches = asked ? 20 : 3;
  std::vector<std::string> lines;
  for (int i = 0; i < 100; ++i) lines.push_back(fmt::format("value_{} = {}", i, i));
  const std::string repo = (folder_ / "repo").string();
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  std::ofstream(repo + "/src/many.py") << text;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"add", "."},
           {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "many"}}) {
    std::vector<std::string> argv{"git", "-C", repo};
    argv.insert(argv.end(), words.begin(), words.end());
    ASSERT_TRUE(os::run_program({.argv = argv}, [](auto) -> Result<> { return Ok{}; }, {}));
  }
  const auto patch = [&](unsigned seed, int i) {
    return Spelling(seed).of(lines, static_cast<std::size_t>(i) * 5,
                             fmt::format("value_{} = {}", i * 5, i * 5 + 1000));
  };
  for (int i = 0; i < patches; ++i) {
    const TakenAnswer taken = take(patched(patch(0, i)));
    ASSERT_EQ(taken.outcome.fresh.size(), 1U)
        << (taken.refused.empty() ? patch(0, i) : taken.refused[0].because);
    const std::string id = taken.outcome.fresh.front().id;
    model::Experiment x;
    x.id = "x" + id;
    x.hypothesis = id;
    x.family = "eval";
    x.campaign = "c1";
    model::Verdict verdict;
    verdict.hypothesis = id;
    verdict.experiment = x.id;
    verdict.kind = model::VerdictKind::kRefuted;
    verdict.reason = "it skips work";
    ASSERT_EQ(say({{"experiment.registered", "cycle", x.id, encode(x)},
                   {"verdict.recorded", "cycle", id, encode(verdict)}}),
              "");
  }
  int fresh = 0;
  int known = 0;
  for (int n = 1; n <= spellings; ++n) {
    Json again = patched(patch(static_cast<unsigned>(n), n % patches));
    again["title"] = fmt::format("a wholly new idea {}", n);
    again["expected_saving"] = 0.02 + 0.9 * (n % 97) / 97.0;
    const TakenAnswer taken = take(again);
    fresh += static_cast<int>(taken.outcome.fresh.size());
    known += taken.outcome.known.contains("refuted") ? 1 : 0;
  }
  EXPECT_EQ(fresh, 0);
  EXPECT_EQ(known, spellings);
  EXPECT_TRUE(context_.ledger->hypotheses("eval", "live")->empty());
  // A person may ask for another try.
  const std::string first = context_.ledger->hypotheses("eval", "refuted")->front().hypothesis.id;
  ASSERT_EQ(say({{"hypothesis.reopened", "ada", first, {{"reason", "another machine"}}}}), "");
  EXPECT_EQ(refusal(patched(patch(7, 0))), "");
}

}  // namespace
}  // namespace amdahl::app
