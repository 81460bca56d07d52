// hour_testing.h: scans of inputs that cover one hour, for tests of the join.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/testing.h"

namespace amdahl::ingest {

inline constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.
inline constexpr scan::Window kHour{std::chrono::seconds(kStart),
                                    std::chrono::seconds(kStart + 3600)};

inline scan::FleetUsage scan_all(const std::vector<TextInput>& inputs,
                                 std::optional<scan::Window> window = kHour) {
  Options options;
  if (window) options.from = window->start;
  if (window) options.to = window->end;
  return read_texts(inputs, options, std::chrono::seconds(kStart + 7200)).usage;
}

inline constexpr std::string_view kSacct =
    "JobID|User|Partition|State|Start|End|ElapsedRaw|NodeList|AllocTRES\n";

inline std::string sacct_line(std::string_view id, int from, int to, std::string_view node,
                              std::string_view tres) {
  return fmt::format("{}|ada|main|COMPLETED|{}|{}|{}|{}|{}\n", id, kStart + from, kStart + to,
                     to - from, node, tres);
}

}  // namespace amdahl::ingest
