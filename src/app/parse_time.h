// parse_time.h: parses times and durations as typed by people: 2026-11-15, -7d, 90min.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// "2017-10-11", "2017-10-11T06:00", "1507680000", "now", "-7d", "36h" (before now).
Result<Nanos> parse_when(std::string_view text, std::string_view what, Nanos now);
// "7d", "36h", "90min".
Result<Nanos> parse_length(std::string_view text, std::string_view what);

}  // namespace amdahl::app
