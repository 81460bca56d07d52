// wide.h: which series a column of a wide table holds, by its name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/table/mapping.h"

namespace amdahl::fleet::table {

// One column of [[value]]. Empty: from the row.
struct WideSeries {
  std::size_t column = 0;
  std::size_t value = 0;  // Index into Mapping::values.
  std::string host;       // Without its domain.
  std::string accelerator;
  std::string uuid, slice, job, kind, profile;
};

// The columns of `header` for the value with this index.
std::vector<WideSeries> series_of(const Mapping& mapping, std::size_t value,
                                  std::span<const std::string> header);

// The metric of `DCGM_FI_DEV_GPU_UTIL{gpu="0", Hostname="n1"}` or `{__name__="...", ...}`, as
// Grafana and Prometheus name columns; empty if it has none. Nothing if these are not labels.
std::optional<std::string> metric_in_labels(std::string_view name);

// Host and accelerator in a column name: "n1 - GPU 3", "10.1.2.3-0", "GPU 3 (n1)", "n1_gpu3_util".
struct NamedPlace {
  std::string_view host;
  std::string_view between;  // " - GPU "; empty if the host comes last or more follows.
  std::string_view accelerator;
  std::string_view metric;  // From metric_of(); empty: none.
};
std::optional<NamedPlace> place_in(std::string_view name);

}  // namespace amdahl::fleet::table
