#include "app/parse_time.h"

#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/times.h"

namespace amdahl::app {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit kUnits[] = {{"s", 1},        {"min", 60},      {"m", 60},
                           {"h", 3600},     {"d", 86400},     {"day", 86400},
                           {"days", 86400}, {"w", 7 * 86400}, {"week", 7 * 86400}};

std::optional<Nanos> length_of(std::string_view text) {
  const auto letters = text.find_first_not_of("0123456789.");
  if (letters == 0 || letters == text.npos) return std::nullopt;
  const auto number = to_number<double>(text.substr(0, letters));
  if (!number || *number > 1e6) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (unit.name == trim(text.substr(letters))) return from_seconds(*number * unit.seconds);
  }
  return std::nullopt;
}

}  // namespace

Result<Nanos> parse_length(std::string_view text, std::string_view what) {
  const auto length = length_of(text);
  if (length && *length > Nanos{}) return *length;
  return bad_input(
      fmt::format("{}: expected a duration like 7d, 36h or 90min, not '{}'", what, text));
}

Result<Nanos> parse_when(std::string_view text, std::string_view what, Nanos now) {
  if (text == "now") return now;
  std::string_view back = text;
  if (back.starts_with('-')) back.remove_prefix(1);
  if (const auto length = length_of(back)) return now - *length;
  const fleet::Instant instant = fleet::read_time(text, fleet::Zone{});
  if (instant.known()) return instant.at;
  return bad_input(
      fmt::format("{}: expected a time like 2026-11-15, 2026-11-15T06:00, 1794780000 or "
                  "-7d (UTC), not '{}'",
                  what, text));
}

}  // namespace amdahl::app
