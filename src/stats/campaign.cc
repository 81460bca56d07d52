#include "stats/campaign.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stats/estimate.h"
#include "stats/exact.h"

namespace amdahl::stats {
namespace {

// How much easier than at equal weights this weight makes it.
double log_favour(const Campaign& campaign, double weight) {
  return weight > 0 ? std::log(weight * campaign.hypotheses) : 0;
}

}  // namespace

double promotion_log_threshold(const Campaign& campaign) {
  return std::log(campaign.hypotheses / (campaign.alpha * (campaign.promoted + 1.0)));
}

double promotion_log_threshold(const Campaign& campaign, double weight) {
  return promotion_log_threshold(campaign) - log_favour(campaign, weight);
}

double weight_left(std::span<const double> registered) {
  const double left = 1 - sum(registered);
  return left > 1e-12 ? left : 0;  // K times 1/K may miss 1 by rounding.
}

double gamma_log(int t) {
  // 1/log2(t+1) - 1/log2(t+2), without the cancellation at large t.
  const double step = std::log1p(1 / (t + 1.0)) / std::numbers::ln2;
  return step / (std::log2(t + 1.0) * std::log2(t + 2.0));
}

double pairs_to_win(double log_e, int pairs, double log_threshold) {
  const double per_pair = pairs == 0 ? 0.30 : std::clamp(log_e / pairs, 0.10, 0.60);
  return std::max(1.0, (log_threshold - log_e) / per_pair);
}

double budget_index(const Prospect& p) {
  const double e = std::exp(std::min(p.log_e, 50.0));
  const double chance = p.prior * e / (1 - p.prior + p.prior * e);
  const double variance = (1.3 * p.sigma) * (1.3 * p.sigma);
  const double seen = p.pairs / variance;
  const double prior = 1 / (p.tau * p.tau);
  const double effect = (seen * p.effect + prior * 0.5 * p.claim) / (seen + prior);
  const double gain = 1 - std::exp(-std::max(effect, 0.0));
  const double remaining = pairs_to_win(p.log_e, p.pairs, p.log_threshold);
  return chance * gain * p.volume / (p.cost_per_pair * remaining);
}

}  // namespace amdahl::stats
