// prometheus_text.h: reads exporters' text format and the output of `promtool tsdb dump`.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::prometheus_text {

// "# HELP", "# TYPE", or a line such as `DCGM_FI_DEV_GPU_UTIL{gpu="0"} 83 1700000000000`.
bool claims(std::string_view head);

// Times are milliseconds (text format, tsdb dump) or seconds (OpenMetrics), by magnitude. A scrape
// without times has the time in its file name, "node1-1700000000.prom" or
// "2026-11-16T10:00:00.prom"; without that it is an error at the end.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

// The time in a file name; 0 if there is none.
Nanos time_in_path(std::string_view path);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::prometheus_text
