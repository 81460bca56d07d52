// row_words.h: explains the rank of a report's row, with its numbers.
#pragma once

#include <string>

#include "scan/report.h"

namespace amdahl::scan {

std::string waste_words(const Row& row);
std::string lever_words(const Lever& lever);
// "such levers worked in 4 of 5 tries, those of this family in 1 of 2: chance 49 %".
std::string chance_words(const Lever& lever);

}  // namespace amdahl::scan
