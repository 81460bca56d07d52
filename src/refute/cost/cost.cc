#include "refute/cost/cost.h"

#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "model/pair.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::cost {
namespace {

using model::PairFact;

constexpr std::size_t kAtLeast = 5;

struct Bills {  // ln(A / B) of each pair, per unit of work or, without any, per run.
  std::vector<double> price;
  std::vector<double> seconds;  // Of accelerators, alone.
};

bool counts(double amount) { return std::isfinite(amount) && amount > 0; }

// Whether the two costs can be compared: both arms report work, or neither does and the claim rests
// on a metric that the job reports, so that whole runs are compared.
bool billable(const Evidence& evidence, const PairFact& pair) {
  const bool neither = !(pair.a.work.value_or(0) > 0) && !(pair.b.work.value_or(0) > 0);
  return reports_work(pair) || (neither && rests_on_report(*evidence.spec));
}

struct Bill {
  double price = 0;
  double seconds = 0;
};

Bill bill_of(const Evidence& evidence, const model::ArmFact& arm, double work) {
  const double price =
      evidence.price_accelerator_hour * arm.cost + evidence.price_cpu_hour * arm.cpu_s;
  return {price / work, arm.cost / work};
}

void add(const Bill& a, const Bill& b, Bills& bills) {
  if (!counts(a.price / b.price) || !counts(a.seconds / b.seconds)) return;
  bills.price.push_back(std::log(a.price / b.price));
  bills.seconds.push_back(std::log(a.seconds / b.seconds));
}

// A successful run of B without a receipt of A. It is compared with the usual cost of A: otherwise
// a lost receipt of A would hide an expensive run of B.
bool lost_partner(const PairFact& pair) {
  return pair.voided && pair.a.wall_s == 0 && !pair.a.failed && pair.b.cost > 0 &&
         pair.steps.empty() && model::feeds_evidence(pair.purpose);
}

Bills bills_in(const Evidence& evidence) {
  Bills bills;
  std::vector<double> prices;
  std::vector<double> seconds;
  for (const PairFact* pair : whole_runs_for(evidence, "cost")) {
    if (!billable(evidence, *pair)) continue;
    const Bill a = bill_of(evidence, pair->a, work_or_run(*pair, pair->a));
    add(a, bill_of(evidence, pair->b, work_or_run(*pair, pair->b)), bills);
    prices.push_back(a.price);
    seconds.push_back(a.seconds);
  }
  if (prices.empty()) return bills;
  const Bill usual{stats::median(prices), stats::median(seconds)};
  for (const PairFact& pair : evidence.pairs) {
    if (!lost_partner(pair)) continue;
    const double work = reports_work(evidence) ? pair.b.work.value_or(0) : 1;
    add(usual, bill_of(evidence, pair.b, work), bills);
  }
  return bills;
}

std::string explain_price(const Evidence& evidence, std::span<const double> log_bill) {
  if (log_bill.size() < kAtLeast) {
    if (!pairs_help(evidence)) {
      return "no pair reports the work of both arms, so there is no cost per unit of work; more "
             "pairs will not help: report work through AMDAHL_REPORT";
    }
    return fmt::format("{} with a total cost for both arms{}; at least {} are needed",
                       count(log_bill.size(), "pair"), those_by_steps(evidence, "cost"), kAtLeast);
  }
  if (const std::size_t whole = whole_runs_for(evidence, "cost").size();
      !nearly_all(log_bill.size(), whole)) {
    return fmt::format("both arms have a total cost in {} of {}", log_bill.size(),
                       count(whole, "pair"));
  }
  const double typical = stats::hodges_lehmann(log_bill);
  return fmt::format(
      "the total cost (CPU included) {} by {} over {}; a fall by at least half of {} is required "
      "(any fall: {})",
      typical < 0 ? "rises" : "falls",
      typical < 0 ? show_percent(std::expm1(-typical)) : show_saving(typical),
      count(log_bill.size(), "pair"), show_saving(claimed(evidence)),
      show_p(stats::wilcoxon_greater(log_bill)));
}

std::string explain_clock(const Evidence& evidence, std::span<const double> log_seconds) {
  const double theta = claimed(evidence);
  return fmt::format(
      "by its own metric '{}' the job saves {}; by our clock it {} in accelerator-seconds over {}; "
      "at least half is required (less: {})",
      evidence.spec->metric, show_saving(theta), show_effect(stats::hodges_lehmann(log_seconds)),
      count(log_seconds.size(), "pair"), show_p(stats::wilcoxon_less(log_seconds, theta / 2)));
}

}  // namespace

Ruling rule(std::span<const double> log_bill, double theta) {
  if (log_bill.size() < kAtLeast) return kAbstains;
  const double typical = stats::hodges_lehmann(log_bill);
  if (typical <= 0) return kVetoes;
  if (typical < theta / 2) return kDoubts;
  return stats::wilcoxon_greater(log_bill) <= 0.10 ? kAgrees : kAbstains;
}

Ruling clock_rule(std::span<const double> log_seconds, double theta) {
  const Ruling ruling = three_rule(log_seconds, theta, kAtLeast);
  // Undecided between half and less: a number that only the job can see is not enough.
  return ruling == kAbstains && log_seconds.size() >= kAtLeast ? kDoubts : ruling;
}

model::Finding run(const Evidence& evidence) {
  const double theta = claimed(evidence);
  const Bills bills = bills_in(evidence);
  const std::size_t whole = whole_runs_for(evidence, "cost").size();
  const Ruling price = nearly_all(bills.price.size(), whole) ? rule(bills.price, theta) : kAbstains;
  if (rests_on_report(*evidence.spec)) {
    const Ruling clock = clock_rule(bills.seconds, theta);
    if (clock.vote == model::Vote::kRefute && severity(clock) >= severity(price)) {
      return finding(clock, explain_clock(evidence, bills.seconds));
    }
  }
  return finding(price, explain_price(evidence, bills.price));
}

bool pairs_help(const Evidence& evidence) {
  return evidence.pairs.empty() || rests_on_report(*evidence.spec) || reports_work(evidence);
}

}  // namespace amdahl::refute::cost
