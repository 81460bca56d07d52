// guess_samples.h: which columns of a table hold samples: long, wide, or one a host and
// accelerator.
#pragma once

#include <string>
#include <string_view>

#include "fleet/table/mapping_builder.h"

namespace amdahl::fleet::table {

bool tells_of_samples(const MappingBuilder& builder);
// Whether a line has a time, the name of a metric and a value: nothing else does, whatever more it
// has (InfluxDB's _start and _stop).
bool is_long_by_metric(const MappingBuilder& builder);
bool has_usage(const MappingBuilder& builder);  // Without a time.
// Without a header: what stands in the columns must tell.
bool has_one_time(const MappingBuilder& builder);
void guess_unnamed_samples(MappingBuilder& builder, std::string_view path, std::string_view host);
void guess_samples(MappingBuilder& builder, std::string_view path, std::string_view host);

// In which unit a column writes a share, by its name or by its numbers.
struct Share {
  std::string unit;  // "percent", "fraction"; empty: it cannot be a share, see `why`.
  std::string why;
  bool is_sure = false;  // By its name, not by its first values.
};
// `metric`: whose own unit is taken where nothing else decides; empty: none.
Share share_of(const Column& column, std::string_view metric);

}  // namespace amdahl::fleet::table
