#include "app/patches.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include <fmt/core.h>

#include "app/builds.h"
#include "base/count.h"
#include "hypothesize/propose.h"
#include "profile/ceiling.h"

namespace amdahl::app {
namespace {

constexpr double kLargestShare = 0.99;  // Nothing makes a job free.
// What stays of a line's time when it is patched: most patches take the line out.
constexpr double kOfMeasured = 0.8;
constexpr double kOfCause = 0.5;
constexpr double kPriorOfMeasured = 0.5;
constexpr double kPriorOfCause = 0.2;

// "jobs/train.py", as the patch names it.
std::string file_of(const std::string& patch) {
  constexpr std::string_view kHead = "--- a/";
  if (!patch.starts_with(kHead)) return "";
  return patch.substr(kHead.size(), patch.find('\n') - kHead.size());
}

Result<model::Hypothesis> idea_of(const ledger::Family& family, const model::Profile& profile,
                                  const profile::Finding& finding, std::string_view hardware) {
  const std::string place = fmt::format("{}:{}", file_of(finding.code.patch), finding.code.line);
  model::Hypothesis idea = TRY(hypothesize::from_change(
      family.spec, family.baseline, profile::change_of(finding),
      {std::string(kFromCode), fmt::format("{} {}", finding.code.rule, place)}, hardware));
  idea.bottleneck = profile::acts_on(finding);
  idea.title = fmt::format("patch {}: {}", place, finding.code.rule);
  idea.mechanism = fmt::format("{}: {}. To try: {}.", finding.code.finds, finding.because,
                               finding.code.suggestion);
  const double error = std::max(profile::kUnseen, profile::taken_by_others(profile.evidence));
  const double reached = std::max(finding.share + error, profile::share_of(finding.ceiling));
  idea.ceiling_share = std::min(kLargestShare, reached);
  idea.predicted_gain =
      finding.share * (finding.measured ? kOfMeasured : kOfCause / (1 + finding.sharing));
  idea.predicted_gain = std::min(idea.predicted_gain, idea.ceiling_share);
  idea.prior = finding.measured ? kPriorOfMeasured : kPriorOfCause;
  idea.profile = profile.id;
  return idea;
}

// What a compiler could do for a program: by what its makefile asks for now.
struct Compiled {
  std::string_view before;
  double gain;
  double prior;
};
constexpr auto kCompiled = std::to_array<Compiled>({{"", 0.5, 0.7},
                                                    {"-O0", 0.5, 0.7},
                                                    {"-Og", 0.3, 0.6},
                                                    {"-O3", 0.08, 0.3},
                                                    {"-Ofast", 0.08, 0.3}});
constexpr Compiled kOtherLevel{"-O2", 0.12, 0.35};
constexpr double kFreeGain = 0.2;  // Sums in any order, besides.
constexpr double kFreePrior = 0.3;

struct Build {
  code::Rounding rounding;
  const char* title;
  const char* mechanism;
};
constexpr auto kBuilds = std::to_array<Build>(
    {{code::Rounding::kSame, "compiled for speed and for this machine",
      "With -O3 -march=native its loops use the machine's wide registers; -ffp-contract=off keeps "
      "each rounding, so that results are the same bytes."},
     {code::Rounding::kFree, "compiled for speed, with sums in any order",
      "With -Ofast -march=native loops that add up use the machine's wide registers, too. Sums are "
      "rounded otherwise: outputs must be the same bytes, or a quality metric within its "
      "tolerance."}});

// One for each way to build it.
std::vector<model::Hypothesis> faster_builds_of(const ledger::Family& family,
                                                const model::Profile& profile,
                                                std::string_view hardware) {
  std::vector<model::Hypothesis> ideas;
  for (const Build& build : kBuilds) {
    const auto faster = faster_build_of(family.spec, build.rounding);
    if (!faster) continue;
    model::Change change;
    change.patch = faster->patch;
    change.needs_build = true;
    const std::string place = fmt::format("{}:{}", faster->path, faster->line);
    auto made =
        hypothesize::from_change(family.spec, family.baseline, change,
                                 {std::string(kFromCode), "faster-build " + place}, hardware);
    if (!made) continue;
    model::Hypothesis idea = *std::move(made);
    const auto row = std::ranges::find(kCompiled, faster->before, &Compiled::before);
    const Compiled& known = row == kCompiled.end() ? kOtherLevel : *row;
    const bool is_free = build.rounding == code::Rounding::kFree;
    idea.bottleneck = model::Bottleneck::kCompute;
    idea.title = fmt::format("patch {}: {}", place, build.title);
    idea.mechanism =
        fmt::format("The program is compiled with {}. {}",
                    faster->before.empty() ? "no optimisation" : faster->before, build.mechanism);
    idea.predicted_gain = known.gain + (is_free ? kFreeGain : 0);
    idea.ceiling_share = kLargestShare;
    idea.prior = is_free ? std::min(known.prior, kFreePrior) : known.prior;
    idea.profile = profile.id;
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

}  // namespace

PatchIdeas ideas_from(const ledger::Family& family, const model::Profile& profile,
                      std::span<const profile::Finding> findings, std::string_view hardware,
                      double min_gain) {
  PatchIdeas result;
  int without_repo = 0;
  int without_build = 0;
  for (const profile::Finding& finding : findings) {
    if (finding.code.patch.empty()) continue;
    if (family.spec.repo.empty()) {
      ++without_repo;
    } else if (profile::change_of(finding).needs_build && family.spec.build.empty()) {
      ++without_build;
    } else if (auto idea = idea_of(family, profile, finding, hardware);
               idea && idea->predicted_gain >= min_gain) {
      result.ideas.push_back(*std::move(idea));
    }
  }
  std::ranges::move(faster_builds_of(family, profile, hardware), std::back_inserter(result.ideas));
  const int untestable = without_repo + without_build;
  if (untestable > 0) {
    result.untestable = fmt::format("{} cannot be tested: add {} = ... to the spec of {}",
                                    counted(untestable, "patch", "patches"),
                                    without_repo > 0 ? "repo" : "build", family.name);
  }
  return result;
}

}  // namespace amdahl::app
