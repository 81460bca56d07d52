// synonyms.h: common column names for each field of a mapping.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/table/column.h"
#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

// How well a column's name matches the field: 0 is best; nothing if not at all. For times and
// durations a unit suffix is ignored ("duration_s").
std::optional<int> says(const Column& column, Field field);

// "minutes" for "Wall time (min)", "runtime_min"; empty if none.
std::string_view duration_unit(const Column& column);

// The metric of a sample column; empty if its name is not a utilisation metric. The tool's own
// name if known, else gpu_util.
std::string_view metric_of(std::string_view name);
// Whether a normalised name means some other quantity: memory, power, CPUs.
bool is_of_others(std::string_view plain);
// Whether the name is explicit: "percent" for "gpu_util_pct", "fraction" for "sm_active_ratio".
std::string_view share_unit(const Column& column);
// Whether the exporter fixes its unit: "DCGM_FI_DEV_GPU_UTIL" is in percent.
bool is_exporters(std::string_view name);

}  // namespace amdahl::fleet::table
