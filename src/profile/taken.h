// taken.h: what others took from a job while it was profiled, and what that leaves of its ceilings.
#pragma once

#include <map>
#include <string>

namespace amdahl::profile {

// The share of the profiled time that other work on the host, the hypervisor and our own collectors
// may have taken from the job. Nobody knows which cause or line it held up.
double taken_by_others(const std::map<std::string, double>& evidence);

// The speed-up if a part of the profiled time vanished, at most: where nobody takes anything from
// the job all else is shorter, and the part a larger share of it, up to share / (1 - taken).
double ceiling_without(double taken, double share);

// The other way round: the share whose end is this speed-up. 0 of none.
double share_of(double ceiling);

}  // namespace amdahl::profile
