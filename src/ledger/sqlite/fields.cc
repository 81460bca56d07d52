#include "ledger/sqlite/fields.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace amdahl::ledger::sqlite {
namespace {

Error must_be(const char* name, std::string_view what) {
  return bad_input(fmt::format("/{}: must be {}", name, what));
}

}  // namespace

const Json& any_field(const Json& payload, const char* name) {
  static const Json kNull;
  if (!payload.is_object()) return kNull;
  const auto found = payload.find(name);
  return found == payload.end() ? kNull : *found;
}

Result<std::string> text_field(const Json& payload, const char* name) {
  const Json& field = any_field(payload, name);
  if (!field.is_string()) return must_be(name, "text");
  return field.get<std::string>();
}

Result<std::string> text_field_or(const Json& payload, const char* name, std::string fallback) {
  if (any_field(payload, name).is_null()) return fallback;
  return text_field(payload, name);
}

Result<double> number_field(const Json& payload, const char* name) {
  const Json& field = any_field(payload, name);
  if (!field.is_number()) return must_be(name, "a number");
  return field.get<double>();
}

Result<std::optional<double>> maybe_number_field(const Json& payload, const char* name) {
  const Json& field = any_field(payload, name);
  if (field.is_null() || field == "nan") return std::optional<double>{};
  return std::optional<double>{TRY(number_field(payload, name))};
}

Result<std::int64_t> integer_field(const Json& payload, const char* name) {
  const Json& field = any_field(payload, name);
  if (!field.is_number_integer()) return must_be(name, "a whole number");
  return field.get<std::int64_t>();
}

Result<bool> flag_field(const Json& payload, const char* name) {
  const Json& field = any_field(payload, name);
  if (!field.is_boolean()) return must_be(name, "true or false");
  return field.get<bool>();
}

}  // namespace amdahl::ledger::sqlite
