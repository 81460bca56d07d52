// sacct_like.h: recognises sacct output without a header, to ask for its fields.
#pragma once

#include <string>

#include "fleet/table/head.h"

namespace amdahl::fleet::table {

// A possible -o list of the table, "?" for columns that cannot be identified; empty if it is not
// sacct output.
std::string sacct_fields(const Head& head);

}  // namespace amdahl::fleet::table
