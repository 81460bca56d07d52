#include "base/json.h"

#include <nlohmann/json.hpp>

namespace amdahl {

Result<Json> parse_json(std::string_view text) {
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
