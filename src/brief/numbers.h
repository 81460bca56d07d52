// numbers.h: numbers for readers who pay by the character.
#pragma once

#include "base/json.h"

namespace amdahl::brief {

// Three significant digits; null for what is not finite.
Json rounded(double value);

}  // namespace amdahl::brief
