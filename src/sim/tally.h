// tally.h: sums the results of campaigns.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/drive.h"
#include "sim/figure.h"

namespace amdahl::sim {

// Sums of one independent unit, such as a campaign.
struct Tally {
  double hypotheses = 0;
  double promoted = 0;
  double false_promoted = 0;    // Not real wins.
  double noise_promoted = 0;    // Explained by noise alone.
  double harmful_promoted = 0;  // Cost more, or lose work or quality.
  double kept = 0;              // By canaries: of all promotions, of false ones, of wins.
  double false_kept = 0;
  double wins_kept = 0;
  double wins = 0;                // Real, at least 2 %,
  double wins_promoted = 0;       // and found.
  double wins_told = 0;           // Of jobs with the data that mandatory checks need,
  double wins_told_promoted = 0;  // and found.
  double compare = 0;             // Valid pairs,
  double replicate = 0;
  double top_up = 0;
  double voided = 0;  // and void ones.
  double held = 0;
  double parked = 0;
  double recoverable_h = 0;  // By all real wins.
  double recovered_h = 0;    // By promotions; harm subtracted.
  double spent_h = 0;        // On pairs of hypotheses.
  double same_h = 0;
  std::array<double, kKinds> promoted_by_kind{};
  std::array<double, kKinds> kept_by_kind{};

  double pairs() const { return compare + replicate + top_up; }
};

Tally tally_of(const std::vector<Outcome>& outcomes);
Tally tally_of(const Campaign& campaign);

// Figures over independent tallies.
Figure over(const std::vector<Tally>& tallies, double Tally::*above, double Tally::*below);
Figure pairs_per_hypothesis(const std::vector<Tally>& tallies);

}  // namespace amdahl::sim
