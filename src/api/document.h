// document.h: what all answers have in common as JSON. docs/format/answers has a schema of each.
#pragma once

#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace amdahl::api {

// Raised when a field of any answer changes its meaning or goes away; a new field raises nothing.
inline constexpr int kSchemaVersion = 1;

inline Json document(Json body) {
  body["schema_version"] = kSchemaVersion;
  return body;
}

// What is not known is null, never 0.
template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}
// JSON has no infinity: what has no bound is null.
inline Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace amdahl::api
