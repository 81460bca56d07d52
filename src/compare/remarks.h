// remarks.h: what is odd about the pairs, each with what to do about it.
#pragma once

#include <string>
#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

// What the slot does, whoever sits in it, by A/A pairs and by A/B pairs less their effect.
OrderEffect order_effect(const Tried& tried, double effect);

// Whether A and B give different outputs; see Tried::outputs_named.
bool outputs_differ(const Tried& tried);

// Needs the comparison, the noise and the order effect of the account to be there.
std::vector<std::string> remarks_on(const Account& account);

// "others used 0.4 of 2 cores"; empty if it was not observed.
std::string host_line(const Tried& tried);

}  // namespace amdahl::compare
