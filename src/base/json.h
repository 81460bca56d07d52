// json.h: parses and prints JSON, with errors that name the position.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace amdahl {

using Json = nlohmann::json;  // Objects are sorted by key, so dump() is canonical.

// Errors read "byte 12: " and what is wrong there.
Result<Json> parse_json(std::string_view text);

// Compact, keys sorted, invalid UTF-8 replaced: the same value gives the same bytes.
std::string dump_json(const Json& value);

// For people: indented by two.
std::string pretty_json(const Json& value);

}  // namespace amdahl
