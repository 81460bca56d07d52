// evidence.h: what the panel is shown besides the pairs, and which pairs it may ask for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "refute/check.h"

namespace amdahl::loop {

// The baseline's own failures, in these pairs and before, smoothed so that a short history proves
// nothing.
struct FailureRate {
  double rate = 0;
  double runs = 0;  // That it is known from.
};
FailureRate failure_rate(std::span<const model::PairFact> pairs, int past_runs, int past_failed);

// What the hypothesis says of itself: the share it can touch, where the time should be saved, and
// what other turns of the same knob did.
void describe(const model::Hypothesis& hypothesis, std::span<const refute::Dose> doses,
              refute::Evidence& evidence);

// The checks that targeted pairs are bought for, given how the panel voted. Of a claim that
// survives those that would rather not be silent; with `curious` the one about contention, too.
std::vector<std::string> targets_of(std::span<const model::Finding> votes,
                                    const refute::Evidence& evidence, bool curious);

// Whether a veto of this check rests on amounts, orders and bounds rather than on many pairs.
bool tells_early(std::string_view check);

}  // namespace amdahl::loop
