// words.h: effects, intervals and answers as people read them.
#pragma once

#include <string>
#include <string_view>

#include "compare/compare.h"
#include "model/hypothesis.h"

namespace amdahl::compare {

// An effect as the share of the cost that is saved, 1 - exp(-effect): 0.69 is "50 %".
std::string show_saving(double effect);

std::string show_count(int n, std::string_view what);  // "1 pair", "4 pairs".
std::string show_sureness(double level);               // Of a bound at that level: "95 %".

// One sentence with the numbers in it: Comparison::because.
std::string explain(const model::Comparison& comparison, const Design& design);

}  // namespace amdahl::compare
