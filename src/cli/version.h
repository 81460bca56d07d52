// version.h: which program this is.
#pragma once

#include <string_view>

namespace amdahl::cli {

std::string_view version();   // "0.1.0".
std::string_view revision();  // Of git, short; empty outside of a checkout.

}  // namespace amdahl::cli
