// compare.h: pairs in, an estimate with an interval and one of four answers out. Does no I/O.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::compare {

// What is fixed before the first pair.
struct Design {
  double sigma = 0.05;        // From A/A pairs, or the default.
  double delta = 0.01;        // Smallest effect that matters.
  double win_threshold = 20;  // E at which the answer is "better".
  double beta = 0.20;
  int cap = 40;
  double bound_level = 0.05;  // Of the interval, on each side.
  // "Same" asks for evidence that it costs no more, too: for a person, who wants to know which of
  // two is better. One-sided, whatever saves less than delta is dismissed as early as can be.
  bool two_sided = false;

  friend bool operator==(const Design&, const Design&) = default;
};

Design design_of(const model::Experiment& experiment);

// ln(cost A per work) - ln(cost B per work) of a resolved pair; above zero, B is cheaper. Uses the
// reported metric where both arms carry one. Nothing if a number is missing, zero or negative:
// such a pair is void, never 0.
// For a pair whose arms alternate by steps it is the typical one of its steps.
std::optional<double> log_ratio(const model::PairFact& pair, bool lower_is_better = true);
// The same by the spec's own metric and direction: if that is a reported one, an arm that does not
// report it makes the pair void, where the form above would fall back on the cost.
std::optional<double> log_ratio(const model::PairFact& pair, const model::Spec& spec);

// All that the pair adds to the evidence: its one log-ratio, or that of each pair of steps, for
// each of those had a coin of its own. Empty if it is void; a bad step voids the whole pair.
std::vector<double> log_ratios(const model::PairFact& pair, bool lower_is_better = true);
std::vector<double> log_ratios(const model::PairFact& pair, const model::Spec& spec);

// Why the pair must be void ("B: exit 1", "A reports no work"); empty if it counts.
std::string why_void(const model::PairFact& pair);
std::string why_void(const model::PairFact& pair, const model::Spec& spec);

// What keeps each arm from having a number ("exit 1", "reports no work"), the other's troubles
// aside; empty where nothing does.
struct ArmFaults {
  std::string a;
  std::string b;
};
ArmFaults arm_faults(const model::PairFact& pair, const model::Spec& spec);

// The log-ratios of the pairs that feed E (compare, replicate), in order of index, up to the first
// index that is still open: `open` holds the indices of such pairs in flight. (A variant that is
// faster must not decide by being early which pairs are looked at.) Top-ups never feed E, for no
// coin placed them. A pair of alternating arms gives one log-ratio for each pair of steps.
std::vector<double> resolved_prefix(std::span<const model::PairFact> pairs,
                                    std::span<const int> open, bool lower_is_better = true);
std::vector<double> resolved_prefix(std::span<const model::PairFact> pairs,
                                    std::span<const int> open, const model::Spec& spec);

// The answer at this peek; valid at every peek. To peek after each pair, keep a Judge (judge.h).
// `d` as from resolved_prefix(); `voided` is the caller's to fill. `smallest_visible` is half the
// width of the interval: had the estimate been that far from 0, the bound would have excluded 0. It
// is +inf while a bound is missing.
model::Comparison judge(std::span<const double> d, const Design& design);

// Scale of one pair (of steps, where they are) from A/A log-ratios as from log_ratios():
// clamp(1.4826*median|d|), 0.05 with fewer than 6.
double sigma_from_same(std::span<const double> same);

// How many further pairs a verdict will probably take; at least 1 while it is open, 0 when E has
// reached a threshold of this design or the cap is used up.
int pairs_still_needed(const model::Comparison& comparison, const Design& design);

}  // namespace amdahl::compare
