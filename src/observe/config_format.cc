#include "observe/config_format.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"

namespace amdahl::observe {
namespace {

std::optional<bool> truth_in(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  return std::nullopt;
}

Value value_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_unsigned() && !std::in_range<std::int64_t>(json.get<std::uint64_t>())) {
    return json.get<double>();
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return nullptr;
}

ValueKind held_by(const Json& json) {
  if (json.is_string()) return ValueKind::kText;
  if (json.is_boolean()) return ValueKind::kTruth;
  if (json.is_number_integer()) return ValueKind::kWhole;
  if (json.is_number()) return ValueKind::kNumber;
  return ValueKind::kNull;
}

// The value that the key names; made if only its last step is missing.
Result<Json*> find_in(Json& document, const std::string& key) {
  Json* at = &document;
  const auto steps = split(key, '.');
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string step(steps[i]);
    if (at->is_array()) {
      const auto item = to_number<std::size_t>(step);
      if (!item || *item >= at->size()) return no_such_item(key, step, at->size());
      at = &(*at)[*item];
      continue;
    }
    if (!at->is_object()) return not_a_parent(key, steps[i == 0 ? 0 : i - 1]);
    const bool last = i + 1 == steps.size();
    if (!last && !at->contains(step)) return no_such_step(key, step);
    at = &(*at)[step];
  }
  return at;
}

Result<std::string> set_in_json(const std::string& text, const Keys& keys) {
  Json document = TRY(parse_json(text));
  for (const auto& [key, value] : keys) {
    Json& at = *TRY(find_in(document, key));
    if (at.is_structured()) return not_a_value(key, at.is_array() ? "a list" : "an object");
    std::visit([&](const auto& typed) { at = typed; }, value_like(value, held_by(at)));
  }
  return pretty_json(document) + "\n";
}

constexpr auto kFormats = std::to_array<ConfigFormat>({
    {".json", set_in_json},
    {".toml", set_in_toml},
    {".yaml", set_in_yaml},
    {".yml", set_in_yaml},
});

}  // namespace

Value value_like(std::string_view text, ValueKind now) {
  const std::string word(trim(text));
  if (now == ValueKind::kText) return std::string(text);
  if (now == ValueKind::kTruth) {
    if (const auto truth = truth_in(word)) return *truth;
  }
  const auto json = parse_json(word);
  if (!json || json->is_structured() || json->is_string()) return std::string(text);
  if (now == ValueKind::kNumber && json->is_number()) return json->get<double>();
  return value_of(*json);
}

std::span<const ConfigFormat> config_formats() { return kFormats; }

Error no_such_step(std::string_view key, std::string_view step) {
  return bad_input(fmt::format("{}: no key \"{}\" in the file", key, step));
}

Error not_a_parent(std::string_view key, std::string_view step) {
  return bad_input(fmt::format("{}: \"{}\" is a value, not a table", key, step));
}

Error not_a_value(std::string_view key, std::string_view what) {
  return bad_input(fmt::format("{}: is {}: name a single value in it", key, what));
}

Error no_such_item(std::string_view key, std::string_view step, std::size_t length) {
  return bad_input(fmt::format("{}: \"{}\" is not an index of a list of {} items (the first is 0)",
                               key, step, length));
}

}  // namespace amdahl::observe
