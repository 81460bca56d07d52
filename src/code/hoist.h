// hoist.h: a statement of a Python loop that gives the same value each time, moved before the loop.
#pragma once

#include <vector>

#include "code/rule.h"

namespace amdahl::code::python {

// For `name = torch.ones(n, n)` and the like whose value cannot differ from pass to pass and which
// nothing in the loop changes; none if that is not certain.
std::vector<Edit> hoisted(const Subject& subject);

}  // namespace amdahl::code::python
