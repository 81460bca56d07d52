#include <sstream>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "base/text.h"
#include "observe/config_format.h"

namespace amdahl::observe {
namespace {

bool is_time(const toml::node& node) {
  return node.is_date() || node.is_time() || node.is_date_time();
}

ValueKind held_by(const toml::node* node) {
  if (node == nullptr) return ValueKind::kNull;
  if (node->is_string()) return ValueKind::kText;
  if (node->is_boolean()) return ValueKind::kTruth;
  return node->is_integer() ? ValueKind::kWhole : ValueKind::kNumber;
}

// Where a key's value is or will be.
struct ValueSlot {
  toml::node* parent = nullptr;  // A table or an array.
  std::string step;
  toml::node* now = nullptr;  // Null if it is new.
};

Result<ValueSlot> find_in(toml::table& document, const std::string& key) {
  ValueSlot place{&document, "", &document};
  for (const std::string_view step : split(key, '.')) {
    if (place.now == nullptr) return no_such_step(key, place.step);
    toml::node* parent = place.now;
    if (toml::table* table = parent->as_table()) {
      place = {parent, std::string(step), table->get(step)};
    } else if (toml::array* list = parent->as_array()) {
      const auto item = to_number<std::size_t>(step);
      if (!item || *item >= list->size()) return no_such_item(key, step, list->size());
      place = {parent, std::string(step), list->get(*item)};
    } else {
      return not_a_parent(key, place.step);
    }
  }
  return place;
}

template <class T>
void put(const ValueSlot& place, const T& value) {
  if (toml::table* table = place.parent->as_table()) {
    table->insert_or_assign(place.step, value);
  } else if (toml::array* list = place.parent->as_array()) {
    const auto item = to_number<std::ptrdiff_t>(place.step).value_or(0);
    list->replace(list->cbegin() + item, value);
  }
}

// Dates and times have a spelling that only TOML knows.
Result<> put_time(const ValueSlot& place, const std::string& key, const std::string& text) {
  const auto wrong = bad_input(fmt::format("{}: is a date or time, but \"{}\" is not", key, text));
  try {
    const toml::table parsed = toml::parse("x = " + text);
    const toml::node* node = parsed.get("x");
    if (parsed.size() != 1 || node->type() != place.now->type()) return wrong;
    node->visit([&](const auto& value) { put(place, value); });
    return Ok{};
  } catch (const toml::parse_error&) {
    return wrong;
  }
}

Result<> set_key(toml::table& document, const std::string& key, const std::string& text) {
  const ValueSlot place = TRY(find_in(document, key));
  if (place.now != nullptr && (place.now->is_table() || place.now->is_array())) {
    return not_a_value(key, place.now->is_array() ? "a list" : "a table");
  }
  if (place.now != nullptr && is_time(*place.now)) return put_time(place, key, text);
  const Value value = value_like(text, held_by(place.now));
  if (std::holds_alternative<std::nullptr_t>(value)) {
    return bad_input(fmt::format("{}: TOML has no null", key));
  }
  if (const auto* truth = std::get_if<bool>(&value)) put(place, *truth);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) put(place, *whole);
  if (const auto* number = std::get_if<double>(&value)) put(place, *number);
  if (const auto* words = std::get_if<std::string>(&value)) put(place, *words);
  return Ok{};
}

}  // namespace

Result<std::string> set_in_toml(const std::string& text, const Keys& keys) {
  toml::table document;
  try {
    document = toml::parse(text);
  } catch (const toml::parse_error& e) {
    return bad_input(fmt::format("line {}, column {}: {}", e.source().begin.line,
                                 e.source().begin.column, e.description()));
  }
  for (const auto& [key, value] : keys) TRY(set_key(document, key, value));
  std::ostringstream out;
  out << toml::toml_formatter(document) << '\n';
  return out.str();
}

}  // namespace amdahl::observe
