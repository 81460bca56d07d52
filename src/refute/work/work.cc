#include "refute/work/work.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/tests.h"

namespace amdahl::refute::work {
namespace {

using model::PairFact;

constexpr std::size_t kAtLeast = 3;
constexpr double kTolerance = 0.005;

bool all_equal(std::span<const double> log_work) {
  return std::ranges::all_of(log_work, [](double value) { return std::abs(value) <= 1e-6; });
}

double p_within(std::span<const double> log_work, double tolerance) {
  const auto both = stats::equivalence(log_work, -tolerance, tolerance);
  return std::max(both.p_above_low, both.p_below_high);
}

struct Amounts {
  std::vector<double> all;     // ln(work B / work A).
  std::vector<double> pinned;  // Of those, where both arms read the same input.
};

Amounts amounts_in(const Pairs& pairs) {
  Amounts amounts;
  for (const PairFact* pair : pairs) {
    if (!reports_work(*pair)) continue;
    amounts.all.push_back(std::log(*pair->b.work / *pair->a.work));
    if (same_input(*pair)) amounts.pinned.push_back(amounts.all.back());
  }
  return amounts;
}

bool inflated(const Amounts& amounts) {
  return amounts.pinned.size() >= kAtLeast && stats::hodges_lehmann(amounts.pinned) > kTolerance;
}

// Whatever the pairs were bought for, unless both arms were the baseline. Of arms that share a
// process it cannot be told which of them left others behind.
LeftoverProcesses left_behind_in(const Evidence& evidence) {
  LeftoverProcesses left;
  for (const PairFact& pair : evidence.pairs) {
    const bool same = pair.purpose == model::Purpose::kTopUp && target_of(pair.target).same;
    if (pair.voided || same || !pair.steps.empty()) continue;
    ++left.pairs;
    left.only_a += pair.a.left_behind > 0 && pair.b.left_behind == 0 ? 1 : 0;
    left.only_b += pair.b.left_behind > 0 && pair.a.left_behind == 0 ? 1 : 0;
  }
  return left;
}

std::string explain(const Evidence& evidence, const Amounts& amounts) {
  const std::vector<double>& log_work = amounts.all;
  if (log_work.size() < kAtLeast) {
    if (!pairs_help(evidence)) {
      return "no pair reports the work of both arms, and more pairs will not help: report work "
             "through AMDAHL_REPORT, or set work_pattern or fixed_work in the spec";
    }
    return fmt::format("{} with the work of both arms; at least {} are needed",
                       count(log_work.size(), "pair"), kAtLeast);
  }
  if (all_equal(log_work)) {
    if (evidence.spec->fixed_work) {
      return fmt::format(
          "the spec declares {} {} of work for every run, so {} have equal work: skipped work "
          "would show only in the outputs",
          *evidence.spec->fixed_work, evidence.spec->work_unit, count(log_work.size(), "pair"));
    }
    return fmt::format("both arms did the same work in all {}", count(log_work.size(), "pair"));
  }
  if (inflated(amounts)) {
    return fmt::format(
        "B reports {:+.2f} % work relative to A over {} with the same input, which is impossible; "
        "at most {} is tolerated",
        100 * std::expm1(stats::hodges_lehmann(amounts.pinned)),
        count(amounts.pinned.size(), "pair"), show_percent(kTolerance));
  }
  return fmt::format(
      "B does {:+.2f} % work relative to A over {}; at most {} less is tolerated (within that: {})",
      100 * std::expm1(stats::hodges_lehmann(log_work)), count(log_work.size(), "pair"),
      show_percent(kTolerance), show_p(p_within(log_work, kTolerance)));
}

}  // namespace

Ruling rule(std::span<const double> log_work, double tolerance) {
  if (log_work.size() < kAtLeast) return kAbstains;
  if (all_equal(log_work)) return kAgrees;
  if (stats::hodges_lehmann(log_work) < -tolerance) return kVetoes;
  return p_within(log_work, tolerance) <= 0.05 ? kAgrees : kAbstains;
}

Ruling rule(const LeftoverProcesses& left) {
  if (left.pairs >= static_cast<int>(kAtLeast) && left.only_b > 0) {
    if (left.only_a == 0 && 2 * left.only_b >= left.pairs) return kVetoes;
    const Ruling doubt = by_p(stats::binomial_tail(left.only_b, left.only_a + left.only_b));
    if (doubt != kAbstains) return doubt;
  }
  return kAgrees;
}

model::Finding run(const Evidence& evidence) {
  const Pairs pairs = pairs_for(evidence, "work");
  const Amounts amounts = amounts_in(pairs);
  const Ruling amount = inflated(amounts) ? kVetoes : rule(amounts.all, kTolerance);
  const Coverage seen =
      coverage(pairs, [](const model::ArmFact& arm) { return arm.work.value_or(0) > 0; });
  if (const Ruling allowed = refute::rule(seen); severity(allowed) > severity(amount)) {
    return finding(allowed, fmt::format("work is {}", refute::explain(seen)));
  }
  const LeftoverProcesses left = left_behind_in(evidence);
  const Ruling processes = rule(left);
  if (severity(processes) > severity(amount)) {
    return finding(
        processes,
        fmt::format("only B leaves processes running in {} of {}, only A in {}: their remaining "
                    "work is missing from the cost of B",
                    left.only_b, count(static_cast<std::size_t>(left.pairs), "pair"), left.only_a));
  }
  return finding(amount, explain(evidence, amounts));
}

bool pairs_help(const Evidence& evidence) {
  return evidence.pairs.empty() || reports_work(evidence);
}

}  // namespace amdahl::refute::work
