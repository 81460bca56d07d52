// remarks.h: remarks on unusual pairs, each with what to do about it.
#pragma once

#include <string>
#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

// The effect of running second, from A/A pairs and from A/B pairs after removing their effect.
OrderEffect order_effect(const Measurements& measured, double effect);

// Whether A and B give different outputs; see Measurements::outputs_named.
bool outputs_differ(const Measurements& measured);

// The account's comparison, noise and order effect must be filled in.
std::vector<std::string> remarks_on(const Account& account);

// "other processes used 0.40 of 2 cores …"; empty if it was not observed.
std::string host_line(const Measurements& measured);

}  // namespace amdahl::compare
