// unsupported_formats.h: formats that we recognise but cannot read, and how to convert them.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::trace {

// By the first bytes: "is a report of Nsight Systems; run: nsys export ..."; empty for an unknown
// format.
std::string describe_unsupported(std::string_view head);

}  // namespace amdahl::trace
