// amount.h: large amounts as people read them.
#pragma once

#include <string>

namespace amdahl {

// "98,204", "1,344", "12.3", "0.0123": whole from 100 on, in groups of three digits.
std::string show_amount(double value);

// show_number() below 1000, show_amount() from there on.
std::string show_quantity(double value);

}  // namespace amdahl
