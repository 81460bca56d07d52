// Pairs of races: what they are ordered for, and what they showed.
#include <algorithm>

#include <fmt/core.h>

#include "compare/compare.h"
#include "loop/evidence.h"
#include "loop/experiments.h"

namespace amdahl::loop {

using model::NeverRuns;
using model::Purpose;

namespace {

constexpr std::size_t kShortCommit = 12;

}  // namespace

std::optional<std::string> why_never(const model::Pair& pair, const model::PairFact& fact) {
  if (fact.b.never_runs == NeverRuns::kNo || fact.a.never_runs != NeverRuns::kNo) {
    return std::nullopt;
  }
  if (pair.commit.empty()) return fact.b.failure;
  return fmt::format("at commit {} {}", pair.commit.substr(0, kShortCommit), fact.b.failure);
}

model::Pair Experiments::order_race(const RunRace& wish) const {
  const Family& family = families_.at(wish.family);
  model::Pair order;
  order.family = wish.family;
  order.a = family.record.baseline;
  const auto index = [&](const std::string& id) {
    const auto last = last_raced_.find(id);
    return last == last_raced_.end() ? 1 : last->second + 1;
  };
  for (const std::string& id : wish.hypotheses) {
    model::SharedVariant variant;
    variant.aim = {Purpose::kRace, id};
    variant.index = index(id);
    variant.change = combine(order.a, ideas_.at(id).change);
    order.shared.push_back(std::move(variant));
  }
  // The first leads the block.
  order.aim = order.shared.front().aim;
  order.index = order.shared.front().index;
  order.b = order.shared.front().change;
  order.shared.erase(order.shared.begin());
  draw_order(text_of(order.aim), order.family, order);
  return order;
}

// The hypothesis that a pair of a race is of, if it still waits; its indices are used up anyway.
Queued* Experiments::racing(const model::Pair& pair) {
  int& last = last_raced_[pair.aim.target];
  last = std::max(last, pair.index);
  const auto it = std::ranges::find(state_.queued, pair.aim.target, &Queued::hypothesis);
  return it == state_.queued.end() ? nullptr : &*it;
}

void Experiments::raced(const model::Pair& pair, bool counts) {
  Queued* queued = racing(pair);
  if (!queued || !counts) return;
  const std::optional<model::PairFact>& fact = pair.fact;
  if (fact) queued->lane.never_runs = why_never(pair, *fact).value_or(queued->lane.never_runs);
  const std::optional<double> ratio =
      fact && !fact->voided ? compare::log_ratio(*fact, families_.at(pair.family).record.spec)
                            : std::nullopt;
  if (ratio) queued->lane.ratios.push_back(*ratio);
  if (!ratio) ++queued->lane.voids;
}

}  // namespace amdahl::loop
