// taken.h: what a share of a profiled run is worth: expected, and at most, given what others took
// from it and what is not seen of it.
#pragma once

#include <map>
#include <string>

#include "model/profile.h"

namespace amdahl::profile {

// Evidence: imports of installed packages that the run needs. Hardly any fix removes them, so that
// they are no part of any cause.
inline constexpr const char* kNeededImports = "needed_import_share";
// Evidence: imports that were found to be for nothing.
inline constexpr const char* kNeedlessImports = "needless_import_share";

// Lines are sampled, operators are timed in a window of steps, and what a line holds up elsewhere
// (caches that it empties, memory that it asks for) does not show in its own time: of the whole, in
// the ceilings of what is known so.
inline constexpr double kUnseen = 0.05;

// The speed-up of the run as it was without the time that the cause was seen to take. A fix may
// gain more: on a host with less load, and where it shortens what was not seen.
double expected_gain(const model::Cause& cause);

// The share of the profiled time that other work on the host, the hypervisor and our own collectors
// may have taken from the job. Nobody knows which cause or line it held up.
double taken_by_others(const std::map<std::string, double>& evidence);

// The speed-up if this part of the profiled time vanished, at most: where nobody takes anything
// from the job all else is shorter, and the part a larger share of it, up to share / (1 - taken).
// Infinite where that is all there is. It is as good as the share: a fix that also shortens what is
// not in it gains more.
double ceiling_without(double taken, double share);

// The other way round: the share whose end is this speed-up. 0 of none.
double share_of(double ceiling);

}  // namespace amdahl::profile
