// tod.h: whether the win holds over the time of day.
#pragma once

#include "refute/check.h"

namespace amdahl::refute::tod {

// The quarter of the local day in which a run that started then began: "06-12 h".
std::string quarter_of(double started_s, double local_minus_utc_s);

// The rule of strata, with the quarters of the day as groups, or day and night where too few of
// the quarters have pairs.
model::Finding run(const Evidence& evidence);
bool pairs_help(const Evidence& evidence);

}  // namespace amdahl::refute::tod
