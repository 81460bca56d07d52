#include "app/roi.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/canary.h"
#include "app/stack.h"
#include "ledger/ledger.h"

namespace amdahl::app {
namespace {

constexpr double kDaysOfAMonth = 30;
constexpr int kEnoughPairs = 5;  // With fewer nothing is shown by them.

bool has(const std::vector<std::string>& stack, const std::string& hypothesis) {
  return std::ranges::find(stack, hypothesis) != stack.end();
}

// Effects in ln add up, and so do their bounds: wider than they need be, never too narrow.
Result<std::optional<model::Comparison>> seen_in_production(Context& context,
                                                            const ledger::Family& family) {
  model::Comparison sum;
  std::size_t seen = 0;
  for (const CanaryView& view : TRY(read_canaries(context, family.name))) {
    const model::Comparison& c = view.result.comparison;
    if (c.pairs == 0 || !has(family.stack, view.row.canary.hypothesis)) continue;
    ++seen;
    sum.pairs += c.pairs;
    sum.effect += c.effect;
    sum.lower += c.lower;
    sum.upper += c.upper;
  }
  // A change that was never watched may have done anything.
  if (seen == 0 || seen != family.stack.size()) return std::optional<model::Comparison>{};
  return std::optional(sum);
}

}  // namespace

Result<Roi> return_on_investment(Context& context, std::optional<double> price) {
  Roi roi;
  roi.price = price.value_or(context.config.price_accelerator_hour);
  const std::map<std::string, double> spent = TRY(context.ledger->spent_by_family());
  const std::map<std::string, double> charged = TRY(context.ledger->spent_by_family("usd"));
  std::map<std::string, model::StackResult> stacks;
  for (const model::StackResult& stack : TRY(latest_stacks(context))) {
    stacks.emplace(stack.family, stack);
  }
  const std::vector<ledger::Saving> savings = TRY(context.ledger->savings());
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    RoiRow row;
    row.family = family.name;
    if (const auto it = spent.find(family.name); it != spent.end()) {
      row.spent_accelerator_s = it->second;
    }
    row.spent_usd = row.spent_accelerator_s / 3600 * roi.price;
    if (const auto it = charged.find(family.name); !price && it != charged.end()) {
      row.spent_usd = it->second;
    }
    double left = 1;
    for (const ledger::Saving& saving : savings) {
      if (saving.family != family.name || !has(family.stack, saving.hypothesis)) continue;
      ++row.promoted;
      left *= 1 - saving.predicted_share;
    }
    row.predicted_share = 1 - left;
    const auto stack = stacks.find(family.name);
    const bool current =
        stack != stacks.end() && stack->second.changes == static_cast<int>(family.stack.size());
    if (current && row.promoted > 0) {
      const model::Comparison& c = stack->second.comparison;
      row.realised_share = 1 - std::exp(-c.effect);
      row.realised_pairs = c.pairs;
      row.realised_lower = 1 - std::exp(-c.lower);
      row.realised_upper = 1 - std::exp(-c.upper);
    }
    row.production = TRY(seen_in_production(context, family));
    double share = row.realised_share.value_or(row.predicted_share);
    if (!row.realised_share && row.production && row.production->pairs >= kEnoughPairs) {
      share = -std::expm1(-row.production->effect);
    }
    row.volume_accelerator_h_per_day = family.volume_accelerator_h_per_day;
    row.saved_accelerator_h_per_day = row.volume_accelerator_h_per_day * share;
    row.saved_usd_per_month = kDaysOfAMonth * row.saved_accelerator_h_per_day * roi.price;
    roi.spent_accelerator_h += row.spent_accelerator_s / 3600;
    roi.spent_usd += row.spent_usd;
    roi.saved_accelerator_h_per_day += row.saved_accelerator_h_per_day;
    roi.saved_usd_per_month += row.saved_usd_per_month;
    roi.rows.push_back(std::move(row));
  }
  if (roi.saved_accelerator_h_per_day > 0) {
    roi.pays_back_days = roi.spent_accelerator_h / roi.saved_accelerator_h_per_day;
  }
  return roi;
}

}  // namespace amdahl::app
