// prometheus_text.h: reads metrics as exporters serve them, and as `promtool tsdb dump` prints
// them.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::prometheus_text {

// "# HELP", "# TYPE", or a line such as `DCGM_FI_DEV_GPU_UTIL{gpu="0"} 83 1700000000000`.
bool claims(std::string_view head);

// Times are milliseconds (text format, tsdb dump) or seconds (OpenMetrics), by their size. A scrape
// without times is of the time in its file's name, "node1-1700000000.prom" or
// "2026-11-16T10:00:00.prom"; without one there is nothing to place it by: an error at the end.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

// The time that a file's name tells; 0 if it tells none.
Nanos time_in_path(std::string_view path);

Explained explain(std::string_view head, const ReaderOptions& options);

}  // namespace amdahl::fleet::prometheus_text
