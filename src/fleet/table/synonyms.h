// synonyms.h: what people call the columns of their tables, for each field of a mapping.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fleet/table/column.h"
#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

// How well a column's name says that it is this field: 0 is best; nothing if it does not. Of
// times and durations a unit at the end of the name is passed over ("duration_s").
std::optional<int> says(const Column& column, Field field);

// "minutes" of "Wall time (min)", "runtime_min"; empty if the name has none.
std::string_view duration_unit(const Column& column);

// The metric that a column of samples holds; empty if its name is none that says how busy an
// accelerator is. Shown under the tool's own name where that is known, else as gpu_util.
std::string_view metric_of(std::string_view name);
// Whether a plain name is of something else that is measured: memory, power, CPUs.
bool is_of_others(std::string_view plain);
// Whether the name leaves no doubt: "percent" of "gpu_util_pct", "fraction" of "sm_active_ratio".
std::string_view share_unit(const Column& column);
// Whether its unit is fixed by the exporter it comes from: "DCGM_FI_DEV_GPU_UTIL" is in percent.
bool is_exporters(std::string_view name);

}  // namespace amdahl::fleet::table
