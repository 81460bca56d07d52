#include "sim/tally.h"

#include <cmath>

namespace amdahl::sim {
namespace {

constexpr double kWorthFinding = 0.02;  // Wins that save less may be missed.

}  // namespace

Tally tally_of(const std::vector<Outcome>& outcomes) {
  Tally tally;
  for (const Outcome& outcome : outcomes) {
    const Truth& truth = outcome.truth;
    const bool real = is_real(truth.kind);
    const bool worth_finding = real && -std::expm1(-truth.effect) >= kWorthFinding - 1e-9;
    tally.hypotheses += 1;
    tally.compare += outcome.compare;
    tally.replicate += outcome.replicate;
    tally.top_up += outcome.top_up;
    tally.voided += outcome.voided;
    tally.held += outcome.held ? 1 : 0;
    tally.parked += outcome.parked ? 1 : 0;
    tally.spent_h += outcome.spent_h;
    const bool tells = truth.inputs_known;
    tally.wins += worth_finding ? 1 : 0;
    tally.wins_told += worth_finding && tells ? 1 : 0;
    if (real) tally.recoverable_h += hours_back(truth);
    if (!outcome.promoted) continue;
    tally.promoted += 1;
    tally.promoted_by_kind[static_cast<std::size_t>(truth.kind)] += 1;
    tally.false_promoted += real ? 0 : 1;
    tally.noise_promoted += is_statistical(truth.kind) ? 1 : 0;
    tally.harmful_promoted += is_harmful(truth.kind) ? 1 : 0;
    tally.wins_promoted += worth_finding ? 1 : 0;
    tally.wins_told_promoted += worth_finding && tells ? 1 : 0;
    tally.recovered_h += hours_back(truth);
    if (!outcome.kept()) continue;
    tally.kept += 1;
    tally.kept_by_kind[static_cast<std::size_t>(truth.kind)] += 1;
    tally.false_kept += real ? 0 : 1;
    tally.wins_kept += worth_finding ? 1 : 0;
  }
  return tally;
}

Tally tally_of(const Campaign& campaign) {
  Tally tally = tally_of(campaign.outcomes);
  tally.same_h = campaign.same_h;
  return tally;
}

Figure over(const std::vector<Tally>& tallies, double Tally::*above, double Tally::*below) {
  std::vector<double> tops;
  std::vector<double> bottoms;
  for (const Tally& tally : tallies) {
    tops.push_back(tally.*above);
    bottoms.push_back(tally.*below);
  }
  return ratio_of(tops, bottoms);
}

Figure pairs_per_hypothesis(const std::vector<Tally>& tallies) {
  std::vector<double> tops;
  std::vector<double> bottoms;
  for (const Tally& tally : tallies) {
    tops.push_back(tally.pairs());
    bottoms.push_back(tally.hypotheses);
  }
  return ratio_of(tops, bottoms);
}

}  // namespace amdahl::sim
