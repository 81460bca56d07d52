// ceiling.h: the expected and the largest possible speed-up of removing a share of a profiled run.
#pragma once

#include <map>
#include <string>

#include "model/profile.h"

namespace amdahl::profile {

// Evidence: imports of installed packages that the run needs. Hardly any fix removes them, so they
// belong to no cause.
inline constexpr const char* kNeededImports = "needed_import_share";
// Evidence: unused imports.
inline constexpr const char* kNeedlessImports = "needless_import_share";

// Allowance in ceilings that rest on sampled lines or on operators timed in a window of steps: a
// line may also slow other code (it empties caches, it allocates memory). A share of the whole run.
inline constexpr double kUnseen = 0.05;

// The speed-up if the measured time of the cause vanished. A fix may gain more: on a less loaded
// host, or if it also shortens time that was not measured.
double expected_gain(const model::Cause& cause);

// The share of the profiled time that other processes, the hypervisor and our own collectors may
// have taken from the job. It cannot be attributed to a cause or a line.
double taken_by_others(const std::map<std::string, double>& evidence);

// Upper bound on the speed-up if this share of the profiled time vanished. Without the time that
// others took, the rest is shorter and the part a larger share, up to share / (1 - taken). Infinite
// if that is all the time. A fix that also shortens time outside the share can gain more.
double ceiling_without(double taken, double share);

// The inverse: the share that gives this speed-up when it vanishes; 0 for no speed-up.
double share_of(double ceiling);

}  // namespace amdahl::profile
