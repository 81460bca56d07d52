// classes.h: what a class of bottleneck costs a job, and the order of what was dreamt.
#pragma once

#include <vector>

#include "model/hypothesis.h"
#include "model/profile.h"

namespace amdahl::dream {

// Share of the cost that causes of this class explain, at most 0.99; 0 if the profile has none.
double share_of_class(const model::Profile& profile, model::Bottleneck bottleneck);

// The largest prior × predicted gain first, and of each key only that one.
std::vector<model::Hypothesis> best_of_each(std::vector<model::Hypothesis> hypotheses);

}  // namespace amdahl::dream
