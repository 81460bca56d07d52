// csv_long.h: reads long tables of samples: time, host, device, and a column a metric.
#pragma once

#include <memory>
#include <string_view>

#include "fleet/source.h"

namespace amdahl::fleet::csv_long {

// A header with a time, a host, a device, and a metric that says how busy the device is:
// "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL". Commas, semicolons, tabs or bars. Not if its first
// rows have other times than ISO 8601 and Unix time, or the metric in another unit than its own.
bool claims(std::string_view head);

Explained explain(std::string_view head, const ReaderOptions& options);

// With several threads, blocks of lines are parsed in all but one of them.
std::unique_ptr<Reader> make(Intake& intake, const ReaderOptions& options);

}  // namespace amdahl::fleet::csv_long
