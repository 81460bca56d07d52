// tally.h: what campaigns came to, added up.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/drive.h"
#include "sim/figure.h"

namespace amdahl::sim {

// Sums of one campaign, or of whatever is an independent unit.
struct Tally {
  double hypotheses = 0;
  double promoted = 0;
  double false_promoted = 0;    // Not real wins.
  double noise_promoted = 0;    // Of them, those that noise alone explains.
  double harmful_promoted = 0;  // Those that cost more, or lose work or quality.
  double kept = 0;              // By canaries: of all promotions, of false ones, of wins.
  double false_kept = 0;
  double wins_kept = 0;
  double kept_h = 0;
  double wins = 0;                // Real, of 2 % and more,
  double wins_promoted = 0;       // and found.
  double wins_told = 0;           // Those of jobs that tell what mandatory checks need,
  double wins_told_promoted = 0;  // and found.
  double compare = 0;             // Pairs that count,
  double replicate = 0;
  double top_up = 0;
  double voided = 0;  // and those that did not.
  double held = 0;
  double parked = 0;
  double recoverable_h = 0;  // By all real wins.
  double recovered_h = 0;    // By what was promoted; harm taken off.
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
