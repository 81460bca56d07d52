#include "base/json.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace amdahl {
namespace {

constexpr int kDeepest = 500;  // Copies and dumps of a value follow its depth.

// Where the text is nested too deeply; npos if nowhere.
std::size_t too_deep_at(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return i;
  }
  return text.npos;
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  if (const std::size_t at = too_deep_at(text); at != text.npos) {
    return bad_input(fmt::format("byte {}: nested more than {} deep", at + 1, kDeepest));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at ...: why"
    if (const auto colon = what.find(": "); colon != what.npos) what.remove_prefix(colon + 2);
    return bad_input("byte " + std::to_string(e.byte) + ": " + std::string(what));
  } catch (const Json::exception& e) {
    return bad_input(e.what());
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string pretty_json(const Json& value) {
  return value.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace amdahl
