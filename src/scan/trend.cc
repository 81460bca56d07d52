#include "scan/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

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

// A job's part in what two slices have in common.
void add_shared(Slice& slice, const Split& before, const Split& now) {
  const double o = in_hours(observed_in(now));
  const double p = in_hours(observed_in(before));
  if (!(o > 0) || !(p > 0)) return;
  const double w = in_hours(wasted(now));
  const double v = in_hours(wasted(before));
  slice.wv += w * v;
  slice.wp += w * p;
  slice.ov += o * v;
  slice.op += o * p;
}

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

// Of the ratios of a slice and of the one before it: jobs in both move them together.
double covariance(const Slice& before, const Slice& now, const Ratio& earlier, const Ratio& later) {
  const double p = in_hours(observed_in(before.split));
  const double o = in_hours(observed_in(now.split));
  if (!(p > 0) || !(o > 0) || std::min(before.jobs, now.jobs) < 2) return 0;
  const auto unbiased = [](std::uint64_t jobs) {
    return static_cast<double>(jobs) / static_cast<double>(jobs - 1);
  };
  const double products =
      now.wv - later.share * now.ov - earlier.share * now.wp + earlier.share * later.share * now.op;
  return products / (p * o) * std::sqrt(unbiased(before.jobs) * unbiased(now.jobs));
}

// The 97.5 % point of Student's t, by Cornish and Fisher's expansion: good to 1 % from 3 on.
double t_point(double freedom) {
  constexpr double kZ = 1.959964;
  constexpr double kZ3 = kZ * kZ * kZ;
  constexpr double kZ5 = kZ3 * kZ * kZ;
  return kZ + (kZ3 + kZ) / (4 * freedom) + (5 * kZ5 + 16 * kZ3 + 3 * kZ) / (96 * freedom * freedom);
}

struct SidesWords {
  std::string_view of;
  std::string_view before;
  std::string_view now;
};
constexpr SidesWords kSidesWords[] = {
    {"the second half of the window against the first", "the first half", "the second"},
    {"this window against the one before", "the window before", "this one"}};

const SidesWords& words_of(Sides sides) { return kSidesWords[static_cast<std::size_t>(sides)]; }

std::string sentence(const Trend& trend, const SidesWords& words) {
  const std::string shares = fmt::format(
      "{:.1f} % of observed time wasted in {} ({}), {:.1f} % in {} ({})",
      100 * trend.waste_share_before, words.before,
      counted(static_cast<std::int64_t>(trend.before.jobs), "job"), 100 * trend.waste_share_now,
      words.now, counted(static_cast<std::int64_t>(trend.now.jobs), "job"));
  if (!std::isfinite(trend.lower)) return shares + ": too few jobs to tell";
  return fmt::format("{}: {} by {:.1f} points (95 % interval over jobs {:+.1f} to {:+.1f}){}",
                     shares, trend.change > 0 ? "up" : "down", std::abs(100 * trend.change),
                     100 * trend.lower, 100 * trend.upper,
                     trend.can_tell ? "" : ", which may be chance");
}

}  // namespace

Grid equal_grid(const Window& window, std::size_t count) {
  return {.origin = window.start,
          .width = (window.end - window.start) / static_cast<std::int64_t>(count),
          .count = count};
}

Grid round_grid(const Window& window, Nanos width) {
  const Nanos week = std::chrono::hours{7 * 24};
  const Nanos monday = std::chrono::hours{4 * 24};  // 1970 began on a Thursday.
  const Nanos first = width % week == Nanos{} ? monday : Nanos{};
  const Nanos origin = window.start - (window.start - first) % width;
  const auto count = (window.end - origin + width - Nanos{1}) / width;
  return {.origin = origin,
          .width = width,
          .count = static_cast<std::size_t>(std::max<std::int64_t>(count, 1))};
}

Slicer::Slicer(const FleetUsage& usage, const Grid& grid)
    : usage_{usage}, grid_{grid}, slices_(grid.count), job_(grid.count), lane_(grid.count) {
  const Window& window = usage.window;
  for (std::size_t i = 0; i < grid.count; ++i) {
    const Nanos start = grid.origin + grid.width * static_cast<std::int64_t>(i);
    slices_[i].start = std::max(start, window.start);
    slices_[i].end = i + 1 == grid.count ? window.end : start + grid.width;
  }
}

std::size_t Slicer::at(Nanos time) const {
  if (grid_.width <= Nanos{} || time <= usage_.window.start) return 0;
  const auto index = static_cast<std::size_t>((time - grid_.origin) / grid_.width);
  return std::min(index, slices_.size() - 1);
}

void Slicer::add_even(const FleetJob& job, const Split& split, std::vector<Split>& into) {
  const Nanos start = std::max(job.start, usage_.window.start);
  const Nanos end = std::min(job.end, usage_.window.end);
  if (end <= start) {
    into[first_] += split;
    return;
  }
  const double whole = to_seconds(end - start);
  for (std::size_t i = first_; i < end_; ++i) {
    const Nanos inside = std::min(end, slices_[i].end) - std::max(start, slices_[i].start);
    if (inside > Nanos{}) into[i] += scaled(split, to_seconds(inside) / whole);
  }
}

// What was seen in [start, end), over the slices that it lies in.
void Slicer::add_bin(Nanos start, Nanos end, const Split& split) {
  start = std::max(start, slices_[first_].start);
  end = std::min(end, slices_[end_ - 1].end);
  if (end <= start) {
    lane_[std::clamp(at(start), first_, end_ - 1)] += split;
    return;
  }
  const double whole = to_seconds(end - start);
  for (std::size_t i = at(start); i < end_ && slices_[i].start < end; ++i) {
    const Nanos inside = std::min(end, slices_[i].end) - std::max(start, slices_[i].start);
    if (inside > Nanos{}) lane_[i] += scaled(split, to_seconds(inside) / whole);
  }
}

// Bins are rounded, and not every sample has one: what was seen in all is as the lane says.
void Slicer::keep_sums(const Split& whole) {
  Split sum;
  for (std::size_t i = first_; i < end_; ++i) sum += lane_[i];
  const auto scale = [](double want, double have) { return have > 0 ? want / have : 0; };
  for (std::size_t i = first_; i < end_; ++i) {
    lane_[i].idle *= scale(whole.idle, sum.idle);
    lane_[i].low *= scale(whole.low, sum.low);
    lane_[i].productive *= scale(whole.productive, sum.productive);
  }
}

// A sample holds for a while before and after it: what is too much for its slice was seen in those
// that have room. What is left of each is unobserved.
void Slicer::fill_lane() {
  Split over;
  double room = 0;
  for (std::size_t i = first_; i < end_; ++i) {
    Split& slice = lane_[i];
    const double seen = slice.idle + slice.low + slice.productive;
    room += std::max(0.0, slice.allocated - seen);
    if (seen <= slice.allocated) continue;
    const Split kept = scaled(slice, slice.allocated / seen);
    over.idle += slice.idle - kept.idle;
    over.low += slice.low - kept.low;
    over.productive += slice.productive - kept.productive;
    slice.idle = kept.idle;
    slice.low = kept.low;
    slice.productive = kept.productive;
  }
  for (std::size_t i = first_; i < end_; ++i) {
    Split& slice = lane_[i];
    const double free = slice.allocated - slice.idle - slice.low - slice.productive;
    if (free > 0 && room > 0) {
      const Split more = scaled(over, free / room);
      slice.idle += more.idle;
      slice.low += more.low;
      slice.productive += more.productive;
    }
    const double seen = slice.idle + slice.low + slice.productive;
    slice.unobserved = std::max(0.0, slice.allocated - seen);
    job_[i] += slice;
  }
}

void Slicer::add_lane(const FleetJob& job, const Lane& lane) {
  const Split split = split_of(lane);
  const auto bins = usage_.bins_of(lane);
  if (bins.empty() || lane.samples == 0) return add_even(job, split, job_);
  for (std::size_t i = first_; i < end_; ++i) lane_[i] = {};
  Split whole;
  whole.allocated = split.allocated;
  add_even(job, whole, lane_);
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
    const Nanos start = lane.bin_start + lane.bin_width * static_cast<std::int64_t>(i);
    const double used = std::max(0.0, bin.sum - bin.idle * idle_level);
    Split seen;
    seen.idle = idle_one * bin.idle;
    seen.productive = working_one * used;
    seen.low = low_one * std::max(0.0, bin.samples - bin.idle - used);
    add_bin(start, start + lane.bin_width, seen);
  }
  keep_sums(split);
  fill_lane();
}

// Most jobs of a fleet without telemetry, and most of them lie in one slice.
void Slicer::add_unobserved(Nanos start, Nanos end, double allocated) {
  start = std::max(start, usage_.window.start);
  end = std::min(end, usage_.window.end);
  const std::size_t first = at(start);
  const std::size_t last = end > start ? at(end - Nanos{1}) : first;
  const double whole = to_seconds(end - start);
  for (std::size_t i = first; i <= last; ++i) {
    double part = allocated;
    if (first != last) {
      const Nanos inside = std::min(end, slices_[i].end) - std::max(start, slices_[i].start);
      part = inside > Nanos{} ? allocated * (to_seconds(inside) / whole) : 0;
    }
    slices_[i].split.allocated += part;
    slices_[i].split.unobserved += part;
  }
}

void Slicer::add(std::size_t index) {
  const JobRows& jobs = usage_.jobs;
  const Split split = jobs.split(index);
  if (jobs.lanes(index) == 0 && observed_in(split) <= 0 && split.unobserved == split.allocated) {
    return add_unobserved(jobs.start(index), jobs.end(index), split.allocated);
  }
  const FleetJob job = jobs[index];
  first_ = at(std::max(job.start, usage_.window.start));
  end_ = at(std::min(job.end, usage_.window.end) - Nanos{1}) + 1;
  end_ = std::max(end_, first_ + 1);
  for (std::size_t i = first_; i < end_; ++i) job_[i] = {};
  if (job.lanes == 0) {
    add_even(job, job.split, job_);
  } else {
    Split lanes;
    for (const Lane& lane : usage_.lanes_of(job)) {
      add_lane(job, lane);
      lanes += split_of(lane);
    }
    add_even(job, rest_of(job.split, lanes), job_);
  }
  for (std::size_t i = first_; i < end_; ++i) {
    slices_[i].split += job_[i];
    add_moments(slices_[i], job_[i]);
    if (i > first_) add_shared(slices_[i], job_[i - 1], job_[i]);
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

Trend trend_between(const Slice& before, const Slice& now, Sides sides) {
  Trend trend{.of = words_of(sides).of, .before = before, .now = now, .says = {}};
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
    const double variance =
        earlier.variance + later.variance - 2 * covariance(before, now, earlier, later);
    const double half = t_point(freedom) * std::sqrt(std::max(0.0, variance));
    trend.lower = trend.change - half;
    trend.upper = trend.change + half;
    trend.can_tell = trend.lower > 0 || trend.upper < 0;
  }
  trend.says = sentence(trend, words_of(sides));
  return trend;
}

namespace {

TrendWindow window_of(const Slice& slice) {
  constexpr double kNoBound = std::numeric_limits<double>::infinity();
  const Ratio ratio = ratio_of(slice);
  TrendWindow window{.slice = slice, .share = ratio.share, .lower = -kNoBound, .upper = kNoBound};
  const double freedom = ratio.jobs - 1;
  if (slice.jobs >= kFewestJobs && freedom >= 3) {
    const double half = t_point(freedom) * std::sqrt(ratio.variance);
    window.lower = std::max(0.0, ratio.share - half);
    window.upper = std::min(1.0, ratio.share + half);
  }
  return window;
}

TrendLine line_of(std::string family, const std::vector<Slice>& slices,
                  const std::vector<Slice>& halves) {
  TrendLine line{.family = std::move(family), .windows = {}, .halves = {}};
  for (std::size_t i = 0; i < slices.size(); ++i) {
    TrendWindow& window = line.windows.emplace_back(window_of(slices[i]));
    if (i == 0 || slices[i].jobs == 0 || slices[i - 1].jobs == 0) continue;
    const Trend change = trend_between(slices[i - 1], slices[i], Sides::kWindows);
    window.has_change = true;
    window.change = change.change;
    window.change_lower = change.lower;
    window.change_upper = change.upper;
    window.can_tell = change.can_tell;
  }
  if (halves[0].jobs > 0 && halves[1].jobs > 0) {
    line.halves = trend_between(halves[0], halves[1], Sides::kHalves);
  }
  return line;
}

}  // namespace

std::vector<TrendLine> trend_lines(const FleetUsage& usage, const Families& families,
                                   std::span<const std::string> of, Nanos every, const Stop& stop) {
  const Grid grid = round_grid(usage.window, every);
  if (grid.count > kMostTrendWindows) return {};
  std::vector<Slicer> fine(of.size() + 1, Slicer(usage, grid));
  std::vector<Slicer> halves(of.size() + 1, Slicer(usage, equal_grid(usage.window, 2)));
  std::vector<std::size_t> line_of_family(families.all.size(), 0);
  for (std::size_t f = 0; f < families.all.size(); ++f) {
    const auto at = std::ranges::find(of, families.all[f].name);
    if (at != of.end()) line_of_family[f] = static_cast<std::size_t>(at - of.begin()) + 1;
  }
  for (std::size_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    fine[0].add(i);
    halves[0].add(i);
    const std::size_t line = line_of_family[families.of_job[i]];
    if (line == 0) continue;
    fine[line].add(i);
    halves[line].add(i);
  }
  std::vector<TrendLine> lines;
  for (std::size_t i = 0; i < fine.size(); ++i) {
    lines.push_back(line_of(i == 0 ? std::string() : of[i - 1], std::move(fine[i]).take(),
                            std::move(halves[i]).take()));
  }
  return lines;
}

}  // namespace amdahl::scan
