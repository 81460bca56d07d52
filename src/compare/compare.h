// compare.h: computes an estimate, an interval and one of four answers from pairs. No I/O.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::compare {

// Fixed before the first pair.
struct Design {
  double sigma = 0.05;        // From A/A pairs, or the default.
  double delta = 0.01;        // Smallest effect that matters.
  double win_threshold = 20;  // E at which the answer is "better".
  double beta = 0.20;
  int cap = 40;
  double bound_level = 0.05;  // On each side of the interval.
  // "Same" also requires evidence that B does not cost more: for a person who asks which of two is
  // better. One-sided, anything that saves less than delta is dismissed as early as possible.
  bool two_sided = false;

  friend bool operator==(const Design&, const Design&) = default;
};

Design design_of(const model::Experiment& experiment);

// ln(cost A per work) - ln(cost B per work) of a resolved pair; above zero, B is cheaper. Uses the
// reported metric if both arms have it. Nothing if a number is missing, zero or negative: such a
// pair is void, never 0. For alternating steps it is the typical value of its steps.
std::optional<double> log_ratio(const model::PairFact& pair, bool lower_is_better = true);
// The same by the spec's metric and direction. If that is a reported metric, an arm without it
// makes the pair void; the form above would fall back to the cost.
std::optional<double> log_ratio(const model::PairFact& pair, const model::Spec& spec);

// What the pair adds to the evidence: its log-ratio, or that of each pair of steps, since each had
// its own coin. Empty if void; one bad step voids the whole pair.
std::vector<double> log_ratios(const model::PairFact& pair, bool lower_is_better = true);
std::vector<double> log_ratios(const model::PairFact& pair, const model::Spec& spec);

// Why the pair is void ("B: exit 1", "A reports no work"); empty if it counts.
std::string why_void(const model::PairFact& pair);
std::string why_void(const model::PairFact& pair, const model::Spec& spec);

// Why each arm has no number ("exit 1", "reports no work"), independent of the other; empty if it
// has one.
struct ArmFaults {
  std::string a;
  std::string b;
};
ArmFaults arm_faults(const model::PairFact& pair, const model::Spec& spec);

// The log-ratios of the pairs that feed E (compare, replicate), ordered by index, up to the first
// index that is still open: `open` has the indices of such pairs in flight. Otherwise a faster
// variant could select pairs by finishing early. Top-ups never feed E, because they are not
// randomised. A pair of alternating arms gives one log-ratio per pair of steps.
std::vector<double> resolved_prefix(std::span<const model::PairFact> pairs,
                                    std::span<const int> open, bool lower_is_better = true);
std::vector<double> resolved_prefix(std::span<const model::PairFact> pairs,
                                    std::span<const int> open, const model::Spec& spec);

// The answer now; valid under peeking. To update after each pair, keep a Judge (judge.h). `d` is
// from resolved_prefix(); the caller fills `voided`. `smallest_visible` is half the width of the
// interval: an estimate that far from 0 would have excluded 0. +inf while a bound is missing.
model::Comparison judge(std::span<const double> d, const Design& design);

// Noise of one pair (or pair of steps) from the A/A log_ratios(): clamp(1.4826*median|d|); 0.05
// with fewer than 6.
double sigma_from_same(std::span<const double> same);

// Expected number of further pairs until a verdict: at least 1 while open, 0 if E has reached a
// threshold of this design or the cap is used up.
int pairs_still_needed(const model::Comparison& comparison, const Design& design);

}  // namespace amdahl::compare
