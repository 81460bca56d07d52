#include "app/patches.h"

#include <algorithm>

#include <fmt/core.h>

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
  const int untestable = without_repo + without_build;
  if (untestable > 0) {
    result.untestable = fmt::format("{} cannot be tested: add {} = ... to the spec of {}",
                                    counted(untestable, "patch", "patches"),
                                    without_repo > 0 ? "repo" : "build", family.name);
  }
  return result;
}

}  // namespace amdahl::app
