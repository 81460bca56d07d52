// steps.h: pairs of neighbouring steps inside one process that alternates between the arms.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/plan.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::launch {

// Pairs at the start of a schedule that count for nothing: caches fill, clocks rise.
inline constexpr int kWarmUpPairs = 1;
// What a run is asked for; a job may have fewer.
inline constexpr int kStepPairs = 64;

// "ABBAAB…", a letter a step: kWarmUpPairs and then `pairs` of them, steps 2k and 2k + 1 being pair
// k, each in the order of its own coin: stats::coin(seed, "hypothesis|index", k).
std::string step_schedule(std::string_view seed, std::string_view hypothesis, int index, int pairs);

// What must be switched between the steps, and to what in each arm: {"A": {"args": {"--batch":
// "8"}}, "B": …}, with "env", "args" and "config" as in model::Change; null means unset, taken away
// or, for config, as the file has it. Only what differs is in it. `fill` is applied to each value.
// Fails if the arms differ in what one process cannot change about itself, or in what is no knob of
// the spec: most variables are read once, and a job that does not know of them would seem to show
// that they do nothing. Nor can steps be compared by a metric that the job reports. Such arms must
// be whole runs.
Result<Json> step_settings(const model::Spec& spec, const model::Plan& a, const model::Plan& b,
                           const std::function<std::string(std::string)>& fill);

// The pairs after the warm-up, in accelerator-seconds per unit of work. A job may end before the
// schedule does; half a pair at its end is left out. The error is why the run must be void: the
// job did not do as it was told, or did not say so.
Result<std::vector<model::StepPair>> step_pairs(const model::Receipt& whole,
                                                const std::string& schedule);

// The arm of the step after those that are done; before the first it is a process of A.
char arm_under_way(std::size_t steps_done, const std::string& schedule);

// The process's receipt reduced to the steps of one arm that step_pairs() counts: the wall time and
// the work are theirs; CPU time and delays are divided as the seconds are, for no one can tell them
// apart; phases and utilisation, which are laid out along the process's time, are left out; the
// rest is the process's. A failure is that of the arm whose step was under way.
model::Receipt step_share(const model::Receipt& whole, const std::string& schedule, char arm);

}  // namespace amdahl::launch
