// fields.h: single fields out of an event's payload, with errors that name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace amdahl::ledger::sqlite {

// Errors read "/limit: must be a number". A missing field is an error, except where it says so.
Result<std::string> text_field(const Json& payload, const char* name);
Result<std::string> text_field_or(const Json& payload, const char* name, std::string fallback);
Result<double> number_field(const Json& payload, const char* name);
// Nothing if it is missing or null: an unknown number is never 0.
Result<std::optional<double>> maybe_number_field(const Json& payload, const char* name);
Result<std::int64_t> integer_field(const Json& payload, const char* name);
Result<bool> flag_field(const Json& payload, const char* name);
// The field, or null if it is missing.
const Json& any_field(const Json& payload, const char* name);

}  // namespace amdahl::ledger::sqlite
