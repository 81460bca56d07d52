// explain.h: effects, intervals and answers as text for people.
#pragma once

#include <string>
#include <string_view>

#include "compare/compare.h"
#include "model/hypothesis.h"

namespace amdahl::compare {

// A log effect as the share of the cost saved, 1 - exp(-effect): 0.69 is "50 %".
std::string show_saving(double effect);

std::string show_count(int n, std::string_view what);  // "1 pair", "4 pairs".
std::string show_sureness(double level);               // Confidence of a bound at a level: "95 %".

std::string show_e(double log_e);  // "12.3"; above a million "> 1,000,000".
std::string show_p(double p);      // "p = 0.012"; below 0.0001 "p < 0.0001".

// One sentence with the numbers in it: Comparison::because.
std::string explain(const model::Comparison& comparison, const Design& design);

}  // namespace amdahl::compare
