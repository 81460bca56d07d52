// guess_samples.h: which columns of a table hold samples: long, wide, or one per accelerator.
#pragma once

#include <string>
#include <string_view>

#include "fleet/table/mapping_builder.h"

namespace amdahl::fleet::table {

bool tells_of_samples(const MappingBuilder& builder);
// Whether a row has a time, a metric name and a value, and no other meaning (InfluxDB's _start and
// _stop are allowed).
bool is_long_by_metric(const MappingBuilder& builder);
bool has_usage(const MappingBuilder& builder);  // Does not need a time.
// Without a header, only the cells can tell.
bool has_one_time(const MappingBuilder& builder);
void guess_unnamed_samples(MappingBuilder& builder, std::string_view path, std::string_view host);
void guess_samples(MappingBuilder& builder, std::string_view path, std::string_view host);

// The unit of a share, from the column's name or values.
struct Share {
  std::string unit;  // "percent", "fraction"; empty: not a share, see `why`.
  std::string why;
  bool is_sure = false;  // From the name, not from the first values.
};
// `metric`: its own unit is the fallback; empty: none.
Share share_of(const Column& column, std::string_view metric);

}  // namespace amdahl::fleet::table
