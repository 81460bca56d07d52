#include "app/canary.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/fleet.h"
#include "app/production.h"
#include "app/promote.h"
#include "base/text.h"
#include "canary/canary.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "os/host.h"

namespace amdahl::app {
namespace {

using model::CanaryState;

constexpr int kSeedDigits = 16;

CanaryView view_of(Context& context, ledger::CanaryRow row) {
  CanaryView view;
  view.row = std::move(row);
  view.result.hypothesis = view.row.canary.hypothesis;
  if (view.row.state == CanaryState::kOpen) {
    WatchedRuns watched =
        watched_runs(context.config.state_dir, view.row.canary.family, context.clock->unix_time());
    view.result = canary::judge(view.row.canary, watched.runs);
    view.unreadable = std::move(watched.unreadable);
  } else if (view.row.result) {
    view.result = *view.row.result;
  }
  return view;
}

// The predicted share is booked again as it was: an entry has both.
std::vector<ledger::Draft> closing(const model::Canary& canary, const model::CanaryResult& result,
                                   const std::string& actor) {
  std::vector<ledger::Draft> drafts{{"canary.closed", actor, canary.hypothesis, encode(result)}};
  if (result.comparison.pairs == 0) return drafts;
  drafts.push_back({"saving.booked",
                    actor,
                    canary.hypothesis,
                    {{"family", canary.family},
                     {"predicted_share", -std::expm1(-canary.promised)},
                     {"realised_share", -std::expm1(-result.comparison.effect)}}});
  return drafts;
}

Result<> close_decided(Context& context, const Say& say, std::int64_t fence) {
  for (const ledger::CanaryRow& row : TRY(context.ledger->canaries_in(CanaryState::kOpen))) {
    const model::CanaryResult result = view_of(context, row).result;
    if (result.outcome == CanaryState::kOpen) continue;
    TRY(context.ledger->append(closing(row.canary, result, "cycle"), fence));
    std::string text =
        fmt::format("{}: the canary of {} ended, {}: {}", row.canary.family, row.canary.hypothesis,
                    model::name(result.outcome), result.because);
    if (result.outcome == CanaryState::kRollbackProposed) {
      text += fmt::format("; {}", rollback_hint(row.canary.hypothesis));
    }
    if (say) say(text);
  }
  return Ok{};
}

Result<> roll_back_by_policy(Context& context, const Say& say, std::int64_t fence) {
  const GatePolicy* policy = TRY(gate_policy(context.config.gate_policy));
  if (!policy || !policy->rolls_back) return Ok{};
  for (const ledger::CanaryRow& row :
       TRY(context.ledger->canaries_in(CanaryState::kRollbackProposed))) {
    const std::string text =
        TRY(roll_back(context, row.canary.hypothesis, fmt::format("policy:{}", policy->name),
                      fmt::format("its canary proposed it: {}", row.reason), fence));
    if (say) say(text);
  }
  return Ok{};
}

}  // namespace

std::string rollback_hint(const std::string& hypothesis) {
  return fmt::format(
      "type: amdahl gate rollback {0} --reason TEXT, or: amdahl canary keep {0} --reason TEXT",
      hypothesis);
}

Result<std::optional<ledger::Draft>> canary_draft(Context& context, const loop::WatchBegan& watch,
                                                  const std::string& actor) {
  if (context.config.canary_runs == 0) return std::optional<ledger::Draft>{};
  const ledger::ExperimentRow experiment = TRY(context.ledger->experiment(watch.experiment));
  const std::vector<model::Usage> past = jobs_of(context.config, watch.family);
  model::Canary canary;
  canary.hypothesis = watch.hypothesis;
  canary.family = watch.family;
  canary.seed = os::random_hex(kSeedDigits);
  canary.number = static_cast<int>(TRY(context.ledger->canaries(watch.family)).size());
  canary.one_in = context.config.canary_one_in;
  canary.wanted_runs = context.config.canary_runs;
  canary.promised = watch.promised;
  canary.sigma = canary::noise_of(past).value_or(experiment.experiment.sigma);
  canary.past_runs = static_cast<int>(past.size());
  canary.past_failed = static_cast<int>(std::ranges::count_if(past, &model::Usage::failed));
  if (const auto tail = canary::tail_of(past)) {
    canary.straggles_from = tail->straggles_from;
    canary.past_stragglers = tail->stragglers;
  }
  canary.before = watch.before;
  canary.after = watch.after;
  canary.opened = context.clock->unix_time();
  return std::optional(ledger::Draft{"canary.opened", actor, canary.hypothesis, encode(canary)});
}

Result<std::vector<CanaryView>> read_canaries(Context& context, const std::string& family) {
  if (!family.empty()) TRY(need_family(context, family));
  std::vector<CanaryView> views;
  for (ledger::CanaryRow& row : TRY(context.ledger->canaries(family))) {
    views.push_back(view_of(context, std::move(row)));
  }
  return views;
}

Result<> watch_canaries(Context& context, const Say& say, std::int64_t fence) {
  TRY(close_decided(context, say, fence));
  return roll_back_by_policy(context, say, fence);
}

Result<std::string> keep_change(Context& context, const std::string& hypothesis,
                                const std::string& actor, const std::string& reason) {
  if (trim(reason).empty()) return bad_input("keeping a change needs a --reason");
  const std::string id = TRY(context.ledger->hypothesis(hypothesis)).hypothesis.id;
  std::vector<ledger::CanaryRow> rows = TRY(context.ledger->canaries(""));
  const auto row = std::ranges::find(
      rows, id,
      [](const ledger::CanaryRow& r) -> const std::string& { return r.canary.hypothesis; });
  if (row == rows.end()) {
    return Error{Error::Kind::kNotFound, fmt::format("{} has no canary; see: amdahl canary", id)};
  }
  CanaryView view = view_of(context, *row);
  view.result.outcome = CanaryState::kKept;
  view.result.because = reason;
  TRY(context.ledger->append(closing(row->canary, view.result, actor)));
  return fmt::format("{} stays in the stack of {}, and its canary is closed", id,
                     row->canary.family);
}

}  // namespace amdahl::app
