// numbers.h: short numbers, for readers who pay per token.
#pragma once

#include "base/json.h"

namespace amdahl::brief {

// Three significant digits; null if not finite.
Json rounded(double value);

}  // namespace amdahl::brief
