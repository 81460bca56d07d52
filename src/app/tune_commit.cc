#include "app/tune_commit.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "app/job_profile.h"
#include "app/pairs.h"
#include "base/count.h"
#include "base/text.h"
#include "code/commit.h"
#include "compare/compare.h"
#include "observe/fixes.h"
#include "os/files.h"
#include "stats/promise.h"
#include "stats/tests.h"

namespace amdahl::app {
namespace {

// Of what the injection saves: so much less is as good, where that is more than what matters.
constexpr double kAsGood = 0.1;
constexpr int kRounds = 3;

// Where the fix acted, in a run of its own experiment.
Result<std::vector<std::string>> places_of(Context& context, const model::Hypothesis& won,
                                           const std::string& fix) {
  const auto verdict = TRY(context.ledger->verdict(won.id));
  if (!verdict || verdict->experiment.empty()) return std::vector<std::string>{};
  for (const model::Pair& run : TRY(context.ledger->runs_of(verdict->experiment))) {
    if (!run.fact || run.fact->voided) continue;
    const auto receipts = context.launcher->collect(ref_of(run));
    if (!receipts) continue;  // Cleaned up.
    const auto further = static_cast<std::size_t>(std::max(2, run.arm)) - 2;
    const bool shares = run.arm >= 2 && further < receipts->more.size();
    const auto& receipt = shares ? receipts->more[further] : receipts->b;
    if (!receipt) continue;
    for (const model::Engagement& engagement : receipt->injected) {
      if (engagement.fix == fix && engagement.times > 0) return engagement.where;
    }
  }
  return std::vector<std::string>{};
}

// The baseline with the edit in place of the injection.
model::Change replaced(const model::Change& baseline, const std::string& fix,
                       const model::Change& edit) {
  model::Change other = baseline;
  other.inject.erase(fix);
  return combine(other, edit);
}

CommitTest judged(const model::Spec& spec, const std::vector<model::Pair>& pairs, double saving,
                  std::string patch) {
  CommitTest test;
  std::vector<double> ratios;
  for (const model::Pair& pair : pairs) {
    if (const auto ratio = compare::log_ratio(*pair.fact, spec)) ratios.push_back(*ratio);
  }
  if (ratios.size() < 2) {
    test.because = "its pairs against the injection could not be measured";
    return test;
  }
  const stats::MeanInterval found = stats::mean_interval(ratios);
  const auto share = [](double d) { return show_percent(1 - std::exp(-d)); };
  const double less = std::max(stats::kSmallestGain, kAsGood * saving);
  test.is_same = found.lower > -less;
  test.is_worse = found.upper < -less;
  test.patch = std::move(patch);
  test.because = fmt::format(
      "against the injection it saves {} ({} to {}, {}){}", share(found.mean), share(found.lower),
      share(found.upper), counted(static_cast<std::int64_t>(ratios.size()), "pair"),
      test.is_same ? "" : fmt::format("; it must be shown to lose less than {}", share(less)));
  return test;
}

}  // namespace

Result<CommitTest> test_commit(Context& context, const ledger::Family& family,
                               const model::Hypothesis& won, const StackOptions& options,
                               const std::function<bool()>& has_time) {
  if (won.change.inject.size() != 1 || family.spec.repo.empty()) return CommitTest{};
  const auto& [fix, value] = *won.change.inject.begin();
  const std::vector<std::string> places = TRY(places_of(context, won, fix));
  if (places.empty()) return CommitTest{};
  std::vector<code::Source> sources = sources_of(family.spec, {});
  // Trees of earlier patches are copies of the same files.
  const std::string ours = os::absolute(context.config.state_dir) + "/";
  std::erase_if(sources, [&](const code::Source& source) { return source.path.starts_with(ours); });
  model::Change edit;
  edit.patch = code::commit_for({fix, value, places}, sources);
  edit.needs_build = observe::needs_preload(won.change.inject);  // A compiled program's.
  if (edit.patch.empty() || (edit.needs_build && family.spec.build.empty())) return CommitTest{};
  const model::Change other = replaced(family.baseline, fix, edit);
  const auto aim = aim_at(family, other);
  if (!aim) return CommitTest{};
  options.say(fmt::format("tests an edit of the source in place of '{}'", won.title));
  const auto verdict = TRY(context.ledger->verdict(won.id));
  const double saving = verdict && verdict->comparison ? verdict->comparison->effect : 0;
  CommitTest test;
  StackOptions more = options;
  // Few pairs tell where the difference is clear; where they do not, as many again are run, twice.
  for (int round = 0; round < kRounds && !test.is_same && !test.is_worse; ++round) {
    const std::vector<model::Pair> pairs =
        TRY(run_arms(context, family, {*aim, family.baseline, other}, more));
    test = judged(family.spec, pairs, saving, edit.patch);
    const bool cut_short = static_cast<int>(pairs.size()) < more.pairs;
    if (cut_short || !has_time()) break;
    more.pairs += options.pairs;
  }
  return test;
}

}  // namespace amdahl::app
