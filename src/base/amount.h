// amount.h: large amounts as people read them.
#pragma once

#include <string>

namespace amdahl {

// "0.22", "< 0.01": so many digits after the point, for values below 1.
std::string show_fixed(double value, int digits);

// "98,204", "1,344", "12.3", "0.12", "< 0.01": whole from 100 on, in groups of three digits.
std::string show_amount(double value);

// A size or a limit, with at most four digits below 10,000: "0.1429", "8", "16,384".
std::string show_size(double value);

// A time in the unit that fits: "34.2 s", "0.574 s", "57.4 ms", "81.3 µs".
std::string show_seconds(double seconds);

// Accelerator time in the unit that fits: "1,344 h", "12.3 h", "27.7 min", "5.2 s", "< 0.1 s".
std::string show_hours(double hours);

}  // namespace amdahl
