// Of which time a scan speaks, and how long in it those that run are known to have run.
#include <algorithm>
#include <map>

#include "scan/finish.h"

namespace amdahl::scan {

using model::Trouble;

void Finisher::set_window() {
  usage_.window = accumulator_.asked_;
  const bool is_open_start = accumulator_.asked_.start == Nanos{kBeginning};
  const bool is_open_end = accumulator_.asked_.end == Nanos{kForever};
  if (!is_open_start && !is_open_end) return;
  const Window found = found_window();
  if (is_open_start) usage_.window.start = std::min(found.start, usage_.window.end);
  if (is_open_end) usage_.window.end = std::max(found.end, usage_.window.start);
}

// What was observed, or else what was accounted for.
Window Finisher::found_window() {
  Time start = kForever;
  Time end = kBeginning;
  for (std::size_t i = 0; i < accumulator_.tracks_.size(); ++i) {
    const Track& track = accumulator_.tracks_[i];
    const Cursor& cursor = accumulator_.cursors_[i];
    if (cursor.last == kBeginning || track.is_beside) continue;
    start = std::min(start, track.run_first);
    Time last = cursor.last;
    for (const Run& run : track.runs) {
      start = std::min(start, run.first);
      last = std::max(last, run.last);
    }
    end = std::max(end, last + std::max<Time>(cursor.cadence.usual, 1));
  }
  if (start == kForever) {
    const JobRows& jobs = accumulator_.jobs_.rows();
    const Nanos known = last_known();
    for (JobIndex job = 0; job < jobs.size() && !stop_(job); ++job) {
      start = std::min(start, jobs.start(job).count());
      end = std::max(end, jobs.end(job).count());
      if (jobs.open(job)) end = std::max(end, known.count());
    }
  }
  if (start == kForever) {
    for (const UsageAccumulator::Occupied& row : accumulator_.occupied_) {
      start = std::min(start, row.occupancy.at.count());
      end = std::max(end, (row.occupancy.at + row.occupancy.held).count());
    }
  }
  if (start == kForever) return {};
  Window found{Nanos{start}, Nanos{std::max(start, end)}};
  if (const auto clocks = accumulator_.clocks()) {  // Of a pipe, which could not be read again.
    found.start = std::max(found.start, clocks->window.start);
    found.end = std::min(found.end, clocks->window.end);
    accumulator_.count(Trouble::kFarSample, clocks->far);
  }
  return found;
}

// When those that run were last known to: now, or when what was told ends a day and more ago, as
// in a file that was kept, then.
Nanos Finisher::last_known() const {
  Nanos newest{};
  const JobRows& jobs = accumulator_.jobs_.rows();
  for (JobIndex job = 0; job < jobs.size() && !stop_(job); ++job) {
    newest = std::max({newest, jobs.start(job), jobs.end(job)});
  }
  for (std::size_t i = 0; i < accumulator_.tracks_.size(); ++i) {
    const Cursor& cursor = accumulator_.cursors_[i];
    for (const Time at : {cursor.last, accumulator_.tracks_[i].outside}) {
      if (at != kBeginning) newest = std::max(newest, Nanos{at + cursor.cadence.usual});
    }
    for (const Run& run : accumulator_.tracks_[i].runs) {
      newest = std::max(newest, Nanos{run.last + cursor.cadence.usual});
    }
  }
  const Nanos now = accumulator_.options_.now;
  return now - newest > std::chrono::hours{24} ? newest : now;
}

// How long samples that name a running job say that it ran on after its record was written.
std::map<JobIndex, Nanos> Finisher::seen_until() const {
  std::map<JobIndex, Nanos> until;
  const JobRows& jobs = accumulator_.jobs_.rows();
  for (const LaneSum& lane : accumulator_.lanes_) {
    if (lane.samples == 0 || accumulator_.tracks_[lane.track].label == JobName::kNone) continue;
    if (!jobs.running(lane.job)) continue;
    Nanos& last = until[lane.job];
    last = std::max(last, Nanos{lane.last + accumulator_.cursors_[lane.track].cadence.usual});
  }
  return until;
}

// Also sums up what was accounted for, the window not regarded.
void Finisher::end_running() {
  Nanos last = window().end;
  if (accumulator_.options_.now > Nanos{}) last = std::min(last, last_known());
  const std::map<JobIndex, Nanos> seen = seen_until();
  JobRows& jobs = accumulator_.jobs_.rows();
  if (jobs.size() > 0) usage_.accounted = {jobs.start(0), jobs.start(0)};
  for (JobIndex job = 0; job < jobs.size() && !stop_(job); ++job) {
    const Nanos start = jobs.start(job);
    if (jobs.open(job)) jobs.set_end(job, std::max(last, start));
    if (const auto at = seen.find(job); at != seen.end()) {
      jobs.set_end(job, std::max(jobs.end(job), std::min(at->second, last)));
    }
    const Nanos end = jobs.end(job);
    usage_.accounted.start = std::min(usage_.accounted.start, start);
    usage_.accounted.end = std::max(usage_.accounted.end, end);
    usage_.unclipped += to_seconds(end - start) * static_cast<double>(jobs.accelerators(job));
  }
}

}  // namespace amdahl::scan
