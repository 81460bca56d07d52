#include "scan/usage_accumulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/check.h"
#include "fleet/device_names.h"
#include "fleet/hostlist.h"
#include "fleet/metrics.h"
#include "fleet/values.h"

namespace amdahl::scan {
namespace {

using fleet::Sample;
using fleet::SeriesId;
using model::Trouble;

constexpr int kShownOfEach = 5;  // Complaints with their place; all are counted.
// What exporters print for a little more than all, such as 100.02 %.
constexpr double kRounding = 1e-3;
// The least of DCGM's numbers that mean "no value"; the 64-bit ones are larger.
constexpr float kBlank = 2147483632.0F;

// All that say nothing of usage are one.
model::SeriesKey used_part(const model::SeriesKey& given) {
  model::SeriesKey key{};
  if (given.metric == fleet::kJobByValue) key.metric = fleet::kJobByValue;
  if (!fleet::find_usage_metric(given.metric) && !fleet::find_beside_metric(given.metric)) {
    return key;
  }
  key = given;
  key.job = fleet::job_in(key.job);
  return key;
}

std::string series_text(const model::SeriesKey& key) {
  std::string text = fleet::host_key(key.host);
  text += '\x1f';
  const std::string_view device = key.accelerator.empty() ? key.uuid : key.accelerator;
  for (const std::string_view part : {device, key.slice, key.job, key.metric}) {
    text += part;
    text += '\x1f';
  }
  return text;
}

}  // namespace

std::string series_name(const model::SeriesKey& key) { return series_text(used_part(key)); }

UsageAccumulator::UsageAccumulator(UsageOptions options) : options_{std::move(options)} {
  asked_ = options_.window.value_or(Window{Nanos{kBeginning}, Nanos{kForever}});
  window_ = asked_;
  if (options_.clocks) {
    window_ = {std::max(asked_.start, options_.clocks->start),
               std::min(asked_.end, options_.clocks->end)};
  }
  for (const std::string& id : options_.timelines_of) {
    named_.push_back(words_.intern_job(id));
    const std::size_t cluster = id.rfind('/');  // See JobTable::take.
    if (cluster != id.npos) named_.push_back(words_.intern_job(id.substr(0, cluster)));
  }
  CHECK(fleet::usage_metrics().size() + fleet::beside_metrics().size() <= metric_cadence_.size());
}

void UsageAccumulator::input(std::string_view name) {
  input_ = name;
  const auto next = static_cast<std::uint32_t>(inputs_.size());
  const auto [at, is_new] = input_numbers_.emplace(input_, next);
  if (is_new) inputs_.push_back(input_);
  if (is_new) told_by_.emplace_back();
  input_number_ = at->second;
}

SeriesId UsageAccumulator::series(const model::SeriesKey& given) {
  model::SeriesKey key = used_part(given);
  const fleet::UsageMetric* metric = fleet::find_usage_metric(key.metric);
  const fleet::BesideMetric* beside = metric ? nullptr : fleet::find_beside_metric(key.metric);
  const bool is_sight = key.metric == fleet::kJobByValue;
  const auto [at, is_new] =
      series_.emplace(series_text(key), static_cast<SeriesId>(tracks_.size()));
  if (!is_new) return at->second;
  Track& track = tracks_.emplace_back();
  Cursor& cursor = cursors_.emplace_back();
  track.is_used = metric || beside;
  track.is_sight = is_sight;
  if (!track.is_used) return at->second;
  holders_.seen_as(key.host);
  const std::string host = fleet::host_key(key.host);
  key.host = host;
  learn_from(key);
  track.spot = holders_.spot({.host = key.host,
                              .accelerator = key.accelerator,
                              .uuid = key.uuid,
                              .slice = key.slice,
                              .profile = key.profile,
                              .kind = key.kind});
  track.label = words_.intern_job(key.job);
  track.input = input_number_;
  if (beside) {
    begin_beside(at->second, *beside);
    return at->second;
  }
  holders_.observe(track.spot);
  track.metric = words_.intern(metric->name);
  track.rank = static_cast<std::uint8_t>(metric->rank);
  track.metric_row = static_cast<std::uint8_t>(metric - fleet::usage_metrics().data());
  cursor.scale = 1 / metric->whole;
  cursor.idle_below = static_cast<float>(options_.idle_below * metric->whole);
  return at->second;
}

// Its samples go the way of the others, as shares of what no accelerator reaches.
void UsageAccumulator::begin_beside(std::uint32_t number, const fleet::BesideMetric& metric) {
  Track& track = tracks_[number];
  Cursor& cursor = cursors_[number];
  const bool is_memory = metric.of == fleet::Beside::kMemory;
  track.is_beside = true;
  track.metric = words_.intern(metric.name);
  track.metric_row = static_cast<std::uint8_t>(fleet::usage_metrics().size() +
                                               (&metric - fleet::beside_metrics().data()));
  cursor.scale = metric.unit / (is_memory ? kMostBytes : kMostWatts);
  // Of power nothing is idle, and an idle sample of memory is one of an empty accelerator.
  cursor.idle_below = is_memory ? static_cast<float>(kEmptyBytes / metric.unit) : 0;
}

// A series that has an index and a UUID tells the index to those that have only the UUID.
void UsageAccumulator::learn_from(const model::SeriesKey& key) {
  if (key.uuid.empty() || key.accelerator.empty() || fleet::is_device_name(key.accelerator)) return;
  holders_.learn({.host = key.host,
                  .accelerator = key.accelerator,
                  .slice = key.slice == key.uuid ? key.slice : std::string_view(),
                  .uuid = key.uuid});
  is_stale_ = true;
}

void UsageAccumulator::tell(const fleet::Record& record) {
  std::visit([this](const auto& one) { add(one); }, record);
}

void UsageAccumulator::add(const fleet::Samples& told) {
  const SeriesId series = told.series;
  CHECK(series < tracks_.size());
  if (tracks_[series].is_sight) return;
  if (is_stale_) settle();
  samples_ += told.samples.size();
  if (!tracks_[series].is_used) return count(Trouble::kOtherMetric, told.samples.size());
  for (const Sample& sample : told.samples) take(series, sample);
}

void UsageAccumulator::add(const fleet::Rows& rows) {
  CHECK(rows.series.size() == rows.samples.size());
  if (is_stale_) settle();
  samples_ += rows.samples.size();
  const std::size_t known = tracks_.size();
  for (std::size_t i = 0; i < rows.samples.size(); ++i) {
    CHECK(rows.series[i] < known);
    take(rows.series[i], rows.samples[i]);
  }
}

void UsageAccumulator::add(const fleet::Complaint& told) {
  const Trouble trouble = told.trouble;
  count(trouble);
  const bool is_bad = trouble == Trouble::kBadLine || trouble == Trouble::kBadTime;
  told_by_[input_number_].bad += is_bad ? 1 : 0;
  int& shown = shown_[static_cast<std::size_t>(trouble)];
  if (shown++ >= kShownOfEach) return;
  complaints_.push_back(
      {trouble, input_, told.where.line, told.where.byte, std::string(told.text)});
}

bool UsageAccumulator::came_late() {
  if (is_stale_ && samples_ > 0) settle();
  return is_late_;
}

std::vector<std::string> UsageAccumulator::out_of_order() const {
  std::vector<std::string> names;
  for (const auto& [name, series] : series_) {
    if (tracks_[series].is_unordered) names.push_back(name);
  }
  return names;
}

UsageAccumulator::Counts UsageAccumulator::counts() const {
  return {jobs_.size(), tracks_.size(), samples_, counts_};
}

void UsageAccumulator::settle() {
  is_stale_ = false;
  const Stop stop(options_.stop);
  if (!holders_.settle([this](JobName) { count(Trouble::kUnknownJob); }, stop)) return;
  is_late_ = is_late_ || samples_ > 0;
  choose_timelines();
  for (Track& track : tracks_) {
    track.is_stale = true;
    if (track.is_used) track.spot = holders_.now(track.spot);
  }
  for (Cursor& cursor : cursors_) cursor.start = cursor.limit = 0;
}

// The jobs with most accelerator time, until their accelerators fill the room there is.
void UsageAccumulator::choose_timelines() {
  has_timeline_.assign(jobs_.size(), true);
  if (accelerators_ <= static_cast<double>(options_.timeline_lanes)) return;
  const auto time_of = [&](JobIndex job) {
    const JobRows& rows = jobs_.rows();
    const Nanos end = rows.open(job) ? std::max(rows.end(job), options_.now) : rows.end(job);
    return to_seconds(std::min(end, window_.end) - std::max(rows.start(job), window_.start)) *
           static_cast<double>(rows.accelerators(job));
  };
  std::vector<std::pair<double, JobIndex>> order;
  order.reserve(jobs_.size());
  for (JobIndex job = 0; job < jobs_.size(); ++job) order.emplace_back(-time_of(job), job);
  const std::size_t most = std::min(order.size(), options_.timeline_lanes);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end());
  has_timeline_.assign(jobs_.size(), false);
  double room = static_cast<double>(options_.timeline_lanes);
  for (std::size_t i = 0; i < most && room > 0; ++i) {
    const auto lanes = std::ceil(static_cast<double>(jobs_[order[i].second].accelerators));
    room -= lanes;
    if (room >= 0) has_timeline_[order[i].second] = true;
  }
  for (const JobName name : named_) {
    for (JobIndex job = jobs_.find(name); job != kNoJob; job = jobs_.before(job)) {
      has_timeline_[job] = true;
    }
  }
}

void UsageAccumulator::flatten(std::uint32_t track) {
  Track& row = tracks_[track];
  row.is_stale = false;
  const JobIndex labelled = jobs_.find(row.label);
  row.is_unknown = row.label != JobName::kNone && labelled == kNoJob;
  row.segments = row.label == JobName::kNone
                     ? holders_.segments_of(row.spot, window_)
                     : holders_.segments_of_job(labelled, holders_[row.spot].host, window_);
  cursors_[track].segment = 0;
}

std::optional<Reading> UsageAccumulator::reading_of(const Cursor& cursor, Sample sample) {
  double utilisation = static_cast<double>(sample.value) * cursor.scale;
  if (!(utilisation >= 0 && utilisation <= 1)) [[unlikely]] {
    if (!std::isfinite(sample.value)) {
      count(Trouble::kNotFinite);
      return std::nullopt;
    }
    if (sample.value >= kBlank) {
      count(Trouble::kBlankValue);
      return std::nullopt;
    }
    if (utilisation < 0 || utilisation > 1 + kRounding) {
      count(Trouble::kOutOfRange);
      return std::nullopt;
    }
    utilisation = 1;
  }
  return Reading{sample.at.count(), utilisation,
                 sample.value <= 0 || sample.value < cursor.idle_below, sample.value == 0};
}

void UsageAccumulator::take(std::uint32_t track, Sample sample) {
  Cursor& cursor = cursors_[track];
  const Time at = sample.at.count();
  if (at <= cursor.last || at < cursor.start || at >= cursor.limit) [[unlikely]] {
    return take_odd(track, sample);
  }
  if (const auto reading = reading_of(cursor, sample)) accept(track, cursor, *reading);
}

void UsageAccumulator::take_odd(std::uint32_t track, Sample sample) {
  Track& row = tracks_[track];
  if (!row.is_used) return row.is_sight ? void() : count(Trouble::kOtherMetric);
  if (row.is_stale) flatten(track);
  if (sample.at < window_.start || sample.at >= window_.end) return leave_out(track, sample);
  if (!is_in_order(track, sample)) return;
  Cursor& cursor = cursors_[track];
  const auto reading = reading_of(cursor, sample);
  if (!reading) return;
  const Time at = sample.at.count();
  if (cursor.last != kBeginning && at > cursor.last && at - cursor.last > kFar &&
      row.runs.size() < kMostRuns) {
    begin_run(row, cursor, at);
  }
  if (cursor.last == kBeginning) row.run_first = at;
  if (at < cursor.start || at >= cursor.limit) go_to(track, at);
  if (!row.runs.empty() && cursor.last == kBeginning && cursor.lane != kNobody) {
    // Gaps are counted as samples come: going back, it cannot be known any more which there are.
    const bool is_back = cursor.lane == kSeveral ||
                         (lanes_[cursor.lane].samples > 0 && at < lanes_[cursor.lane].last);
    row.is_unordered = row.is_unordered || is_back;
  }
  accept(track, cursor, *reading);
}

void UsageAccumulator::go_to(std::uint32_t track, Time at) {
  Track& row = tracks_[track];
  Cursor& cursor = cursors_[track];
  seek(row, cursor, at);
  const std::vector<Segment>& list = row.segments.list;
  const bool is_held = cursor.segment < list.size() && at >= list[cursor.segment].start;
  if (is_held && cursor.lane == kNobody) {
    cursor.lane = lane_of(track, row.segments.owners[list[cursor.segment].owner]);
  }
  cursor.start = std::max(cursor.start, window_.start.count());
  cursor.limit = std::min(cursor.limit, window_.end.count());
  if (at <= kForever - kFar) cursor.limit = std::min(cursor.limit, at + kFar);
}

void UsageAccumulator::leave_out(std::uint32_t track, Sample sample) {
  if (sample.at < asked_.start || sample.at >= asked_.end) {
    ++outside_;
    return vote_outside(tracks_[track], sample.at.count());
  }
  const Spot& spot = holders_[tracks_[track].spot];
  trouble(Trouble::kFarSample, {},
          fmt::format("a sample of accelerator {} on {} has the time {:%F %T}",
                      words_[spot.accelerator], words_[holders_.spelling(spot.host)],
                      fmt::gmtime(sample.at.count() / 1'000'000'000)));
}

// How often samples come is known also from those that are not of the window.
void UsageAccumulator::vote_outside(Track& row, Time at) {
  if (row.outside != kBeginning && at > row.outside) {
    metric_cadence_[row.metric_row].vote(at - row.outside);
  }
  row.outside = at;
}

// Whether it may go the usual way; if not, all that is to be done with it has been.
bool UsageAccumulator::is_in_order(std::uint32_t track, Sample sample) {
  Track& row = tracks_[track];
  Cursor& cursor = cursors_[track];
  const Time at = sample.at.count();
  if (at > cursor.last && row.runs.empty()) return true;
  Lateness lateness = lateness_of(row, cursor, at);
  if (lateness == Lateness::kNew && at > cursor.last) return true;
  if (lateness == Lateness::kNew && row.runs.size() >= kMostRuns) lateness = Lateness::kTooLate;
  const bool is_bad = lateness == Lateness::kGap || lateness == Lateness::kTooLate;
  row.is_unordered = row.is_unordered || is_bad;
  switch (lateness) {
    case Lateness::kNew:
      count(Trouble::kLateSample);
      begin_run(row, cursor, at);
      cursor.start = cursor.limit = 0;
      return true;
    case Lateness::kLate:
    case Lateness::kGap:
      count(Trouble::kLateSample);
      take_late(track, sample);
      return false;
    case Lateness::kTooLate:
      count(Trouble::kUnordered);
      return false;
    case Lateness::kDuplicate:
      count(Trouble::kDuplicateSample);
      return false;
  }
  return false;
}

void UsageAccumulator::take_late(std::uint32_t track, Sample sample) {
  Cursor& cursor = cursors_[track];
  const auto reading = reading_of(cursor, sample);
  if (!reading) return;
  ++tracks_[track].run_late;
  Cursor aside = cursor;
  seek(tracks_[track], aside, reading->at);
  const std::vector<Segment>& list = tracks_[track].segments.list;
  if (aside.segment >= list.size() || reading->at < list[aside.segment].start) {
    return take_free(track, *reading);
  }
  share(track, list[aside.segment], *reading);
  cursor.bin_start = kForever;  // The timeline may have changed under it.
  cursor.bin_end = kBeginning;
}

void UsageAccumulator::accept(std::uint32_t track, Cursor& cursor, const Reading& reading) {
  if (cursor.last != kBeginning) {
    const Time difference = reading.at - cursor.last;
    if (cursor.cadence.votes < 8) metric_cadence_[tracks_[track].metric_row].vote(difference);
    cursor.cadence.vote(difference);
  } else if (cursor.cadence.votes == 0) {
    cursor.cadence = metric_cadence_[tracks_[track].metric_row];
    cursor.cadence.votes = std::min(cursor.cadence.votes, 2U);
  }
  cursor.last = reading.at;
  cursor.recent[cursor.newest++ % cursor.recent.size()] = reading.at;
  if (cursor.lane < kSeveral) {
    add(lanes_[cursor.lane], cursor, reading);
  } else if (cursor.lane == kNobody) {
    take_free(track, reading);
  } else {
    share(track, tracks_[track].segments.list[cursor.segment], reading);
  }
}

void UsageAccumulator::take_free(std::uint32_t track, const Reading& reading) {
  ++cursors_[track].unallocated;
  Track& row = tracks_[track];
  if (reading.idle) {
    ++row.free_idle;
  } else {
    row.free_use += reading.utilisation;
  }
}

void UsageAccumulator::add(LaneSum& lane, Cursor& cursor, const Reading& reading) {
  if (lane.samples == 0) {
    begin(lane, reading.at, cursor.cadence.usual);
  } else {
    const Time gap = reading.at - lane.last;
    const Time most = 2 * cursor.cadence.usual;
    const bool is_gap = gap > most && most > 0;
    if (is_gap) lane.excess += gap - most;
    if (lane.idle_since != kForever && (is_gap || !reading.idle)) {
      end_idle(lane, std::min(lane.last, reading.at));
    }
    lane.first = std::min(lane.first, reading.at);
    lane.last = std::max(lane.last, reading.at);
  }
  // A late sample begins no spell: what came after it is known already.
  if (reading.idle && lane.idle_since == kForever && reading.at == lane.last) {
    lane.idle_since = reading.at;
  }
  scan::count(lane, reading);
  if (lane.capacity == 0) return;
  if (reading.at >= cursor.bin_end || reading.at < cursor.bin_start) {
    cursor.bin = timelines_.locate(lane, reading.at);
    if (cursor.bin == Timelines::kNoBin) return;
    cursor.bin_end = timelines_.end_of(lane, cursor.bin);
    cursor.bin_start = cursor.bin_end - lane.bin_width;
  }
  timelines_.count(cursor.bin, reading);
}

// To be called before the sample that ends it is counted.
void UsageAccumulator::end_idle(LaneSum& lane, Time last) {
  const Time first = std::exchange(lane.idle_since, kForever);
  if (last - first < kLeastSpell.count()) return;
  spells_.push_back(
      {.lane = static_cast<std::uint32_t>(&lane - lanes_.data()),
       .spell = {
           .first = Nanos{first}, .last = Nanos{last}, .used_before = lane.sum - lane.sum_idle}});
}

// Without the cursor's place in the timeline: a late sample, or one of several holders.
void UsageAccumulator::add_apart(LaneSum& lane, Time cadence, const Reading& reading) {
  Cursor aside;
  aside.cadence.usual = cadence;
  add(lane, aside, reading);
}

void UsageAccumulator::share(std::uint32_t track, const Segment& segment, const Reading& reading) {
  const Time cadence = cursors_[track].cadence.usual;
  for (std::uint32_t i = 0; i < segment.count; ++i) {
    const std::uint32_t lane = lane_of(track, tracks_[track].segments.owners[segment.owner + i]);
    add_apart(lanes_[lane], cadence, reading);
    lanes_[lane].shared += i > 0 ? 1U : 0U;
  }
}

std::uint32_t UsageAccumulator::lane_of(std::uint32_t track, Owner& owner) {
  if (owner.lane != kNobody) return owner.lane;
  const std::uint64_t key = std::uint64_t{track} << 32 | owner.job;
  const auto next = static_cast<std::uint32_t>(lanes_.size());
  const auto [at, is_new] = lane_by_track_and_job_.emplace(key, next);
  if (is_new) {
    LaneSum& lane = lanes_.emplace_back();
    lane.job = owner.job;
    lane.track = track;
    lane.whole_host = owner.whole_host;
  }
  return owner.lane = at->second;
}

void UsageAccumulator::begin(LaneSum& lane, Time at, Time cadence) {
  lane.first = lane.last = at;
  if (lane.job >= has_timeline_.size() || !has_timeline_[lane.job]) return;
  if (tracks_[lane.track].is_beside) return;
  const FleetJob& job = jobs_[lane.job];
  const Time start = std::max(job.start, window_.start).count();
  const Time end = (job.open ? window_.end : std::min(job.end, window_.end)).count();
  // Where samples begin long after the job did, nothing is to be drawn before them.
  timelines_.start(lane, at - start <= 2 * cadence ? start : at, end, cadence);
}

}  // namespace amdahl::scan
