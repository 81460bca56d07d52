// sacct_like.h: knows what sacct prints without a header, to say what it needs.
#pragma once

#include <string>

#include "fleet/table/head.h"

namespace amdahl::fleet::table {

// An -o list that such a table may have been made with, "?" where its cells do not tell; empty if
// it is none.
std::string sacct_fields(const Head& head);

}  // namespace amdahl::fleet::table
