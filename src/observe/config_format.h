// config_format.h: one key of a configuration file's text set anew, in each format we know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace amdahl::observe {

// What a key holds.
enum class ValueKind : std::uint8_t { kNull, kText, kWhole, kNumber, kTruth };

using Value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string>;

// `text` in the type that the key has now, so that a reader that is strict about types takes it:
// text stays text, a number a number ("2" is 2.0 where 1.5 was), a truth value one ("0" is false).
// What cannot be of that type, or has no predecessor, is whatever JSON would read, else text.
Value value_like(std::string_view text, ValueKind now);

// Key ("train.batch", "layers.0.size") to value.
using Keys = std::map<std::string, std::string>;

struct ConfigFormat {
  std::string_view suffix;  // Of the file's name.

  // All other values and their types stay as they are; comments and layout may not. The last step
  // of a key may be new, those before it not. Errors name the key or the line.
  Result<std::string> (*set)(const std::string& text, const Keys& keys);
};
std::span<const ConfigFormat> config_formats();

// For the formats: a key that leads nowhere.
Error no_such_step(std::string_view key, std::string_view step);  // Its parent is missing.
Error not_a_parent(std::string_view key, std::string_view step);  // Its parent is a value.
Error not_a_value(std::string_view key, std::string_view what);   // It holds a table or a list.
Error no_such_item(std::string_view key, std::string_view step, std::size_t length);

Result<std::string> set_in_toml(const std::string& text, const Keys& keys);
Result<std::string> set_in_yaml(const std::string& text, const Keys& keys);

}  // namespace amdahl::observe
