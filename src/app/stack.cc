#include "app/stack.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/budget.h"
#include "app/lease.h"
#include "app/pairs.h"
#include "app/snapshot.h"
#include "compare/compare.h"
#include "ledger/event.h"
#include "model/codec.h"
#include "model/plan.h"
#include "stats/coin.h"
#include "stats/estimate.h"
#include "stats/tests.h"

namespace amdahl::app {
namespace {

constexpr Nanos kStackPoll = std::chrono::milliseconds(100);

double cost_per_work(const model::ArmFact& arm) { return arm.cost / arm.work.value_or(1); }

Result<std::vector<model::Pair>> good_runs(Context& context, const std::string& family,
                                           const model::Aim& aim) {
  std::vector<model::Pair> runs = TRY(context.ledger->family_runs(family, aim));
  std::erase_if(runs, [](const model::Pair& run) { return !run.fact || run.fact->voided; });
  return runs;
}

model::StackResult result_of(const ledger::Family& family, const std::vector<model::Pair>& runs,
                             Nanos now) {
  std::vector<double> d;
  std::vector<double> before;
  std::vector<double> after;
  for (const model::Pair& run : runs) {
    const auto ratio = compare::log_ratio(*run.fact, family.spec);
    if (!ratio) continue;
    d.push_back(*ratio);
    before.push_back(cost_per_work(run.fact->a));
    after.push_back(cost_per_work(run.fact->b));
  }
  model::StackResult result;
  result.family = family.name;
  result.changes = static_cast<int>(family.stack.size());
  result.work_unit = family.spec.work_unit;
  result.at = now;
  compare::Design design;
  design.cap = 1000;
  result.comparison = compare::judge(d, design);
  // It decides nothing, and how many pairs there are was said beforehand: no need to allow for
  // peeks, after which a few pairs would bound nothing.
  if (d.size() >= 2) {
    const stats::MeanInterval interval = stats::mean_interval(d);
    result.comparison.lower = std::min(interval.lower, result.comparison.effect);
    result.comparison.upper = std::max(interval.upper, result.comparison.effect);
  }
  if (!before.empty()) {
    result.original_cost = stats::median(before);
    result.stack_cost = stats::median(after);
  }
  return result;
}

Result<> submit_one(Context& context, const ledger::Family& family, const Arms& arms,
                    std::int64_t fence, Submitted& submitted) {
  model::Pair order;
  order.family = family.name;
  order.aim = arms.aim;
  order.index = next_index(TRY(context.ledger->family_runs(family.name, order.aim)));
  order.variant_second = stats::coin(text_of(order.aim), family.name, order.index);
  order.a = arms.a;
  order.b = arms.b;
  const auto need = static_cast<std::size_t>(TRY(slots_needed(family.spec, order)));
  const std::vector<int> free = free_slots(context.config, TRY(context.ledger->runs_in_flight()));
  if (need > context.config.slots.size()) {
    return bad_input(fmt::format("{} needs {} CPU slots and there are {}", family.name, need,
                                 context.config.slots.size()));
  }
  if (need > free.size()) return Ok{};
  const std::vector<int> cpus(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(need));
  const auto made = submit_pair(context, family, order, cpus, fence);
  if (!made && made.error().kind == Error::Kind::kBusy) return Ok{};
  const Submission& began = TRY(made);
  submitted[began.build.empty() ? began.reservation : began.build] = {context.clock->monotonic(),
                                                                      1};
  return Ok{};
}

}  // namespace

Result<model::Aim> aim_at(const ledger::Family& family, const model::Change& b) {
  const model::Plan plan = TRY(make_plan(family.spec, b));
  return model::Aim{model::Purpose::kStack, digest(plan).substr(0, 8)};
}

Result<std::vector<model::Pair>> run_arms(Context& context, const ledger::Family& family,
                                          const Arms& arms, const StackOptions& options) {
  const std::unique_ptr<Lease> lease = TRY(Lease::take(context));
  TRY(set_budgets(context, lease->fence()));
  Submitted submitted;
  const int most_tries = 2 * options.pairs + 4;
  while (true) {
    TRY(reconcile(context, submitted, lease->fence(), options.say));
    const std::vector<model::Pair> all = TRY(context.ledger->family_runs(family.name, arms.aim));
    const int good = static_cast<int>(TRY(good_runs(context, family.name, arms.aim)).size());
    const auto open = std::ranges::count_if(all, model::in_flight);
    if (good >= options.pairs && open == 0) break;
    if (options.stopped && options.stopped()) break;
    if (static_cast<int>(all.size()) >= most_tries && open == 0) break;
    if (good + open < options.pairs && static_cast<int>(all.size()) < most_tries) {
      TRY(submit_one(context, family, arms, lease->fence(), submitted));
    }
    context.clock->sleep(kStackPoll);
  }
  return good_runs(context, family.name, arms.aim);
}

Result<model::StackResult> measure_stack(Context& context, const std::string& name,
                                         const StackOptions& options) {
  const ledger::Family family = TRY(need_family(context, name));
  if (family.stack.empty()) {
    return bad_input(fmt::format("nothing of {} has been promoted yet; type: amdahl cycle --watch",
                                 family.name));
  }
  const Arms arms{TRY(aim_at(family, family.baseline)), {}, family.baseline};
  const std::vector<model::Pair> pairs = TRY(run_arms(context, family, arms, options));
  const model::StackResult result = result_of(family, pairs, context.clock->unix_time());
  if (result.comparison.pairs == 0) {
    return external(fmt::format("no pair of {}'s stack could be measured", family.name));
  }
  TRY(note(context, {"stack.measured", "cycle", family.name, encode(result)}));
  return result;
}

Result<std::vector<model::StackResult>> latest_stacks(Context& context) {
  std::vector<model::StackResult> results;
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    const std::vector<model::StackResult> all = TRY(context.ledger->stacks(family.name));
    if (!all.empty()) results.push_back(all.back());
  }
  return results;
}

}  // namespace amdahl::app
