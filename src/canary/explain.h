// explain.h: the result of a canary as text for people.
#pragma once

#include <string>

#include "model/canary.h"

namespace amdahl::canary {

// One sentence with the numbers in it: CanaryResult::because.
std::string explain(const model::Canary& canary, const model::CanaryResult& result);

// "3 of 41 runs failed with it, 4 of 104 without": earlier and held-back runs.
std::string show_failures(const model::Canary& canary, const model::CanaryResult& result);

// "saves 12 % (3.1 % to 20 %, 95 % confidence each side, 11 pairs)"; "no pair yet" without any.
std::string show_effect(const model::Comparison& comparison);

}  // namespace amdahl::canary
