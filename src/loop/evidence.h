// evidence.h: the panel's evidence besides the pairs, and which targeted pairs it may ask for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "model/pair.h"
#include "model/spec.h"
#include "refute/check.h"

namespace amdahl::loop {

// Earlier runs of the baseline, how many of them failed, and of these those lost with their worker.
struct PastRuns {
  int runs = 0;
  int failed = 0;
  int lost = 0;
};
// One more of them.
void add_run(const model::ArmFact& arm, PastRuns& past);
// How often the baseline failed, smoothed so that a short history proves nothing; with `own`,
// without runs that were lost with their worker.
refute::UsualFailures usual_failures(const PastRuns& past, bool own);

// The spec with the metric that was registered, which counts whatever the spec says by now.
model::Spec as_registered(const model::Experiment& e, model::Spec spec);

// Evidence from the hypothesis: the share it can affect, where the time should be saved, and the
// effects of other values of the same knob.
void describe(const model::Hypothesis& hypothesis, std::span<const refute::Dose> doses,
              refute::Evidence& evidence);

// The checks that get targeted pairs, given the panel's votes. For a surviving claim: checks that
// abstain but ask for pairs; with `curious` also the contention check.
std::vector<std::string> targets_of(std::span<const model::Finding> votes,
                                    const refute::Evidence& evidence, bool curious);

// Deviation of one pair, from log-ratios of A/A pairs. Few of them may agree by luck: then the
// largest counts.
double noise_of(std::span<const double> same);

// Whether this check can veto from amounts, orders and bounds, without many pairs.
bool tells_early(std::string_view check);

// Why the variant can never run although the baseline can.
std::optional<std::string> why_never(const model::Pair& pair, const model::PairFact& fact);

}  // namespace amdahl::loop
