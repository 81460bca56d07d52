#include "scan/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/count.h"
#include "scan/tally.h"

namespace amdahl::scan {
namespace {

constexpr std::uint64_t kFewestJobs = 5;  // On each side, below which no interval is worth its ink.

struct Ratio {
  double share = 0;
  double variance = 0;
  double jobs = 0;  // As many as count: one that holds half of the time counts for much.
};

// Of wasted over observed, by jobs (Cochran, Sampling Techniques, 6.3: the variance of a ratio).
Ratio ratio_of(const Slice& slice) {
  const double observed = in_hours(observed_in(slice.split));
  const auto n = static_cast<double>(slice.jobs);
  Ratio ratio;
  if (!(observed > 0) || slice.oo <= 0) return ratio;
  ratio.share = in_hours(wasted(slice.split)) / observed;
  ratio.jobs = observed * observed / slice.oo;
  if (n < 2) return ratio;
  const double squares =
      slice.ww - 2 * ratio.share * slice.wo + ratio.share * ratio.share * slice.oo;
  ratio.variance = std::max(0.0, squares) / (observed * observed) * n / (n - 1);
  return ratio;
}

// The 97.5 % point of Student's t, by Cornish and Fisher's expansion: good to 1 % from 3 on.
double t_point(double freedom) {
  constexpr double kZ = 1.959964;
  constexpr double kZ3 = kZ * kZ * kZ;
  constexpr double kZ5 = kZ3 * kZ * kZ;
  return kZ + (kZ3 + kZ) / (4 * freedom) + (5 * kZ5 + 16 * kZ3 + 3 * kZ) / (96 * freedom * freedom);
}

std::string sentence(const Trend& trend) {
  const std::string shares = fmt::format(
      "wasted {:.1f} % of observed time in {} before, {:.1f} % in {} now",
      100 * trend.waste_share_before, counted(static_cast<std::int64_t>(trend.before.jobs), "job"),
      100 * trend.waste_share_now, counted(static_cast<std::int64_t>(trend.now.jobs), "job"));
  if (!std::isfinite(trend.lower)) return shares + ": too few jobs to tell";
  return fmt::format("{}: {} by {:.1f} points (95 % interval over jobs {:+.1f} to {:+.1f}){}",
                     shares, trend.change > 0 ? "up" : "down", std::abs(100 * trend.change),
                     100 * trend.lower, 100 * trend.upper,
                     trend.can_tell ? "" : ", which may be chance");
}

}  // namespace

Slicer::Slicer(const FleetUsage& usage, std::size_t count)
    : usage_{usage}, slices_(count), job_(count) {
  const Nanos length = usage.window.end - usage.window.start;
  const auto n = static_cast<std::int64_t>(count);
  for (std::int64_t i = 0; i < n; ++i) {
    Slice& slice = slices_[static_cast<std::size_t>(i)];
    slice.start = usage.window.start + length / n * i;
    slice.end = i + 1 == n ? usage.window.end : usage.window.start + length / n * (i + 1);
  }
}

std::size_t Slicer::at(Nanos time) const {
  const Nanos width =
      (usage_.window.end - usage_.window.start) / static_cast<std::int64_t>(slices_.size());
  if (width <= Nanos{} || time <= usage_.window.start) return 0;
  const auto index = static_cast<std::size_t>((time - usage_.window.start) / width);
  return std::min(index, slices_.size() - 1);
}

void Slicer::add_even(const FleetJob& job, const Split& split) {
  const Nanos start = std::max(job.start, usage_.window.start);
  const Nanos end = std::min(job.end, usage_.window.end);
  if (end <= start) {
    job_[first_] += split;
    return;
  }
  const double whole = to_seconds(end - start);
  for (std::size_t i = first_; i < end_; ++i) {
    const Nanos inside = std::min(end, slices_[i].end) - std::max(start, slices_[i].start);
    if (inside > Nanos{}) job_[i] += scaled(split, to_seconds(inside) / whole);
  }
}

void Slicer::add_lane(const FleetJob& job, const Lane& lane) {
  const Split split = split_of(lane);
  const auto bins = usage_.bins_of(lane);
  if (bins.empty() || lane.samples == 0) return add_even(job, split);
  // Bins say when it was idle and how busy it was else; sums stay as the lane has them.
  const double idle_level = lane.idle > 0 ? lane.utilisation_idle / lane.idle : 0;
  const double idle_one = lane.idle > 0 ? split.idle / lane.idle : 0;
  const double working = lane.utilisation - lane.utilisation_idle;
  const double working_one = working > 0 ? split.productive / working : 0;
  const double low = static_cast<double>(lane.samples) - lane.idle - working;
  const double low_one = low > 0 ? split.low / low : 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const Bin& bin = bins[i];
    if (bin.samples == 0) continue;
    const Nanos middle =
        lane.bin_start + lane.bin_width * static_cast<std::int64_t>(i) + lane.bin_width / 2;
    Split& slice = job_[std::clamp(at(middle), first_, end_ - 1)];
    const double used = std::max(0.0, bin.sum - bin.idle * idle_level);
    slice.idle += idle_one * bin.idle;
    slice.productive += working_one * used;
    slice.low += low_one * std::max(0.0, bin.samples - bin.idle - used);
  }
  add_even(job, {.allocated = split.allocated,
                 .unobserved = split.unobserved,
                 .idle = 0,
                 .low = 0,
                 .productive = 0});
}

void Slicer::add(const FleetJob& job) {
  first_ = at(std::max(job.start, usage_.window.start));
  end_ = at(std::min(job.end, usage_.window.end) - Nanos{1}) + 1;
  end_ = std::max(end_, first_ + 1);
  for (std::size_t i = first_; i < end_; ++i) job_[i] = {};
  if (job.lanes == 0) {
    add_even(job, job.split);
  } else {
    Split lanes;
    for (const Lane& lane : usage_.lanes_of(job)) {
      add_lane(job, lane);
      lanes += split_of(lane);
    }
    add_even(job, rest_of(job.split, lanes));
  }
  for (std::size_t i = first_; i < end_; ++i) {
    slices_[i].split += job_[i];
    add_moments(slices_[i], job_[i]);
  }
}

void add_moments(Slice& slice, const Split& job) {
  const double o = in_hours(observed_in(job));
  if (!(o > 0)) return;
  const double w = in_hours(wasted(job));
  ++slice.jobs;
  slice.ww += w * w;
  slice.wo += w * o;
  slice.oo += o * o;
}

Trend trend_between(const Slice& before, const Slice& now, std::string_view of) {
  Trend trend{.of = of, .before = before, .now = now, .says = {}};
  const Ratio earlier = ratio_of(before);
  const Ratio later = ratio_of(now);
  trend.waste_share_before = earlier.share;
  trend.waste_share_now = later.share;
  trend.change = later.share - earlier.share;
  constexpr double kNoBound = std::numeric_limits<double>::infinity();
  trend.lower = -kNoBound;
  trend.upper = kNoBound;
  const double freedom = std::min(earlier.jobs, later.jobs) - 1;
  if (std::min(before.jobs, now.jobs) >= kFewestJobs && freedom >= 3) {
    const double half = t_point(freedom) * std::sqrt(earlier.variance + later.variance);
    trend.lower = trend.change - half;
    trend.upper = trend.change + half;
    trend.can_tell = trend.lower > 0 || trend.upper < 0;
  }
  trend.says = sentence(trend);
  return trend;
}

Trend trend_of(const Report& before, const Report& now) {
  return trend_between(before.whole, now.whole, "this window against the one before");
}

}  // namespace amdahl::scan
