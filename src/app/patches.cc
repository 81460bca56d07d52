#include "app/patches.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "base/count.h"
#include "code/makefile.h"
#include "code/patch.h"
#include "hypothesize/propose.h"
#include "os/files.h"
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

// make -s -C FOLDER TARGET, as the draft of a spec has it; nothing to gain for any other build.
std::optional<model::Hypothesis> faster_build_of(const ledger::Family& family,
                                                 const model::Profile& profile,
                                                 std::string_view hardware) {
  namespace fs = std::filesystem;
  const model::Spec& spec = family.spec;
  if (spec.repo.empty() || spec.build.size() != 5 || spec.build[2] != "-C") return std::nullopt;
  for (const std::string_view name : code::kMakefiles) {
    const std::string path = (fs::path(spec.build[3]) / name).lexically_normal().string();
    const auto makefile = os::read_file((fs::path(spec.repo) / path).string());
    if (!makefile) continue;
    const auto faster = code::faster_build(*makefile, spec.build[4]);
    if (!faster) return std::nullopt;
    model::Change change;
    change.patch = code::unified_diff(path, *makefile, faster->edits);
    change.needs_build = true;
    const std::string place = fmt::format("{}:{}", path, faster->line);
    auto made = hypothesize::from_change(
        spec, family.baseline, change, {std::string(kFromCode), "faster-build " + place}, hardware);
    if (!made) return std::nullopt;
    model::Hypothesis idea = *std::move(made);
    const auto row = std::ranges::find(kCompiled, faster->before, &Compiled::before);
    const Compiled& known = row == kCompiled.end() ? kOtherLevel : *row;
    idea.bottleneck = model::Bottleneck::kCompute;
    idea.title = fmt::format("patch {}: compiled for speed and for this machine", place);
    idea.mechanism = fmt::format(
        "The program is compiled with {}. With -O3 -march=native its loops use the machine's wide "
        "registers; -ffp-contract=off keeps each rounding, so that results are the same bytes.",
        faster->before.empty() ? "no optimisation" : faster->before);
    idea.predicted_gain = known.gain;
    idea.ceiling_share = kLargestShare;
    idea.prior = known.prior;
    idea.profile = profile.id;
    return idea;
  }
  return std::nullopt;
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
  if (auto idea = faster_build_of(family, profile, hardware)) {
    result.ideas.push_back(*std::move(idea));
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
