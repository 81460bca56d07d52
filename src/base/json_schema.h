// json_schema.h: validates a value against a JSON Schema.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace amdahl {

// Empty if valid; otherwise every error with its path: "[top]: Value type not permitted ...". A
// schema that is none is an error, too.
std::vector<std::string> schema_faults(const Json& value, const Json& schema);

}  // namespace amdahl
