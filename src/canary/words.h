// words.h: what a canary saw, as people read it.
#pragma once

#include <string>

#include "model/canary.h"

namespace amdahl::canary {

// One sentence with the numbers in it: CanaryResult::because.
std::string explain(const model::Canary& canary, const model::CanaryResult& result);

// "3 of 41 runs failed, and 4 of 104 without it": earlier runs and held-back ones.
std::string show_failures(const model::Canary& canary, const model::CanaryResult& result);

// "saves 12 % (3.1 % to 20 %, 95 % each side, 11 pairs)"; "no pair yet" without any.
std::string show_effect(const model::Comparison& comparison);

}  // namespace amdahl::canary
