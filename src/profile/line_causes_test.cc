#include "profile/line_causes.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "profile/cause_kinds.h"
#include "profile/device_facts.h"

namespace amdahl::profile {
namespace {

constexpr const char* kJob = R"(import torch
def main(model, loader):
    for batch in loader:
        out = model(batch)
        if torch.isnan(out).any():
            raise ValueError
        total = sum(v * v for v in rows(out))
        best = model(batch).max().item()
)";

LineCost cost(int line, double seconds, bool in_steps = true) {
  LineCost made;
  made.file = "/jobs/train.py";
  made.line = line;
  made.function = "main";
  made.in_steps = in_steps;
  made.seconds = seconds;
  return made;
}

struct Joined {
  model::Profile profile;
  std::vector<Finding> found;
  HotLines hot;
};

Joined join_lines(std::map<std::string, double> evidence, std::vector<model::Cause> causes,
                  const std::vector<LineCost>& lines) {
  const std::vector<code::Source> sources = {{"/jobs/train.py", kJob}};
  const code::Analysis analysis = code::analyse(sources);
  Joined joined;
  joined.profile.wall = std::chrono::seconds(10);
  joined.profile.accelerators = 1;
  joined.profile.evidence = std::move(evidence);
  joined.profile.causes = std::move(causes);
  joined.found = findings(analysis.findings, joined.profile, lines);
  joined.hot = hot_lines(lines, analysis.models);
  add_line_causes(joined.found, joined.profile);
  return joined;
}

model::Cause cause_of_share(const CauseKind& kind, model::Bottleneck bottleneck, double share) {
  model::Cause made;
  set_kind(made, kind);
  made.bottleneck = bottleneck;
  made.share = share;
  return made;
}

std::string shown_causes(const Joined& joined) {
  std::vector<std::string> words;
  for (const model::Cause& cause : joined.profile.causes) {
    const Finding* behind = finding_behind(joined.found, cause);
    words.push_back(fmt::format("{} {} {:.2f} @{}", name(cause.bottleneck), cause.name, cause.share,
                                behind ? behind->code.line : 0));
  }
  return join(words, "; ");
}

TEST(LineCauses, ALineThatNoCauseHoldsIsOne) {
  const auto joined =
      join_lines({}, {cause_of_share(causes::kStartup, model::Bottleneck::kLifecycle, 0.2)},
                 {cost(4, 3), cost(5, 4)});
  EXPECT_EQ(shown_causes(joined),
            "sync range check in the code 0.40 @5; lifecycle start-up 0.20 @0");
  EXPECT_EQ(joined.profile.bottleneck, model::Bottleneck::kSync);
  EXPECT_EQ(joined.profile.rule,
            "largest cause: range check in the code 40 %, speed-up at most 1.82x (its line took "
            "4.00 s of 10.0 s)");
}

TEST(LineCauses, ACauseThatHoldsTheLineIsToldOnce) {
  const auto joined = join_lines(
      {{"serial_share", 0.5}}, {cause_of_share(causes::kHostWork, model::Bottleneck::kSerial, 0.5)},
      {cost(5, 4)});
  EXPECT_EQ(shown_causes(joined), "serial CPU work between launches 0.50 @5");
  EXPECT_EQ(advice_on(joined.found, joined.profile.causes.front(), Framework::kTorch),
            "check every N steps, or accumulate on the device and check once");
}

TEST(LineCauses, ALineThatWaitsForTheDeviceGainsNoMoreThanTheDeviceIsIdle) {
  const auto joined =
      join_lines({{kDeviceComputes, 0.7}},
                 {cause_of_share(causes::kDeviceWait, model::Bottleneck::kSync, 0.1),
                  cause_of_share(causes::kExposedCopies, model::Bottleneck::kInput, 0.2)},
                 {cost(5, 8)});
  EXPECT_EQ(shown_causes(joined),
            "sync range check in the code 0.30 @5; input copies that nothing hides 0.20 @0")
      << "one wait is told once";
  EXPECT_EQ(joined.profile.causes[0].because,
            "its line took 8.00 s of 10.0 s, limited to the 30 % of the time in which the device "
            "did not compute");
}

TEST(LineCauses, ACauseLimitsNoFixThatReachesFurther) {
  std::vector<model::Cause> causes = {
      cause_of_share(causes::kHostWork, model::Bottleneck::kSerial, 0.3)};
  causes[0].ceiling = 1 / 0.7;
  const auto joined = join_lines({{"serial_share", 0.3}}, causes, {cost(5, 4)});
  EXPECT_EQ(shown_causes(joined), "serial CPU work between launches 0.30 @5");
  EXPECT_NEAR(joined.profile.causes[0].ceiling, 1 / 0.55, 1e-9) << "0.4, and what it holds up";
}

TEST(LineCauses, ALineThatRunsTheModelTooIsNotBlamedForIt) {
  const auto joined = join_lines({{"serial_share", 0.3}}, {}, {cost(8, 6)});
  EXPECT_EQ(shown_causes(joined), "");
  EXPECT_TRUE(joined.found.empty());
  // A device that waits for the host tells.
  const auto told = join_lines({{"sync_share", 0.3}}, {}, {cost(8, 6)});
  ASSERT_EQ(told.found.size(), 1U);
  EXPECT_EQ(told.found.front().because, "sync_share 30 % of 10.0 s");
}

TEST(LineCauses, ALineThatTookLittleIsNoCause) {
  EXPECT_EQ(shown_causes(join_lines({}, {}, {cost(5, 0.4)})), "");
}

TEST(LineCauses, ALineThatImportsIsNotWhatTheStartWentTo) {
  std::vector<LineCost> lines = {cost(1, 5, false), cost(2, 3, false)};
  lines[0].imports = true;
  const auto joined =
      join_lines({}, {cause_of_share(causes::kStartup, model::Bottleneck::kLifecycle, 0.8)}, lines);
  EXPECT_EQ(hot_line_of(joined.hot, joined.profile.causes.front(), 10),
            "train.py:2 (main) took 3.00 s of it");
}

TEST(LineCauses, TheHottestLineOutsideOfTheModelStandsForACauseWithoutAFinding) {
  const std::vector<LineCost> lines = {cost(4, 4), cost(7, 3), cost(1, 2, false)};
  const auto joined =
      join_lines({},
                 {cause_of_share(causes::kHostWork, model::Bottleneck::kSerial, 0.4),
                  cause_of_share(causes::kStartup, model::Bottleneck::kLifecycle, 0.2),
                  cause_of_share(causes::kInputWait, model::Bottleneck::kInput, 0.1)},
                 lines);
  std::vector<std::string> hot;
  for (const model::Cause& one : joined.profile.causes) {
    hot.push_back(hot_line_of(joined.hot, one, 10));
  }
  EXPECT_EQ(hot, (std::vector<std::string>{"train.py:7 (main) took 3.00 s of it",
                                           "train.py:1 (main) took 2.00 s of it", ""}));
}

TEST(LineCauses, AWaitForLoadersNamesTheLineThatTheyWereAt) {
  HotLines hot;
  hot.loader = LoaderLine{{"/job/data.py", 14, "decode"}, 12, 0.8};
  const auto input = cause_of_share(causes::kInputWait, model::Bottleneck::kInput, 0.5);
  EXPECT_EQ(hot_line_of(hot, input, 10),
            "data.py:14 (decode) took 80 % of the loaders' time, 12.0 s");
  EXPECT_EQ(hot_line_of(
                hot, cause_of_share({"another", "CPU work"}, model::Bottleneck::kSerial, 0.5), 10),
            "");
  hot.loader->share = 0.1;
  EXPECT_EQ(hot_line_of(hot, input, 10), "") << "a tenth is no answer";
}

TEST(LineCauses, ALineOfAnotherPhaseOrWithMoreTimeThanTheCauseIsNotOfIt) {
  std::vector<LineCost> lines = {cost(1, 1.5, false), cost(2, 4, false), cost(7, 3), cost(6, 1)};
  lines[0].imports = true;
  lines[2].in_input = true;
  const auto hot = hot_lines(lines, {});
  const auto line = [&](const CauseKind& kind, model::Bottleneck bottleneck, double share) {
    return hot_line_of(hot, cause_of_share(kind, bottleneck, share), 10);
  };
  EXPECT_EQ(line(causes::kImports, model::Bottleneck::kLifecycle, 0.2),
            "train.py:1 (main) took 1.50 s of it");
  EXPECT_EQ(line(causes::kStartup, model::Bottleneck::kLifecycle, 0.5),
            "train.py:2 (main) took 4.00 s of it");
  EXPECT_EQ(line(causes::kInputWait, model::Bottleneck::kInput, 0.3),
            "train.py:7 (main) took 3.00 s of it");
  EXPECT_EQ(line(causes::kHostWork, model::Bottleneck::kSerial, 0.1),
            "train.py:6 (main) took 1.00 s of it");
  EXPECT_EQ(line(causes::kHostWork, model::Bottleneck::kSerial, 0.05), "");
}

}  // namespace
}  // namespace amdahl::profile
