#include <algorithm>
#include <cmath>

#include "scan/parts.h"

namespace amdahl::scan {
namespace {

std::size_t bins_for(Nanos wall, Nanos width) {
  if (width <= Nanos{} || wall <= Nanos{}) return 0;
  return static_cast<std::size_t>((wall + width - Nanos{1}) / width);
}

// Each bin goes where its middle lies.
std::vector<Bin> on_grid(const FleetUsage& usage, const Lane& lane, Nanos start,
                         const JobLines& lines) {
  std::vector<Bin> grid(bins_for(lines.wall, lines.width));
  const auto bins = usage.bins_of(lane);
  if (bins.empty() || grid.empty() || lane.bin_width <= Nanos{}) return {};
  const auto last = static_cast<std::int64_t>(grid.size()) - 1;
  Nanos middle = lane.bin_start + lane.bin_width / 2 - start;
  for (const Bin& bin : bins) {
    const std::int64_t at = std::clamp<std::int64_t>(middle / lines.width, 0, last);
    merge(grid[static_cast<std::size_t>(at)], bin);
    middle += lane.bin_width;
  }
  return grid;
}

std::uint16_t ten_thousandths(double utilisation) {
  return static_cast<std::uint16_t>(std::lround(10000 * utilisation));
}

Bin bin_of(float sample, const Thresholds& thresholds) {
  if (!std::isfinite(sample)) return {};
  const double value = std::clamp<double>(sample, 0, 1);
  const bool idle = activity_of(value, thresholds) == Activity::kIdle;
  return {.sum = static_cast<float>(value),
          .samples = 1,
          .idle = idle ? 1U : 0U,
          .most = ten_thousandths(value)};
}

LaneLine line_of(const std::vector<float>& samples, Nanos interval, Nanos wall,
                 const Thresholds& thresholds) {
  LaneLine line;
  double idle_sum = 0;
  double idle_seconds = 0;
  line.bins.resize(bins_for(wall, interval));
  line.split.allocated = to_seconds(wall);
  for (std::size_t i = 0; i < std::min(samples.size(), line.bins.size()); ++i) {
    const Bin bin = bin_of(samples[i], thresholds);
    line.bins[i] = bin;
    if (bin.samples == 0) continue;
    const Nanos start = interval * static_cast<std::int64_t>(i);
    const double seconds = to_seconds(std::min(interval, wall - start));
    if (bin.idle > 0) {
      line.split.idle += seconds;
      idle_seconds += seconds;
      idle_sum += seconds * bin.sum;
    } else {
      line.split.productive += seconds * bin.sum;
      line.split.low += seconds * (1 - bin.sum);
    }
  }
  line.split.unobserved = std::max(
      0.0, line.split.allocated - line.split.idle - line.split.low - line.split.productive);
  line.idle_level = idle_seconds > 0 ? idle_sum / idle_seconds : 0;
  return line;
}

}  // namespace

JobLines lines_of(const FleetUsage& usage, const FleetJob& job) {
  const Nanos start = std::max(job.start, usage.window.start);
  const Nanos end = std::min(job.end, usage.window.end);
  JobLines lines{.wall = std::max(end - start, Nanos{}),
                 .width = {},
                 .start_seen = job.start >= usage.window.start,
                 .end_seen = !job.running && job.end <= usage.window.end,
                 .idle_below = usage.idle_below,
                 .split = job.split,
                 .lanes = {}};
  for (const Lane& lane : usage.lanes_of(job)) lines.width = std::max(lines.width, lane.bin_width);
  for (const Lane& lane : usage.lanes_of(job)) {
    lines.lanes.push_back({.split = split_of(lane),
                           .idle_level = lane.idle > 0 ? lane.utilisation_idle / lane.idle : 0,
                           .bins = on_grid(usage, lane, start, lines)});
  }
  return lines;
}

JobLines lines_of(const model::Usage& usage, const Thresholds& thresholds) {
  JobLines lines{.wall = std::max(usage.end - usage.start, Nanos{}),
                 .width = std::max(usage.utilisation.interval, Nanos{}),
                 .start_seen = true,
                 .end_seen = true,
                 .idle_below = thresholds.idle_below,
                 .split = split_of(usage, thresholds),
                 .lanes = {}};
  const auto accelerators = static_cast<std::size_t>(std::max(usage.accelerators, 0));
  for (std::size_t i = 0; i < accelerators && i < usage.utilisation.accelerators.size(); ++i) {
    lines.lanes.push_back(
        line_of(usage.utilisation.accelerators[i], lines.width, lines.wall, thresholds));
  }
  return lines;
}

}  // namespace amdahl::scan
