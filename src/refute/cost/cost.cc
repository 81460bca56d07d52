#include "refute/cost/cost.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::cost {
namespace {

constexpr std::size_t kAtLeast = 5;

// Per unit of work, in the prices' currency.
double bill(const Evidence& evidence, const model::ArmFact& arm) {
  const double hours_priced =
      evidence.price_accelerator_hour * arm.cost + evidence.price_cpu_hour * arm.cpu_s;
  return hours_priced / 3600 / arm.work.value_or(0);
}

bool counts(double amount) { return std::isfinite(amount) && amount > 0; }

std::string explain(const Evidence& evidence, std::span<const double> log_bill) {
  if (log_bill.size() < kAtLeast) {
    if (!pairs_help(evidence)) {
      return "no pair reports how much work both arms did, so no bill per unit of work can be "
             "made, and more pairs will not change that: report work through AMDAHL_REPORT";
    }
    return fmt::format("{} with a bill for both arms, at least {} are needed",
                       count(log_bill.size(), "pair"), kAtLeast);
  }
  const double typical = stats::hodges_lehmann(log_bill);
  return fmt::format(
      "the whole bill {} by {} over {}, where a fall by half of {} is asked (p {} for "
      "falling)",
      typical < 0 ? "rises" : "falls",
      typical < 0 ? show_percent(std::expm1(-typical)) : show_saving(typical),
      count(log_bill.size(), "pair"), show_saving(claimed(evidence)),
      show_number(stats::wilcoxon_greater(log_bill)));
}

}  // namespace

Ruling rule(std::span<const double> log_bill, double theta) {
  if (log_bill.size() < kAtLeast) return kAbstains;
  const double typical = stats::hodges_lehmann(log_bill);
  if (typical <= 0) return kVetoes;
  if (typical < theta / 2) return kDoubts;
  return stats::wilcoxon_greater(log_bill) <= 0.10 ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  std::vector<double> log_bill;
  for (const model::PairFact* pair : pairs_for(evidence, "cost")) {
    const double a = bill(evidence, pair->a);
    const double b = bill(evidence, pair->b);
    if (counts(a) && counts(b)) log_bill.push_back(std::log(a / b));
  }
  return finding(rule(log_bill, claimed(evidence)), explain(evidence, log_bill));
}

bool pairs_help(const Evidence& evidence) {
  return evidence.pairs.empty() || reports_work(evidence);
}

}  // namespace amdahl::refute::cost
