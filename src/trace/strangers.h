// strangers.h: files that no reader knows but people have, and what to type to get one that is.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::trace {

// "is a report of Nsight Systems; type: nsys export ..." by the first bytes; empty if even this
// does not know them.
std::string stranger(std::string_view head);

}  // namespace amdahl::trace
