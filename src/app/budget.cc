#include "app/budget.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "ledger/event.h"

namespace amdahl::app {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kMillion = 1e6;

struct Limit {
  std::string_view resource;  // As the ledger calls it; docs/format/ledger.md.
  std::optional<double> Config::*setting;
  double unit;  // Of the resource in one of the setting.
};
constexpr auto kLimits = std::to_array<Limit>({
    {"accelerator_s", &Config::budget_accelerator_hours, kSecondsPerHour},
    {"usd", &Config::budget_usd, 1},
    {"tokens", &Config::budget_tokens, 1},
});

// As the ledger keeps it, so that the same limit is not set again each time.
double to_the_millionth(double amount) { return std::round(amount * kMillion) / kMillion; }

}  // namespace

Usd bill(const Config& config, AcceleratorSeconds held, Nanos cpu) {
  const Usd for_accelerators =
      to_hours(held) * UsdPerAcceleratorHour{config.price_accelerator_hour};
  return for_accelerators + Usd{to_seconds(cpu) / kSecondsPerHour * config.price_cpu_hour};
}

Result<> set_budgets(Context& context, std::int64_t fence) {
  const std::vector<ledger::Budget> budgets = TRY(context.ledger->budgets());
  std::vector<ledger::Draft> drafts;
  for (const Limit& limit : kLimits) {
    const auto now = std::ranges::find(budgets, limit.resource, &ledger::Budget::resource);
    const std::optional<double>& setting = context.config.*limit.setting;
    if (!setting && now == budgets.end()) continue;
    Json wanted;
    if (setting) {
      const double used = now == budgets.end() ? 0 : now->committed + now->spent;
      wanted = to_the_millionth(std::max(*setting * limit.unit, used));
      if (now != budgets.end() && now->limit == wanted.get<double>()) continue;
    } else if (!now->limit) {
      continue;
    }
    drafts.push_back({"budget.set", "cycle", std::string(limit.resource), {{"limit", wanted}}});
  }
  if (drafts.empty()) return Ok{};
  TRY(context.ledger->append(drafts, fence));
  return Ok{};
}

}  // namespace amdahl::app
