#include "scan/fleet_usage.h"

#include <fmt/core.h>

#include "base/count.h"

namespace amdahl::scan {
namespace {

// Shares over the lane's valid samples, scaled to the time that they cover.
Split split_of_samples(const Lane& lane, double idle, double productive) {
  Split split;
  split.allocated = to_seconds(lane.allocated) * lane.weight;
  if (lane.samples == 0) {
    split.unobserved = split.allocated;
    return split;
  }
  const double observed = to_seconds(lane.observed) * lane.weight;
  const double one = observed / lane.samples;
  split.unobserved = split.allocated - observed;
  split.idle = idle * one;
  split.productive = productive * one;
  split.low = observed - split.idle - split.productive;
  if (split.low < 0) split.low = 0;  // Rounding, where nothing is low.
  return split;
}

}  // namespace

std::string describe(const FleetUsage& usage, const PassedOver& row) {
  const std::string what = fmt::format(
      "{} of {}{}", counted(static_cast<std::int64_t>(row.samples), "sample"),
      usage.text(row.metric), row.input.empty() ? "" : fmt::format(" in {}", row.input));
  switch (row.why) {
    case PassedOver::Why::kBetter:
      return fmt::format("{}: not used, superseded by {}{}", what, usage.text(row.better),
                         row.better_from == row.input ? "" : " in " + row.better_from);
    case PassedOver::Why::kSlices:
      return fmt::format("{}: not used, because slices of the same devices were observed", what);
    case PassedOver::Why::kLabelled:
      return fmt::format("{}: not used, because other samples name these jobs", what);
    case PassedOver::Why::kUnplaced:
      return fmt::format(
          "{}: not used, because jobs had part of these hosts, and it is unknown which part", what);
  }
  return what;
}

Split split_of(const Lane& lane) {
  return split_of_samples(lane, lane.idle, lane.utilisation - lane.utilisation_idle);
}

Split split_at_zero(const Lane& lane) {
  return split_of_samples(lane, lane.at_zero, lane.utilisation);
}

Split total_of(const JobRows& jobs) {
  Split total;
  for (std::size_t i = 0; i < jobs.size(); ++i) total += jobs.split(i);
  return total;
}

}  // namespace amdahl::scan
