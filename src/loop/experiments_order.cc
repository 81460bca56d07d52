// The pairs that wishes ask for.
#include <algorithm>
#include <span>

#include "loop/experiments.h"
#include "loop/order.h"
#include "refute/facts.h"
#include "stats/coin.h"

namespace amdahl::loop {

using model::Purpose;
using model::Stage;

namespace {

auto runs_lost_in(std::span<const model::PairFact> pairs) {
  return std::ranges::count_if(
      pairs, [](const model::PairFact& pair) { return refute::was_lost(pair.b); });
}

}  // namespace

// Whether runs of the variant were lost with their worker more than once: all others of a block
// would lose their pairs with it, and none of these could tell why.
bool Experiments::takes_others_along(const Track& track) const {
  return runs_lost_in(track.pairs) + runs_lost_in(before(track.experiment.hypothesis)) > 1;
}

std::optional<model::Pair> Experiments::order_for(const Intent& wish) const {
  if (const auto* same = std::get_if<RunSame>(&wish)) return order_same(*same);
  if (const auto* pair = std::get_if<RunPair>(&wish)) return order_pair(*pair);
  if (const auto* race = std::get_if<RunRace>(&wish)) return order_race(*race);
  return std::nullopt;
}

model::Pair Experiments::order_same(const RunSame& wish) const {
  const Family& family = families_.at(wish.family);
  model::Pair order;
  order.family = wish.family;
  order.aim.purpose = Purpose::kSame;
  order.index = family.last_same + 1;
  order.variant_second = stats::coin("same", order.family, order.index);
  order.a = order.b = family.record.baseline;
  // On the inputs that claims are tested on: the check aa compares what A costs in both.
  const model::Spec& spec = family.record.spec;
  order.stratum = stratum_at(spec, order.index);
  const auto stratum = std::ranges::find(spec.strata, order.stratum, &model::Stratum::name);
  if (stratum != spec.strata.end()) order.a = order.b = combine(selecting(*stratum), order.a);
  order.concurrent = family.record.spec.pairing == "concurrent";
  order.steps = family.record.spec.pairing == "steps";
  return order;
}

model::Pair Experiments::order_pair(const RunPair& wish) const {
  const Track& track = tracks_.at(wish.experiment);
  const model::Experiment& e = track.experiment;
  const model::Spec& spec = families_.at(e.family).record.spec;
  model::Pair order;
  order.family = e.family;
  order.experiment = e.id;
  order.aim = {wish.purpose, wish.target};
  order.index = track.last_index + 1;
  order.variant_second = stats::coin(e.seed, e.hypothesis, order.index);
  order.concurrent = spec.pairing == "concurrent";
  order.steps = spec.pairing == "steps";
  const ExperimentState& x = state_.experiments[track.at];
  const bool is_canary = x.careful && x.compare_pairs == 0;
  order.stratum = is_canary ? smallest_stratum(spec) : next_stratum(spec, track.dealt);
  order.a = e.baseline_change;
  order.b = combine(e.baseline_change, ideas_.at(e.hypothesis).change);
  if (wish.purpose == Purpose::kTopUp) {
    const refute::Target target =
        refute::target_of(wish.target, gather(track, track.judge.peek(), false));
    order.variant_second = target.variant_second.value_or(order.variant_second);
    order.contended = target.contended;
    order.steps &= !target.whole_runs;
    if (!target.stratum.empty()) order.stratum = target.stratum;
    if (target.same) order.b = order.a;
  } else if (!order.concurrent && !order.steps && !takes_others_along(track)) {
    share_baseline(track, order);
  }
  const auto stratum = std::ranges::find(spec.strata, order.stratum, &model::Stratum::name);
  if (stratum != spec.strata.end()) {
    order.a = combine(selecting(*stratum), order.a);
    order.b = combine(selecting(*stratum), order.b);
    for (model::SharedVariant& variant : order.shared) {
      variant.change = combine(selecting(*stratum), variant.change);
    }
  }
  return order;
}

// What an experiment would take a pair for, if another of its family has one run.
std::optional<Purpose> Experiments::wants_pair(const ExperimentState& x) const {
  switch (x.stage) {
    case Stage::kCompare:
      if (x.answer != model::Answer::kBetter && !x.parked &&
          x.compare_ratios + x.in_flight < x.cap && x.in_flight < x.pairs_certain) {
        return Purpose::kCompare;
      }
      return std::nullopt;
    case Stage::kRefute:
      if (x.replicate_pairs + x.in_flight < state_.settings.replicate_at_least) {
        return Purpose::kReplicate;
      }
      return std::nullopt;
    case Stage::kTopUp:
    case Stage::kHold:
    case Stage::kGate:
      return std::nullopt;
  }
  return std::nullopt;
}

// Whether the baseline should run a second time in this block, for an A/A pair that costs one run.
bool Experiments::wants_same(const Track& leader, const model::Pair& order) const {
  const Family& family = families_.at(order.family);
  const FamilyState& f = state_.families[family.at];
  return state_.settings.same_in_blocks && may_run_same(state_.settings, f) &&
         static_cast<int>(order.shared.size()) + 1 < state_.settings.block_variants &&
         !state_.experiments[leader.at].careful && family.record.spec.strata.empty() &&
         leader.experiment.baseline == family.digest;
}

// Other experiments of the family that want a pair on the same baseline share its run.
void Experiments::share_baseline(const Track& leader, model::Pair& order) const {
  for (const std::string& id : families_.at(order.family).live) {
    if (static_cast<int>(order.shared.size()) + 1 >= state_.settings.block_variants) break;
    const Track& other = tracks_.at(id);
    const ExperimentState& x = state_.experiments[other.at];
    const std::optional<Purpose> purpose = wants_pair(x);
    if (!purpose || id == leader.experiment.id || x.baseline_moved) continue;
    // A model's patch runs in a sandbox, and others do not; its first pair is its own.
    const ExperimentState& lead = state_.experiments[leader.at];
    const bool alone =
        (x.careful && x.compare_pairs == 0) || (lead.careful && lead.compare_pairs == 0);
    if (x.careful != lead.careful || alone) continue;
    const bool leads_to_win = state_.settings.wins_first && order.aim.purpose != Purpose::kCompare;
    if (leads_to_win && *purpose == Purpose::kCompare) continue;
    if (other.experiment.baseline != leader.experiment.baseline) continue;
    if (takes_others_along(other)) continue;
    model::SharedVariant variant;
    variant.experiment = id;
    variant.aim.purpose = *purpose;
    variant.index = other.last_index + 1;
    variant.change = combine(other.experiment.baseline_change, ideas_.at(x.hypothesis).change);
    order.shared.push_back(std::move(variant));
  }
  if (wants_same(leader, order)) {
    const Family& family = families_.at(order.family);
    order.shared.push_back(
        {"", {Purpose::kSame}, family.last_same + 1, false, family.record.baseline});
  }
  if (!order.shared.empty())
    draw_order(leader.experiment.seed, leader.experiment.hypothesis, order);
}

void Experiments::draw_order(std::string_view seed, std::string_view label,
                             model::Pair& order) const {
  const int arms = static_cast<int>(order.shared.size()) + 2;
  order.order = block_order(seed, label, order.index, arms);
  const auto place = [&](int arm) { return std::ranges::find(order.order, arm); };
  order.variant_second = place(1) > place(0);
  for (std::size_t i = 0; i < order.shared.size(); ++i) {
    order.shared[i].variant_second = place(static_cast<int>(i) + 2) > place(0);
  }
}

}  // namespace amdahl::loop
