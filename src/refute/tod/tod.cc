#include "refute/tod/tod.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "refute/facts.h"
#include "refute/strata/strata.h"

namespace amdahl::refute::tod {
namespace {

constexpr std::array<const char*, 4> kQuarters = {"00-06 h", "06-12 h", "12-18 h", "18-24 h"};
constexpr double kDay_s = 24 * 3600;

}  // namespace

std::string quarter_of(double started_s, double local_minus_utc_s) {
  const double local = started_s + local_minus_utc_s;
  const double day = local - kDay_s * std::floor(local / kDay_s);  // Also before 1970.
  const auto quarter = static_cast<std::size_t>(day / (kDay_s / kQuarters.size()));
  return kQuarters.at(std::min(quarter, kQuarters.size() - 1));
}

model::Finding run(const Evidence& evidence) {
  Pairs pairs = pairs_for(evidence, "tod");
  std::erase_if(pairs, [](const model::PairFact* pair) { return !(pair->a.started_s > 0); });
  if (pairs.empty()) return finding(kAbstains, "no pair says when it ran");
  std::vector<std::string> group;
  for (const model::PairFact* pair : pairs) {
    group.push_back(quarter_of(pair->a.started_s, evidence.local_minus_utc_s));
  }
  strata::Weights weights;
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    weights[kQuarters[i]] = evidence.quarter_shares[i];
  }
  const double theta = claimed(evidence);
  const std::vector<double> d = log_ratios(evidence, pairs);
  return finding(strata::rule(d, group, weights, theta),
                 strata::explain(d, group, weights, theta, "time of day"));
}

}  // namespace amdahl::refute::tod
