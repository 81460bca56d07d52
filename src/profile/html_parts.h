// html_parts.h: figures of a profile as its pages show them.
#pragma once

#include <string>

namespace amdahl::profile {

// "1.25×"; without a limit it says so.
std::string times_of(double factor);

}  // namespace amdahl::profile
