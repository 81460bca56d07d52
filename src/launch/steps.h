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

// Pairs at the start that do not count: caches fill, clocks rise.
inline constexpr int kWarmUpPairs = 1;
// Requested pairs; a job may run fewer.
inline constexpr int kStepPairs = 64;

// "ABBAAB…", one letter per step: kWarmUpPairs, then `pairs`. Steps 2k and 2k + 1 are pair k, in
// the order of its own coin: stats::coin(seed, "hypothesis|index", k).
std::string step_schedule(std::string_view seed, std::string_view hypothesis, int index, int pairs);

// What to switch between steps, per arm: {"A": {"args": {"--batch": "8"}}, "B": …}, with "env",
// "args" and "config" as in model::Change; null means unset, removed or, for config, as in the
// file. Contains only differences. `fill` is applied to each value.
// Fails if the arms differ in something that a process cannot change about itself or that is not a
// knob of the spec: most variables are read only once, so switching them would seem to have no
// effect. Also fails for a metric that the job reports. Such arms must be separate runs.
Result<Json> step_settings(const model::Spec& spec, const model::Plan& a, const model::Plan& b,
                           const std::function<std::string(std::string)>& fill);

// The pairs after the warm-up, in accelerator-seconds per unit of work. A job may end before the
// schedule; an incomplete last pair is dropped. The error is why the run must be void: the job did
// not follow the schedule, or did not report it.
Result<std::vector<model::StepPair>> step_pairs(const model::Receipt& whole,
                                                const std::string& schedule);

// The arm of the step after those that are done; A before the first.
char arm_under_way(std::size_t steps_done, const std::string& schedule);

// The process's receipt reduced to the steps of one arm that step_pairs() counts: their wall time
// and work; CPU time and delays divided in proportion to the seconds; no phases and utilisation,
// which follow the process's time; the rest from the process. A failure belongs to the arm whose
// step was running.
model::Receipt step_share(const model::Receipt& whole, const std::string& schedule, char arm);

}  // namespace amdahl::launch
