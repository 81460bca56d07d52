#include "scan/fleet_usage.h"

namespace amdahl::scan {
namespace {

// Shares over the lane's valid samples, scaled to the time that they cover.
Split scaled(const Lane& lane, double idle, double productive) {
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

Split split_of(const Lane& lane) {
  return scaled(lane, lane.idle, lane.utilisation - lane.utilisation_idle);
}

Split split_at_zero(const Lane& lane) { return scaled(lane, lane.at_zero, lane.utilisation); }

Split total_of(const JobRows& jobs) {
  Split total;
  for (std::size_t i = 0; i < jobs.size(); ++i) total += jobs.split(i);
  return total;
}

}  // namespace amdahl::scan
