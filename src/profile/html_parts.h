// html_parts.h: formats figures of a profile for its HTML pages.
#pragma once

#include <string>

namespace amdahl::profile {

// "1.25×"; says so if there is no limit.
std::string times_of(double factor);

}  // namespace amdahl::profile
