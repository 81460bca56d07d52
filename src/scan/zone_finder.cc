#include "scan/zone_finder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "fleet/hostlist.h"
#include "fleet/metrics.h"
#include "fleet/values.h"

namespace amdahl::scan {
namespace {

constexpr std::int64_t kMinuteSeconds = 60;
constexpr std::int64_t kHourSeconds = 3600;
// Shorter pauses are of the job itself.
constexpr std::int64_t kQuiet = 10 * kMinuteSeconds;
constexpr double kBusy = 0.01;              // Utilisation from which an accelerator is at work.
constexpr std::uint32_t kMostEdges = 2048;  // Of a series; two for each change.
constexpr double kLeast = 0.25;             // Of the starts and ends: as many must fit.
constexpr std::size_t kMostJobs = 500'000;
constexpr std::size_t kMostEvents = 200'000;  // More do not make it surer.
constexpr double kChance = 0.01;              // That the best of all offsets is so by chance.

// All offsets from UTC that are in use, in minutes.
constexpr auto kOffsets = std::to_array<int>(
    {0,   60,   -60, 120,  -120, 180,  -180, 240,  -240, 300,  -300, 360,  -360,
     420, -420, 480, -480, 540,  -540, 600,  -600, 660,  -660, 720,  -720, 780,
     840, 330,  345, 390,  270,  210,  570,  630,  -210, -150, 525,  765,  -570});

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// That of n with chance p each at least k come.
double at_least(std::uint64_t k, std::uint64_t n, double p) {
  double sum = 0;
  for (std::uint64_t i = k; i <= n; ++i) {
    const auto of = static_cast<double>(n);
    const auto come = static_cast<double>(i);
    sum += std::exp(log_choose(of, come) + come * std::log(p) + (of - come) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

}  // namespace

std::string show_offset(int seconds) {
  if (seconds == 0) return "UTC";
  const int minutes = std::abs(seconds) / 60;
  return fmt::format("{}{:02}:{:02}", seconds < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

std::uint32_t ZoneFinder::place_of(const std::string& name) {
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [at, is_new] = places_by_name_.emplace(name, next);
  if (is_new) places_.emplace_back();
  return at->second;
}

void ZoneFinder::job(const model::JobDraft& job) {
  if (!(job.accelerators > 0) || job.start <= Nanos{}) return;
  const std::uint64_t number = told_++;
  if (number < kMostJobs) jobs_.emplace_back();
  Job& row = jobs_[number % kMostJobs];
  row = {};
  row.id = job.id;
  row.raw = job.raw;
  const auto hosts = fleet::expand_hosts(job.hosts);
  if (hosts && !hosts->empty()) row.host = fleet::host_key(hosts->front());
  row.start = job.start / std::chrono::seconds{1};
  const Nanos end = job.elapsed >= Nanos{} ? job.start + job.elapsed : job.end;
  const bool has_ended = job.end > Nanos{} || job.state != model::JobState::kRunning;
  if (has_ended && end > Nanos{}) row.end = end / std::chrono::seconds{1};
  row.accelerators = job.accelerators;
}

void ZoneFinder::series(fleet::SeriesId series, const model::SeriesKey& key) {
  if (tracks_.size() <= series) tracks_.resize(std::size_t{series} + 1);
  Track& track = tracks_[series];
  const fleet::UsageMetric* metric = fleet::find_usage_metric(key.metric);
  if (!metric || track.is_used) return;
  track.is_used = true;
  track.busy_from = static_cast<float>(kBusy * metric->whole);
  const std::string_view job = fleet::job_in(key.job);
  track.place =
      place_of(job.empty() ? "host " + fleet::host_key(key.host) : "job " + std::string(job));
}

void ZoneFinder::sample(fleet::SeriesId series, fleet::Sample sample) {
  Track& track = tracks_[series];
  if (!track.is_used) return;
  const std::int64_t at = sample.at / std::chrono::seconds{1};
  if (first_ == 0 || at < first_) first_ = at;
  last_ = std::max(last_, at);
  if (track.last != 0 && at > track.last) {
    const std::int64_t apart = at - track.last;
    if (track.apart == 0 || apart < track.apart) track.apart = apart;
    if (apart_ == 0 || apart < apart_) apart_ = apart;
  }
  track.last = at;
  if (!(sample.value >= track.busy_from)) return;
  const std::int64_t quiet = std::max(kQuiet, 2 * track.apart);
  if ((track.last_busy == 0 || at - track.last_busy >= quiet) && track.edges < kMostEdges) {
    Place& place = places_[track.place];
    place.rises.push_back(at);
    if (track.last_busy != 0) place.falls.push_back(track.last_busy);
    track.edges += 2;
  }
  track.last_busy = at;
}

const ZoneFinder::Place* ZoneFinder::place_of(const Job& job) const {
  for (const std::string& name : {"job " + job.id, "job " + job.raw, "host " + job.host}) {
    const auto at = places_by_name_.find(name);
    if (at != places_by_name_.end()) return &places_[at->second];
  }
  return nullptr;
}

// Whether some offset puts it among the samples, and some other does not.
bool ZoneFinder::may_lie_inside(std::int64_t at) const {
  return at > first_ - 14 * kHourSeconds && at < last_ + 14 * kHourSeconds;
}

// Jobs that begin or end in one moment, as an array's do, or those of an export that was cut to a
// day, are one witness.
std::vector<ZoneFinder::Event> ZoneFinder::events(double& share) const {
  std::vector<Event> events;
  std::set<std::int64_t> starts;
  std::set<std::int64_t> ends;
  double decided = 0;
  double all = 0;
  for (const Job& job : jobs_) {
    const Place* place = place_of(job);
    const std::int64_t end = job.end == 0 ? last_ : job.end;
    const double inside = static_cast<double>(
        std::max<std::int64_t>(0, std::min(end, last_) - std::max(job.start, first_)));
    all += inside * job.accelerators;
    const bool start_counts = may_lie_inside(job.start);
    const bool end_counts = job.end != 0 && may_lie_inside(job.end);
    if (start_counts || end_counts) decided += std::max(inside, 1.0) * job.accelerators;
    if (!place || events.size() >= kMostEvents) continue;
    if (start_counts && starts.insert(job.start).second) {
      events.push_back({job.start, &place->rises, false});
    }
    if (end_counts && ends.insert(job.end).second) {
      events.push_back({job.end, &place->falls, true});
    }
  }
  share = all > 0 ? decided / all : (decided > 0 ? 1 : 0);
  return events;
}

bool ZoneFinder::fits(const Event& event, std::int64_t offset, std::int64_t after) const {
  const std::int64_t at = event.at - offset;
  const std::int64_t from = event.is_end ? at - after : at - 2 * kMinuteSeconds;
  const std::int64_t to = event.is_end ? at + 2 * kMinuteSeconds : at + after;
  const auto edge = std::ranges::lower_bound(*event.edges, from);
  return edge != event.edges->end() && *edge <= to;
}

ZoneFit ZoneFinder::find() && {
  for (const Track& track : tracks_) {
    if (track.last_busy != 0) places_[track.place].falls.push_back(track.last_busy);
  }
  for (Place& place : places_) {
    std::ranges::sort(place.rises);
    std::ranges::sort(place.falls);
  }
  ZoneFit fit;
  const std::vector<Event> events = this->events(fit.share);
  fit.of = events.size();
  if (events.empty()) return fit;
  const std::int64_t after = std::clamp(2 * apart_, 10 * kMinuteSeconds, 20 * kMinuteSeconds);
  std::uint64_t all = 0;
  bool has_any = false;
  for (const int minutes : kOffsets) {
    const std::int64_t offset = minutes * kMinuteSeconds * (local_ == Local::kJobs ? 1 : -1);
    const auto fitting = static_cast<std::uint64_t>(std::ranges::count_if(
        events, [&](const Event& event) { return fits(event, offset, after); }));
    all += fitting;
    const int seconds = static_cast<int>(minutes * kMinuteSeconds);
    if (!has_any || fitting > fit.fitting) {
      if (has_any) {
        fit.next = fit.fitting;
        fit.next_offset_s = fit.offset_s;
      }
      fit.fitting = fitting;
      fit.offset_s = seconds;
      has_any = true;
    } else if (fitting > fit.next || fit.next_offset_s == fit.offset_s) {
      fit.next = fitting;
      fit.next_offset_s = seconds;
    }
  }
  // How often an offset fits that has nothing to do with the jobs: as the others do on average.
  const double others = static_cast<double>(kOffsets.size() - 2) * static_cast<double>(fit.of);
  const double chance =
      std::min(0.99, (static_cast<double>(all - fit.fitting - fit.next) + 0.5) / (others + 1));
  const double by_chance =
      static_cast<double>(kOffsets.size()) * at_least(fit.fitting, fit.of, chance);
  const double ahead = static_cast<double>(fit.fitting - fit.next);
  // If only a few fit, they may be hosts where telemetry begins with a job.
  const bool are_many = static_cast<double>(fit.fitting) >= kLeast * static_cast<double>(fit.of);
  fit.is_sure = by_chance < kChance && fit.fitting > fit.next && are_many &&
                ahead >= 3 * std::sqrt(static_cast<double>(fit.next));
  if (fit.is_sure) {
    fit.odd = odd_clocks(events, fit.offset_s * (local_ == Local::kJobs ? 1 : -1), after);
  }
  return fit;
}

// Of each host alone: little fits at the offset of all, far more and at least half at another.
std::vector<OddClock> ZoneFinder::odd_clocks(const std::vector<Event>& events, std::int64_t offset,
                                             std::int64_t after) const {
  constexpr std::size_t kLeastEvents = 6;
  std::map<const std::vector<std::int64_t>*, std::vector<Event>> by_edges;
  for (const Event& event : events) by_edges[event.edges].push_back(event);
  std::vector<OddClock> odd;
  for (const auto& [name, place] : places_by_name_) {
    if (!name.starts_with("host ")) continue;
    std::vector<Event> own = by_edges[&places_[place].rises];
    const std::vector<Event>& ends = by_edges[&places_[place].falls];
    own.insert(own.end(), ends.begin(), ends.end());
    if (own.size() < kLeastEvents) continue;
    const auto fitting = [&](std::int64_t at) {
      return static_cast<std::uint64_t>(
          std::ranges::count_if(own, [&](const Event& event) { return fits(event, at, after); }));
    };
    OddClock clock{.host = name.substr(5), .as_is = fitting(offset), .of = own.size()};
    if (5 * clock.as_is > 2 * clock.of) continue;
    for (const int minutes : kOffsets) {
      const std::uint64_t count = fitting(offset - minutes * kMinuteSeconds);
      if (count <= clock.fitting) continue;
      clock.fitting = count;
      clock.ahead_s = static_cast<int>(minutes * kMinuteSeconds);
    }
    const double chance = 3 * std::sqrt(std::max(1.0, static_cast<double>(clock.as_is)));
    const bool is_clear = static_cast<double>(clock.fitting - clock.as_is) >= chance;
    if (2 * clock.fitting >= clock.of && is_clear) odd.push_back(clock);
  }
  return odd;
}

}  // namespace amdahl::scan
