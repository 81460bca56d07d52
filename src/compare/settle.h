// settle.h: what a person can do so that a comparison gets its answer.
#pragma once

#include <string>
#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

// Each with a number and what to type; empty if it is settled. Needs all numbers of the account.
std::vector<std::string> what_settles(const Account& account);

}  // namespace amdahl::compare
