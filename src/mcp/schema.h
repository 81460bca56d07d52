// schema.h: whether a value keeps to a JSON Schema.
#pragma once

#include <string>

#include "base/json.h"

namespace amdahl::mcp {

// "" if it does; else every fault with its place: "/top: Value type not permitted ...".
std::string faults_of(const Json& value, const Json& schema);

}  // namespace amdahl::mcp
