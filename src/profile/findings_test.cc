#include "profile/findings.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "profile/testing.h"
#include "source_dir.h"

namespace amdahl::profile {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = AMDAHL_SOURCE_DIR;

std::vector<code::Finding> example(const std::string& folder, const std::string& entry = "") {
  std::vector<code::Source> sources;
  for (const auto& file : fs::directory_iterator(kRoot / "examples" / folder)) {
    const std::string path = fs::relative(file.path(), kRoot).string();
    if (!code::language_of(path)) continue;
    std::ifstream in(file.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    sources.push_back({path, text.str()});
  }
  std::ranges::sort(sources, {}, &code::Source::path);
  return code::analyse(sources, entry.empty() ? "" : fmt::format("examples/{}/{}", folder, entry))
      .findings;
}

std::vector<code::Finding> findings_of(const std::string& text) {
  const std::vector<code::Source> sources = {{"job.py", text}};
  return code::analyse(sources).findings;
}

std::string shown(const std::vector<Finding>& all) {
  std::vector<std::string> words;
  for (const Finding& finding : all) {
    words.push_back(fmt::format("{}@{} {:.3g}s{}", finding.code.rule, finding.code.line,
                                finding.accelerator_seconds, finding.measured ? "!" : ""));
  }
  return join(words, " ");
}

// The line with this text, as the example has it now.
int line_of(const std::string& file, const std::string& text) {
  std::ifstream in(kRoot / file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find(text) != line.npos) return number;
  }
  ADD_FAILURE() << file << " has no '" << text << "'";
  return 0;
}

const std::string kLoop =
    "for batch in loader:\n  loss = model(batch)\n  total += loss.item()\n  "
    "torch.cuda.synchronize()"
    "\n";

TEST(Findings, NoneWithoutACost) {
  EXPECT_EQ(shown(findings(findings_of(kLoop), profile_of({}), {})), "");
  EXPECT_EQ(shown(findings(findings_of(kLoop), profile_of({{"sync_share", 0.004}}), {})), "");
  EXPECT_EQ(shown(findings(findings_of(kLoop), profile_of({{"input_wait_share", 0.5}}), {})), "")
      << "another cause's cost is not theirs";
}

TEST(Findings, TheCausesTimeIsTheMostThatEachCouldExplain) {
  const auto all = findings(findings_of(kLoop), profile_of({{"sync_share", 0.3}}), {});
  EXPECT_EQ(shown(all), "scalar-sync@3 6s synchronize@4 6s");
  EXPECT_EQ(all[0].because, "sync_share 30 % of 10.0 s; 1 other finding may explain the same time");
  EXPECT_NEAR(all[0].ceiling, 1 / 0.7, 1e-9);
  EXPECT_EQ(all[0].cause, "sync_share");
  EXPECT_FALSE(change_of(all[1]).patch.empty());
  EXPECT_FALSE(change_of(all[1]).needs_build);
  EXPECT_TRUE(model::is_empty(change_of(all[0])));
}

// Gradients are recorded inside of every operator: what they cost there is no part of the line's
// cause, and goes with it.
TEST(Findings, WhatAFixTouchesBesidesRaisesItsCeilingAlone) {
  const struct {
    const char* text;
    const char* rule;
    std::map<std::string, double> evidence;
    double share;
    double reached;
  } cases[] = {
      {"model.eval()\nfor b in loader:\n  model(b)\n",
       "inference-mode",
       {{"serial_share", 0.3},
        {"compute_share", 0.4},
        {"teardown_share", 0.1},
        {"hook.grad_enabled_share", 1}},
       0.3,
       0.8},
      {"torch.set_num_threads(16)\n",
       "thread-count",
       {{"own_threads_share", 0.2}, {"compute_share", 0.5}, {"threads_per_cpu", 8}},
       0.2,
       0.7},
      {"class D:\n  def __getitem__(self, i):\n    return Image.open(self.paths[i])\n",
       "decode",
       {{"input_wait_share", 0.25}, {"own_threads_share", 0.25}},
       0.25,
       0.5},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.rule);
    const auto all = findings(findings_of(c.text), profile_of(c.evidence), {});
    const auto found =
        std::ranges::find(all, c.rule, [](const Finding& finding) { return finding.code.rule; });
    ASSERT_NE(found, all.end());
    EXPECT_NEAR(found->share, c.share, 1e-9);
    EXPECT_NEAR(found->expected, 1 / (1 - c.share), 1e-9);
    EXPECT_NEAR(found->ceiling, 1 / (1 - c.reached), 1e-9);
  }
}

TEST(Findings, WhatOthersTookMeanwhileLowersNoCeiling) {
  const auto all = findings(
      findings_of(kLoop),
      profile_of({{"sync_share", 0.25}, {"cpu_wait_share", 0.5}, {"foreign_cpu_cores", 2}}), {});
  ASSERT_FALSE(all.empty());
  EXPECT_NEAR(all[0].expected, 1 / 0.75, 1e-9);
  EXPECT_NEAR(all[0].ceiling, 2, 1e-9);
}

TEST(Findings, TimedLinesSpeakForThemselves) {
  const std::vector<LineCost> lines = {{.file = "/home/a/job.py",
                                        .line = 3,
                                        .function = "<module>",
                                        .in_steps = true,
                                        .seconds = 2}};
  const auto all = findings(findings_of(kLoop), profile_of({{"sync_share", 0.3}}), lines);
  EXPECT_EQ(shown(all), "scalar-sync@3 4s!") << "the other line took nothing";
  EXPECT_EQ(all[0].because, "its line took 2.00 s of 10.0 s");
  const std::vector<LineCost> elsewhere = {{"/home/a/other_job.py", 3, "", true, 2}};
  EXPECT_EQ(shown(findings(findings_of(kLoop), profile_of({}), elsewhere)), "");
}

TEST(Findings, AFunctionsTimeCountsForWhatItHolds) {
  const auto found =
      findings_of("def step(x):\n  y = model(x)\n  return y.item()\nfor x in loader:\n  step(x)\n");
  const std::vector<LineCost> lines = {{"job.py", 1, "step", true, 5}};
  EXPECT_EQ(shown(findings(found, profile_of({}), lines)), "scalar-sync@3 10s!");
}

TEST(Findings, OneHabitInOneFunctionIsOne) {
  const auto found = findings_of(
      "def step(x):\n  y = model(x)\n  a = y.item()\n  b = x.item()\n  return a + b\n"
      "for x in loader:\n  step(x)\n");
  const std::vector<LineCost> lines = {{"job.py", 3, "", true, 1}, {"job.py", 4, "", true, 2}};
  const auto all = findings(found, profile_of({}), lines);
  EXPECT_EQ(shown(all), "scalar-sync@4 6s!");
  EXPECT_EQ(all[0].more_lines, (std::vector<int>{3}));
  EXPECT_EQ(all[0].because, "lines 3, 4 took 3.00 s of 10.0 s");
}

TEST(Findings, SettingsAreJudgedByWhatTheyCause) {
  const auto found = findings_of("torch.set_num_threads(8)\nloader = DataLoader(data)\n");
  const std::vector<LineCost> lines = {{"job.py", 9, "", true, 9}};
  EXPECT_EQ(shown(findings(found, profile_of({{"input_wait_share", 0.2}}), lines)),
            "loader-workers@2 4s");
  EXPECT_EQ(shown(findings(found, profile_of({{"own_threads_share", 0.2}}), lines)), "")
      << "it is not said that they are its own threads";
  EXPECT_EQ(shown(findings(found, profile_of({{"own_threads_share", 0.2}, {"threads_per_cpu", 4}}),
                           lines)),
            "thread-count@1 4s");
}

TEST(Findings, MoreWorkersOfAStreamAreNoPatch) {
  const auto found = findings_of("loader = DataLoader(data)\n");
  std::map<std::string, double> seen = {
      {"input_wait_share", 0.2}, {"hook.loader_workers", 0}, {"hook.dataset_len", 100}};
  EXPECT_NE(findings(found, profile_of(seen), {}).at(0).code.patch, "");
  seen.erase("hook.dataset_len");
  const Finding stream = findings(found, profile_of(seen), {}).at(0);
  EXPECT_EQ(stream.code.patch, "");
  EXPECT_TRUE(stream.code.suggestion.ends_with("(torch.utils.data.get_worker_info())"));
}

TEST(Findings, WhatALineTookWhileABatchWasMadeIsInput) {
  const auto found = findings_of("class D:\n  def __getitem__(self, i):\n    time.sleep(1)\n");
  std::vector<LineCost> lines = {{"job.py", 3, "", true, 5}};
  const auto profile = profile_of({{"serial_share", 0.1}, {"input_wait_share", 0.5}});
  EXPECT_EQ(findings(found, profile, lines).at(0).cause, "serial_share");
  lines[0].in_input = true;
  EXPECT_EQ(findings(found, profile, lines).at(0).cause, "input_wait_share");
}

// Without workers all that the step's own thread decodes shows at its line.
TEST(Findings, WhatTheStepDecodesMustHaveTakenTime) {
  const auto found = findings_of("for x in loader:\n  model(x, json.load(x))\n  y = 1\n");
  std::map<std::string, double> seen = {{"input_wait_share", 0.2}, {"hook.loader_workers", 0}};
  const std::vector<LineCost> lines = {{"job.py", 3, "", true, 1}};
  EXPECT_EQ(shown(findings(found, profile_of(seen), lines)), "");
  seen["hook.loader_workers"] = 2;
  EXPECT_EQ(shown(findings(found, profile_of(seen), lines)), "decode@2 4s");
}

// A file may define several loaders and data sets, of which a run makes one.
TEST(Findings, OnlyLoadersAndDataSetsThatRanAreFound) {
  const auto found = findings_of(
      "class A:\n  def __getitem__(self, i):\n    return json.load(open(i))\n"
      "class B:\n  def __getitem__(self, i):\n    return i * 2\n"
      "def files():\n  return DataLoader(A())\n"
      "def made():\n  return DataLoader(\n    B())\n");
  const auto profile = profile_of({{"input_wait_share", 0.2}, {"hook.loader_workers", 0}});
  EXPECT_EQ(shown(findings(found, profile, {})),
            "decode@3 4s loader-workers@8 4s loader-workers@10 4s");
  std::vector<LineCost> lines = {{"/home/a/job.py", 6, "__getitem__", true, 1}};
  lines[0].in_input = true;
  lines.push_back({"/home/a/job.py", 10, "made", false, 0});
  lines[1].makes_loader = true;
  EXPECT_EQ(shown(findings(found, profile, lines)), "loader-workers@10 4s");
}

TEST(Findings, ImportsArePartOfTheHooksStartAndNotOfTheJobsPhase) {
  const auto found = findings_of("for path in paths:\n  open(path)\n");
  const std::map<std::string, double> hook = {{"startup_share", 0.5}, {"import_share", 0.4}};
  EXPECT_EQ(shown(findings(found, profile_of(hook), {})), "startup-reads@2 2s");
  auto phases = hook;
  phases["phase.startup.share"] = 0.5;
  EXPECT_EQ(shown(findings(found, profile_of(phases), {})), "startup-reads@2 10s");
}

TEST(Findings, TheOfflineEvaluationsLinesAreNamedByTheirTime) {
  const std::string file = "examples/offline_eval/evaluate.py";
  const std::string absolute = (kRoot / file).string();
  const std::vector<LineCost> lines = {
      {absolute, line_of(file, "not torch.isfinite(values)"), "check_range", true, 2.0},
      {absolute, line_of(file, "cross_entropy(logits"), "run_step", true, 0.5},
      {absolute, line_of(file, "import torch.utils.benchmark"), "import_everything", false, 1.0},
      {absolute, line_of(file, "logits, outputs = self.model"), "run_step", true, 4.0}};
  const auto all = findings(example("offline_eval", "evaluate.py"),
                            profile_of({{"sync_share", 0.2},
                                        {"logging_share", 0.06},
                                        {"import_share", 0.1},
                                        {"input_wait_share", 0.15}}),
                            lines);
  EXPECT_EQ(shown(all),
            fmt::format("range-check@{} 4s! decode@{} 3s loader-workers@{} 3s unused-import@{} 2s! "
                        "logged-scalar@{} 1s!",
                        lines[0].line, line_of(file, "with Image.open(path) as image:"),
                        line_of(file, "return DataLoader("), lines[2].line, lines[1].line));
}

TEST(Findings, TheDeviceQueuesLinesAreNamedByTheirCause) {
  const auto all =
      findings(example("device_queue"), profile_of({{"sync_share", 0.4}, {"copy_share", 0.1}}), {});
  std::vector<std::string> functions;
  for (const Finding& finding : all) functions.push_back(finding.code.function);
  EXPECT_EQ(functions, (std::vector<std::string>{"Scoring.retire", "Network.check_range",
                                                 "Network.read_sum", "Scoring.upload"}));
}

TEST(Findings, TheTunedJobHasNone) {
  EXPECT_EQ(shown(findings(example("tuned"), profile_of({{"compute_share", 0.97}}), {})), "");
  EXPECT_EQ(shown(findings(example("tuned"),
                           profile_of({{"own_threads_share", 0.2}, {"threads_per_cpu", 1}}), {})),
            "")
      << "others are to blame";
}

TEST(Findings, PlacesOfGapsAreLines) {
  DeviceGaps gaps;
  gaps.places.push_back({.why = Why::kHost,
                         .what = "x",
                         .line = "/a/train.py:42 (main)",
                         .time = std::chrono::seconds(3),
                         .times = 1});
  gaps.places.push_back(
      {.why = Why::kHost, .what = "y", .line = "", .time = std::chrono::seconds(1), .times = 1});
  const auto costs = line_costs(gaps);
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0], (LineCost{"/a/train.py", 42, "main", true, 3.0}));
}

}  // namespace
}  // namespace amdahl::profile
