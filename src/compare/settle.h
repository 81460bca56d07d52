// settle.h: what a person can do to get a decision from an open comparison.
#pragma once

#include <string>
#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

// Each with a number and a command; empty if it is decided. All numbers of the account must be set.
std::vector<std::string> what_settles(const Account& account);

}  // namespace amdahl::compare
