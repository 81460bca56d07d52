#include "refute/work/work.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/tests.h"

namespace amdahl::refute::work {
namespace {

constexpr std::size_t kAtLeast = 3;
constexpr double kTolerance = 0.005;

bool all_equal(std::span<const double> log_work) {
  return std::ranges::all_of(log_work, [](double value) { return std::abs(value) <= 1e-6; });
}

double p_within(std::span<const double> log_work, double tolerance) {
  const auto both = stats::equivalence(log_work, -tolerance, tolerance);
  return std::max(both.p_above_low, both.p_below_high);
}

std::string explain(const Evidence& evidence, std::span<const double> log_work) {
  if (log_work.size() < kAtLeast) {
    if (!pairs_help(evidence)) {
      return "no pair reports how much work both arms did, and more pairs will not change that: "
             "report work through AMDAHL_REPORT, or set work_pattern or fixed_work in the spec";
    }
    return fmt::format("{} with the work of both arms, at least {} are needed",
                       count(log_work.size(), "pair"), kAtLeast);
  }
  if (all_equal(log_work)) {
    if (evidence.spec->fixed_work) {
      return fmt::format(
          "the spec declares the work of every run, {:g} {}, the same in {}: work that is skipped "
          "shows only in the outputs",
          *evidence.spec->fixed_work, evidence.spec->work_unit, count(log_work.size(), "pair"));
    }
    return fmt::format("both arms did the same work in all {}", count(log_work.size(), "pair"));
  }
  return fmt::format(
      "B does {:+.2f} % work against A over {}, within {} is asked (p {} for keeping within)",
      100 * std::expm1(stats::hodges_lehmann(log_work)), count(log_work.size(), "pair"),
      show_percent(kTolerance), show_number(p_within(log_work, kTolerance)));
}

}  // namespace

Ruling rule(std::span<const double> log_work, double tolerance) {
  if (log_work.size() < kAtLeast) return kAbstains;
  if (all_equal(log_work)) return kAgrees;
  if (stats::hodges_lehmann(log_work) < -tolerance) return kVetoes;
  return p_within(log_work, tolerance) <= 0.05 ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  std::vector<double> log_work;
  for (const model::PairFact* pair : pairs_for(evidence, "work")) {
    const double a = pair->a.work.value_or(0);
    const double b = pair->b.work.value_or(0);
    if (a > 0 && b > 0) log_work.push_back(std::log(b / a));
  }
  return finding(rule(log_work, kTolerance), explain(evidence, log_work));
}

bool pairs_help(const Evidence& evidence) {
  return evidence.pairs.empty() || reports_work(evidence);
}

}  // namespace amdahl::refute::work
