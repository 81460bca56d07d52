// evidence.h: the panel's evidence besides the pairs, and which targeted pairs it may ask for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "refute/check.h"

namespace amdahl::loop {

// The baseline's failure rate in these pairs and before, smoothed so that a short history proves
// nothing.
struct FailureRate {
  double rate = 0;
  double runs = 0;  // Number of runs behind the rate.
};
FailureRate failure_rate(std::span<const model::PairFact> pairs, int past_runs, int past_failed);

// Evidence from the hypothesis: the share it can affect, where the time should be saved, and the
// effects of other values of the same knob.
void describe(const model::Hypothesis& hypothesis, std::span<const refute::Dose> doses,
              refute::Evidence& evidence);

// The checks that get targeted pairs, given the panel's votes. For a surviving claim: checks that
// abstain but ask for pairs; with `curious` also the contention check.
std::vector<std::string> targets_of(std::span<const model::Finding> votes,
                                    const refute::Evidence& evidence, bool curious);

// Whether this check can veto from amounts, orders and bounds, without many pairs.
bool tells_early(std::string_view check);

}  // namespace amdahl::loop
