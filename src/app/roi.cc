#include "app/roi.h"

#include <cmath>
#include <map>

#include "app/stack.h"
#include "ledger/ledger.h"

namespace amdahl::app {

Result<Roi> return_on_investment(Context& context, std::optional<double> price) {
  Roi roi;
  roi.price = price.value_or(context.config.price_accelerator_hour);
  const std::map<std::string, double> spent = TRY(context.ledger->spent_by_family());
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
    double left = 1;
    for (const ledger::Saving& saving : savings) {
      if (saving.family != family.name) continue;
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
    row.volume_accelerator_h_per_day = family.volume_accelerator_h_per_day;
    row.saved_accelerator_h_per_day =
        row.volume_accelerator_h_per_day * row.realised_share.value_or(row.predicted_share);
    roi.spent_accelerator_h += row.spent_accelerator_s / 3600;
    roi.saved_accelerator_h_per_day += row.saved_accelerator_h_per_day;
    roi.rows.push_back(std::move(row));
  }
  if (roi.saved_accelerator_h_per_day > 0) {
    roi.pays_back_days = roi.spent_accelerator_h / roi.saved_accelerator_h_per_day;
  }
  return roi;
}

}  // namespace amdahl::app
