// config_format.h: sets keys in the text of a configuration file, per format.
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

// The type of a key's value.
enum class ValueKind : std::uint8_t { kNull, kText, kWhole, kNumber, kTruth };

using Value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string>;

// Converts `text` to the key's current type, for readers that are strict about types: text stays
// text, a number a number ("2" becomes 2.0 where 1.5 was), a boolean a boolean ("0" is false). If
// that is impossible, or the key is new, it is parsed as JSON, else taken as text.
Value value_like(std::string_view text, ValueKind now);

// Key ("train.batch", "layers.0.size") to value.
using Keys = std::map<std::string, std::string>;

struct ConfigFormat {
  std::string_view suffix;  // Of the file name.

  // All other values and their types stay the same; comments and layout may change. The last step
  // of a key may be new, but not its parents. Errors name the key or the line.
  Result<std::string> (*set)(const std::string& text, const Keys& keys);
};
std::span<const ConfigFormat> config_formats();

// For the formats: errors about keys.
Error no_such_step(std::string_view key, std::string_view step);  // The parent is missing.
Error not_a_parent(std::string_view key, std::string_view step);  // The parent is a plain value.
Error not_a_value(std::string_view key, std::string_view what);   // It is a table or a list.
Error no_such_item(std::string_view key, std::string_view step, std::size_t length);

Result<std::string> set_in_toml(const std::string& text, const Keys& keys);
Result<std::string> set_in_yaml(const std::string& text, const Keys& keys);

}  // namespace amdahl::observe
