#include "refute/tod/tod.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "refute/facts.h"
#include "refute/strata/strata.h"

namespace amdahl::refute::tod {
namespace {

constexpr std::array<const char*, 4> kQuarters = {"00-06 h", "06-12 h", "12-18 h", "18-24 h"};
constexpr const char* kDayTime = "06-18 h";
constexpr double kDay_s = 24 * 3600;

// Few pairs cover two halves sooner than four quarters.
std::string half_of(const std::string& quarter) {
  return quarter == kQuarters[1] || quarter == kQuarters[2] ? kDayTime : "18-06 h";
}

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
  const std::size_t all = pairs_for(evidence, "tod").size();
  if (pairs.empty()) return finding(kAbstains, "no pair recorded when it ran");
  if (!nearly_all(pairs.size(), all)) {
    return finding(kAbstains, fmt::format("only {} of {} recorded when they ran", pairs.size(),
                                          count(all, "pair")));
  }
  const double theta = claimed(evidence);
  const std::vector<double> d = log_ratios(evidence, pairs);
  std::vector<std::string> quarters;
  for (const model::PairFact* pair : pairs) {
    quarters.push_back(quarter_of(pair->a.started_s, evidence.local_minus_utc_s));
  }
  strata::Weights weights;
  for (std::size_t i = 0; i < kQuarters.size(); ++i) {
    weights[kQuarters[i]] = evidence.quarter_shares[i];
  }
  const bool asked = had_pairs(evidence, "tod");
  const Ruling by_quarter = strata::lasting(d, quarters, weights, theta, asked);
  // A quarter that has too few pairs to be heard is heard in its half.
  std::vector<std::string> halves;
  strata::Weights coarser;
  for (const std::string& quarter : quarters) halves.push_back(half_of(quarter));
  for (const auto& [quarter, weight] : weights) coarser[half_of(quarter)] += weight;
  const Ruling by_half = strata::lasting(d, halves, coarser, theta, asked);
  const bool worse = severity(by_half) > severity(by_quarter);
  if (by_half != kAbstains && (by_quarter == kAbstains || worse)) {
    return finding(by_half, strata::explain(d, halves, coarser, theta, "half of the day"));
  }
  return finding(by_quarter, strata::explain(d, quarters, weights, theta, "time of day"));
}

// Nobody can send a pair to another hour; but a job that is run around the clock gets there.
bool pairs_help(const Evidence& evidence) {
  bool day = false;
  bool night = false;
  for (const model::PairFact* pair : pairs_for(evidence, "tod")) {
    if (!(pair->a.started_s > 0)) continue;
    const std::string quarter = quarter_of(pair->a.started_s, evidence.local_minus_utc_s);
    (half_of(quarter) == kDayTime ? day : night) = true;
  }
  return day && night;
}

}  // namespace amdahl::refute::tod
