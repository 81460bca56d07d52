// document.h: common parts of all JSON answers. Schemas: docs/format/answers.
#pragma once

#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/json.h"

namespace amdahl::api {

// Increased when a field of any answer changes its meaning or is removed; not for new fields.
inline constexpr int kSchemaVersion = 1;

inline Json document(Json body) {
  body["schema_version"] = kSchemaVersion;
  return body;
}

// Unknown values are null, never 0.
template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}
// JSON has no infinity: an unbounded value is null.
inline Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(); }

}  // namespace amdahl::api
