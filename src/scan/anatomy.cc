#include "scan/anatomy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>

#include <fmt/core.h>

#include "base/text.h"
#include "scan/parts.h"
#include "scan/timeline.h"

namespace amdahl::scan {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Nanos wall_of(const model::Usage& usage) { return std::max(usage.end - usage.start, Nanos{}); }

std::size_t accelerators_of(const model::Usage& usage) {
  return static_cast<std::size_t>(std::max(usage.accelerators, 0));
}

struct Interval {
  Nanos start{};
  Nanos duration{};
  double utilisation = 0;  // 0 to 1, or NaN.
};

// The intervals of one accelerator: from 0 to the end of the job, without a gap.
template <class Visit>
void each_interval(const model::Usage& usage, std::size_t accelerator, Visit visit) {
  const Nanos wall = wall_of(usage);
  const model::Utilisation& seen = usage.utilisation;
  Nanos at{};
  if (accelerator < seen.accelerators.size() && seen.interval > Nanos{}) {
    for (const float sample : seen.accelerators[accelerator]) {
      if (at >= wall) break;
      const Nanos duration = std::min(seen.interval, wall - at);
      const double value = std::isfinite(sample) ? std::clamp<double>(sample, 0, 1) : kUnknown;
      visit(Interval{.start = at, .duration = duration, .utilisation = value});
      at += duration;
    }
  }
  if (at < wall) visit(Interval{.start = at, .duration = wall - at, .utilisation = kUnknown});
}

void add(Split& split, const Interval& interval, const Thresholds& thresholds) {
  const double seconds = to_seconds(interval.duration);
  switch (activity_of(interval.utilisation, thresholds)) {
    case Activity::kUnobserved:
      split.unobserved += seconds;
      return;
    case Activity::kIdle:
      split.idle += seconds;
      return;
    case Activity::kLow:
    case Activity::kProductive:
      split.productive += seconds * interval.utilisation;
      split.low += seconds * (1 - interval.utilisation);
      return;
  }
}

void append(std::vector<ActivitySpan>& stretches, const Interval& interval, Activity activity) {
  if (stretches.empty() || stretches.back().activity != activity) {
    stretches.push_back({.activity = activity,
                         .start = interval.start,
                         .duration = interval.duration,
                         .utilisation = interval.utilisation});
    return;
  }
  ActivitySpan& last = stretches.back();
  const double before = to_seconds(last.duration);
  const double more = to_seconds(interval.duration);
  last.utilisation = (last.utilisation * before + interval.utilisation * more) / (before + more);
  last.duration += interval.duration;
}

CeilingRow row(std::string name, double seconds, double allocated) {
  CeilingRow result{.name = std::move(name), .accelerator_seconds = seconds};
  result.share = allocated > 0 ? std::clamp(seconds / allocated, 0.0, 1.0) : 0;
  result.if_vanished = ceiling_of(result.share);
  return result;
}

void sort_largest_first(std::vector<CeilingRow>::iterator begin,
                        std::vector<CeilingRow>::iterator end) {
  std::stable_sort(begin, end, [](const CeilingRow& a, const CeilingRow& b) {
    return a.accelerator_seconds > b.accelerator_seconds;
  });
}

std::vector<CeilingRow> table_of(const Anatomy& anatomy) {
  const Split& split = anatomy.split;
  const double accelerators = static_cast<double>(anatomy.accelerators.size());
  std::map<std::string, Nanos> phases;
  for (const model::Span& phase : anatomy.phases) phases[phase.name] += phase.duration;

  std::vector<CeilingRow> table;
  for (const auto& [name, time] : phases) {
    table.push_back(row(name, to_seconds(time) * accelerators, split.allocated));
  }
  const auto waits = static_cast<std::ptrdiff_t>(table.size());
  table.push_back(row("idle", split.idle, split.allocated));
  table.push_back(row("low", split.low, split.allocated));
  sort_largest_first(table.begin(), table.begin() + waits);
  sort_largest_first(table.begin() + waits, table.end());
  table.push_back(row("compute", split.productive, split.allocated));
  table.back().is_compute = true;
  return table;
}

void set_parts(Anatomy& anatomy, const JobLines& lines) {
  Dissection found = dissect(lines);
  anatomy.stages = std::move(found.phases);
  anatomy.parts = std::move(found.parts);
}

std::vector<ActivitySpan> stretches_of(const JobLines& lines, const LaneLine& lane,
                                       const Thresholds& thresholds) {
  std::vector<ActivitySpan> stretches;
  Nanos at{};
  for (const Bin& bin : lane.bins) {
    const Nanos duration = std::min(lines.width, lines.wall - at);
    if (duration <= Nanos{}) break;
    const double mean = mean_of(bin);
    append(stretches, {.start = at, .duration = duration, .utilisation = mean},
           activity_of(mean, thresholds));
    at += duration;
  }
  if (at < lines.wall) {
    append(stretches, {.start = at, .duration = lines.wall - at, .utilisation = kUnknown},
           Activity::kUnobserved);
  }
  return stretches;
}

// Why a picture over time would show nothing; empty: it would.
std::string no_course(const FleetUsage& usage, const FleetJob& job) {
  for (const Lane& lane : usage.lanes_of(job)) {
    if (lane.bins > 0) return "";
  }
  switch (job.evidence) {
    case Evidence::kNone:
      return "not observed: nothing to draw";
    case Evidence::kMean:
      return "only its mean over the whole job is known: no timeline to draw";
    case Evidence::kSamples:
      return fmt::format("too many jobs to keep all timelines; for this one: --job {}",
                         usage.text(job.id));
  }
  return "";
}

}  // namespace

std::string describe_idle(double idle_below) {
  return idle_below > 0 ? "below " + show_percent(idle_below) : "at 0";
}

Activity activity_of(double utilisation, const Thresholds& thresholds) {
  // Samples are floats: 0.05 read from one is a little more than the threshold as a double.
  constexpr double kRounding = 1e-6;
  if (!std::isfinite(utilisation)) return Activity::kUnobserved;
  if (utilisation <= kRounding || utilisation < thresholds.idle_below - kRounding) {
    return Activity::kIdle;
  }
  if (utilisation >= thresholds.productive_at_least - kRounding) return Activity::kProductive;
  return Activity::kLow;
}

Split& operator+=(Split& a, const Split& b) {
  a.allocated += b.allocated;
  a.unobserved += b.unobserved;
  a.idle += b.idle;
  a.low += b.low;
  a.productive += b.productive;
  return a;
}

double wasted(const Split& split) { return split.idle + split.low; }

double observed_in(const Split& split) { return split.idle + split.low + split.productive; }

Split split_of(const model::Usage& usage, const Thresholds& thresholds) {
  Split split;
  const std::size_t accelerators = accelerators_of(usage);
  split.allocated = static_cast<double>(accelerators) * to_seconds(wall_of(usage));
  for (std::size_t i = 0; i < accelerators; ++i) {
    each_interval(usage, i, [&](const Interval& interval) { add(split, interval, thresholds); });
  }
  return split;
}

Anatomy anatomy_of(const model::Usage& usage, const Thresholds& thresholds) {
  Anatomy anatomy{.job = usage.job,
                  .family = usage.family,
                  .wall = wall_of(usage),
                  .metric = usage.utilisation.metric,
                  .thresholds = thresholds,
                  .accelerators = {},
                  .phases = flatten(usage.phases, wall_of(usage)),
                  .split = split_of(usage, thresholds),
                  .table = {}};
  anatomy.accelerators.resize(accelerators_of(usage));
  for (std::size_t i = 0; i < anatomy.accelerators.size(); ++i) {
    each_interval(usage, i, [&](const Interval& interval) {
      append(anatomy.accelerators[i], interval, activity_of(interval.utilisation, thresholds));
    });
  }
  anatomy.table = table_of(anatomy);
  set_parts(anatomy, lines_of(usage, thresholds));
  return anatomy;
}

Anatomy anatomy_of(const FleetUsage& usage, const FleetJob& job, std::string family,
                   const Thresholds& thresholds) {
  const JobLines lines = lines_of(usage, job);
  Anatomy anatomy{.job = std::string(usage.text(job.id)),
                  .family = std::move(family),
                  .wall = lines.wall,
                  .queue = job.submit > Nanos{} ? std::max(Nanos{}, job.start - job.submit)
                                                : Nanos{},
                  .metric = std::string(usage.text(job.metric)),
                  .thresholds = thresholds,
                  .accelerators = {},
                  .phases = {},
                  .split = job.split,
                  .table = {}};
  anatomy.no_course = no_course(usage, job);
  anatomy.thresholds.idle_below = usage.idle_below;
  const std::span<const Lane> lanes = usage.lanes_of(job);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    anatomy.accelerators.push_back(stretches_of(lines, lines.lanes[i], anatomy.thresholds));
    anatomy.labels.push_back(
        fmt::format("{}:{}", usage.text(lanes[i].host), usage.text(lanes[i].accelerator)));
  }
  // Those that nobody observed are there all the same; a share of one is one.
  const auto all = static_cast<std::size_t>(std::ceil(job.accelerators));
  for (std::size_t i = lanes.size(); i < all; ++i) {
    anatomy.accelerators.push_back(stretches_of(lines, {}, anatomy.thresholds));
    anatomy.labels.emplace_back("?");
  }
  anatomy.table = table_of(anatomy);
  set_parts(anatomy, lines);
  return anatomy;
}

double ceiling_of(double share) {
  if (!(share > 0)) return 1;
  if (share >= 1) return std::numeric_limits<double>::infinity();
  return 1 / (1 - share);
}

}  // namespace amdahl::scan
