#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "canary/canary.h"
#include "canary/explain.h"
#include "compare/compare.h"
#include "stats/eprocess.h"
#include "stats/estimate.h"
#include "stats/rate.h"

namespace amdahl::canary {
namespace {

using model::Canary;
using model::CanaryResult;
using model::CanaryState;
using model::Comparison;
using model::Usage;

constexpr int kNoCap = 1'000'000;
constexpr std::size_t kLeastNeighbours = 6;
constexpr std::size_t kLeastTypical = 20;
constexpr std::size_t kLeastPast = 50;
constexpr double kFarAtLeast = 0.25;  // In ln: 28 % more.
constexpr double kFarDeviations = 4;
constexpr double kSmallestPromise = 0.01;  // Half of less is nothing one could see.

// The runs of one host by slot; null if there is none.
struct Slots {
  int first = 0;
  std::vector<const Watched*> runs;

  int last() const { return first + static_cast<int>(runs.size()) - 1; }
  const Watched* at(int slot) const {
    return slot < first || slot > last() ? nullptr : runs[static_cast<std::size_t>(slot - first)];
  }
};

bool has(const Watched& run, const std::string& hypothesis) {
  return std::ranges::find(run.usage.canary.changes, hypothesis) != run.usage.canary.changes.end();
}

bool without(const Watched& run, const std::string& hypothesis) {
  return run.usage.canary.held_back == hypothesis;
}

double cost(const Usage& usage) {
  return (Accelerators{static_cast<double>(usage.accelerators)} * (usage.end - usage.start))
      .count();
}

// ln of accelerator-seconds per unit of work, or per run where neither reports its work.
std::optional<double> log_ratio(const Usage& a, const Usage& b) {
  const bool counts = !a.failed && !b.failed && cost(a) > 0 && cost(b) > 0;
  if (!counts || a.work.has_value() != b.work.has_value()) return std::nullopt;
  const double d = std::log(cost(a) / cost(b));
  if (!a.work) return d;
  if (!(*a.work > 0 && *b.work > 0)) return std::nullopt;
  return d - std::log(*a.work / *b.work);
}

// The same stack except for the change; otherwise the baseline changed in between.
bool same_otherwise(const Watched& held, const Watched& with, const std::string& hypothesis) {
  std::vector<std::string> rest = with.usage.canary.changes;
  std::erase(rest, hypothesis);
  return rest == held.usage.canary.changes;
}

struct Pairs {
  std::vector<double> d;
  int voided = 0;
  int waiting = 0;  // Couples that are over and come after one that is not.
};

// Why a missing run voids the couple: it was the older canary's, or its record cannot be read.
void add_couple(const Canary& canary, const Watched* held, const Watched* with, Pairs& pairs) {
  const bool honoured = held && with && without(*held, canary.hypothesis) &&
                        with->usage.canary.held_back.empty() && has(*with, canary.hypothesis) &&
                        same_otherwise(*held, *with, canary.hypothesis);
  const bool ended = honoured && held->state == RunState::kEnded && with->state == RunState::kEnded;
  const auto d = ended ? log_ratio(held->usage, with->usage) : std::nullopt;
  if (d) {
    pairs.d.push_back(*d);
  } else {
    ++pairs.voided;
  }
}

bool knows(const Watched* run, const Canary& canary) {
  return run && (has(*run, canary.hypothesis) || without(*run, canary.hypothesis));
}

void add_host(const Canary& canary, const std::string& host, const Slots& slots, Pairs& pairs) {
  const int last = slots.last();
  bool blocked = false;
  for (int block = slots.first / canary.one_in; block <= last / canary.one_in; ++block) {
    const SlotPair couple = slot_pair_of(canary, host, block);
    if (couple.first + 1 > last) return;
    const Watched* held = slots.at(couple.held_back());
    const Watched* with = slots.at(couple.partner());
    // From before the promotion, or astride of it.
    if ((held && !knows(held, canary)) || (with && !knows(with, canary))) continue;
    const auto runs = [](const Watched* run) { return run && run->state == RunState::kRunning; };
    const bool is_open = runs(held) || runs(with);
    blocked |= is_open;
    if (!blocked) add_couple(canary, held, with, pairs);
    if (blocked && !is_open && held && with) ++pairs.waiting;
  }
}

void count(const Canary& canary, std::span<const Watched> runs, CanaryResult& result) {
  for (const Watched& run : runs) {
    if (!knows(&run, canary)) continue;
    if (run.state == RunState::kRunning) {
      ++result.running;
      continue;
    }
    const bool lost = run.state == RunState::kLost;
    const bool failed = lost || run.usage.failed;
    result.lost += lost ? 1 : 0;
    if (without(run, canary.hypothesis)) {
      ++result.held_back;
      result.held_back_failed += failed ? 1 : 0;
    } else {
      ++result.runs;
      result.failed += failed ? 1 : 0;
    }
  }
}

std::map<std::string, Slots> by_host(std::span<const Watched> runs) {
  std::map<std::string, std::pair<int, int>> ranges;
  for (const Watched& run : runs) {
    const int slot = run.usage.canary.slot;
    if (slot < 0) continue;
    auto [range, is_new] = ranges.try_emplace(run.usage.host, slot, slot);
    range->second.first = std::min(range->second.first, slot);
    range->second.second = std::max(range->second.second, slot);
  }
  std::map<std::string, Slots> hosts;
  for (const auto& [host, range] : ranges) {
    Slots& slots = hosts[host];
    slots.first = range.first;
    slots.runs.resize(static_cast<std::size_t>(range.second - range.first) + 1);
  }
  for (const Watched& run : runs) {
    if (run.usage.canary.slot < 0) continue;
    Slots& slots = hosts[run.usage.host];
    slots.runs[static_cast<std::size_t>(run.usage.canary.slot - slots.first)] = &run;
  }
  return hosts;
}

Pairs pairs_of(const Canary& canary, std::span<const Watched> runs) {
  Pairs pairs;
  for (const auto& [host, slots] : by_host(runs)) add_host(canary, host, slots, pairs);
  return pairs;
}

// ln of accelerator-seconds per unit of work, or per run if it reports no work.
std::optional<double> log_cost(const Usage& usage) {
  if (usage.failed || !(cost(usage) > 0)) return std::nullopt;
  if (!usage.work) return std::log(cost(usage));
  if (!(*usage.work > 0)) return std::nullopt;
  return std::log(cost(usage) / *usage.work);
}

int beyond(const std::vector<double>& log_costs, double from) {
  const double typical = stats::median(log_costs);
  return static_cast<int>(
      std::ranges::count_if(log_costs, [&](double value) { return value > typical + from; }));
}

// Without enough runs, the typical run with the change is unknown.
void count_stragglers(const Canary& canary, std::span<const Watched> runs, CanaryResult& result) {
  if (!(canary.straggles_from > 0)) return;
  std::vector<std::pair<Nanos, double>> ended;
  for (const Watched& run : runs) {
    if (run.state != RunState::kEnded || !has(run, canary.hypothesis)) continue;
    if (const auto value = log_cost(run.usage)) ended.emplace_back(run.usage.start, *value);
  }
  // Bursts of slow runs are no coin: over a longer watch one comes by chance.
  std::ranges::sort(ended);
  if (std::ssize(ended) > canary.wanted_runs) {
    ended.resize(static_cast<std::size_t>(canary.wanted_runs));
  }
  std::vector<double> costs;
  for (const auto& [start, value] : ended) costs.push_back(value);
  if (costs.size() < kLeastTypical) return;
  result.stragglers = beyond(costs, canary.straggles_from);
  // Slow runs come in bursts and neighbours change, so that half as many again prove nothing.
  const double calm = canary.past_runs - canary.past_failed;
  const double allowed = std::min(0.5, 1.5 * (canary.past_stragglers + 1) / (calm + 2));
  result.log_e_straggling =
      stats::log_e_rate(result.stragglers, static_cast<int>(costs.size()), allowed);
}

double half_of_promise(const Canary& canary) {
  return std::max(kSmallestPromise, canary.promised / 2);
}

// While finished pairs wait for an earlier unfinished one, their result is unknown: the change is
// not kept just because it has run often.
CanaryState outcome_of(const Canary& canary, const CanaryResult& r, int waiting) {
  const bool slower = r.comparison.log_e_worse >= std::log(kSlowerAlarm);
  const bool failing = r.log_e_failing >= std::log(kFailingAlarm);
  const bool straggling = r.log_e_straggling >= std::log(kStragglingAlarm);
  const bool broken = r.comparison.log_e_futile >= std::log(kBrokenAlarm);
  if (slower || failing || straggling || broken) return CanaryState::kRollbackProposed;
  // What hints at more failures or stragglers is watched on.
  const bool calm = r.log_e_failing <= 0 && r.log_e_straggling <= 0;
  const bool proven =
      calm && r.log_e_half >= std::log(kProven) && 2 * r.runs >= canary.wanted_runs;
  const bool kept = proven || (r.runs >= kPatience * canary.wanted_runs && waiting == 0);
  return kept ? CanaryState::kKept : CanaryState::kOpen;
}

CanaryResult look(const Canary& canary, std::span<const Watched> runs, const Pairs& pairs) {
  CanaryResult result;
  result.hypothesis = canary.hypothesis;
  count(canary, runs, result);
  const int calm = canary.past_runs + result.held_back;
  const int calm_failed = canary.past_failed + result.held_back_failed;
  result.usual_failures = (calm_failed + 1.0) / (calm + 2.0);
  result.log_e_failing =
      stats::log_e_rate(result.failed, result.runs, stats::rate_at_most(calm_failed, calm));
  count_stragglers(canary, runs, result);
  result.comparison.pairs = static_cast<int>(pairs.d.size());
  result.comparison.log_e_worse =
      stats::log_e(pairs.d, {.sigma = canary.sigma, .side = stats::Side::kBelow});
  result.comparison.log_e_futile = stats::log_e(
      pairs.d,
      {.sigma = canary.sigma, .margin = half_of_promise(canary), .side = stats::Side::kBelow});
  result.log_e_half =
      stats::log_e(pairs.d, {.sigma = canary.sigma, .margin = half_of_promise(canary)});
  result.outcome = outcome_of(canary, result, pairs.waiting);
  return result;
}

}  // namespace

CanaryResult peek(const Canary& canary, std::span<const Watched> runs) {
  return look(canary, runs, pairs_of(canary, runs));
}

CanaryResult judge(const Canary& canary, std::span<const Watched> runs) {
  const Pairs pairs = pairs_of(canary, runs);
  CanaryResult result = look(canary, runs, pairs);
  result.comparison = compare::judge(pairs.d, {.sigma = canary.sigma,
                                               .delta = half_of_promise(canary),
                                               .win_threshold = kSlowerAlarm,
                                               .cap = kNoCap});
  result.comparison.voided = pairs.voided;
  result.outcome = outcome_of(canary, result, pairs.waiting);
  result.because = explain(canary, result);
  return result;
}

std::optional<Tail> tail_of(std::span<const Usage> past) {
  std::vector<double> costs;
  for (const Usage& usage : past) {
    if (const auto value = log_cost(usage)) costs.push_back(*value);
  }
  if (costs.size() < kLeastPast) return std::nullopt;
  const double from = std::max(kFarAtLeast, kFarDeviations * stats::mad(costs));
  return Tail{from, beyond(costs, from)};
}

std::optional<double> noise_of(std::span<const Usage> past) {
  std::map<std::string, std::vector<const Usage*>> hosts;
  for (const Usage& usage : past) hosts[usage.host].push_back(&usage);
  std::vector<double> same;
  for (auto& [host, runs] : hosts) {
    std::ranges::sort(runs, {}, &Usage::start);
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2) {
      if (const auto d = log_ratio(*runs[i], *runs[i + 1])) same.push_back(*d);
    }
  }
  if (same.size() < kLeastNeighbours) return std::nullopt;
  return stats::sigma_of_same(same);
}

}  // namespace amdahl::canary
