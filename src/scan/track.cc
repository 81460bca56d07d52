#include "scan/track.h"

#include <algorithm>

namespace amdahl::scan {
namespace {

bool holds(const Run& run, Time at) { return run.first <= at && at <= run.last; }

// The start of the first known run after `at`.
Time next_run(const Track& track, Time at) {
  Time next = kForever;
  for (const Run& run : track.runs) {
    if (run.first > at) next = std::min(next, run.first);
  }
  return next;
}

}  // namespace

Lateness lateness_of(const Track& track, const Cursor& cursor, Time at) {
  const Time cadence = cursor.cadence.usual;
  Time oldest = kForever;
  Time before = kBeginning;  // The neighbours in time, of those remembered.
  Time after = kForever;
  for (const Time recent : cursor.recent) {
    if (recent == at) return Lateness::kDuplicate;
    if (recent == kBeginning) continue;
    oldest = std::min(oldest, recent);
    (recent < at ? before : after) =
        recent < at ? std::max(before, recent) : std::min(after, recent);
  }
  const Run current = track.current(cursor);
  // Between two times that are remembered nothing was taken.
  if (at > oldest && at < cursor.last) {
    return after - before > 2 * cadence ? Lateness::kGap : Lateness::kLate;
  }
  const Run* inside = holds(current, at) ? &current : nullptr;
  for (const Run& run : track.runs) {
    if (holds(run, at)) inside = &run;
  }
  if (!inside) return Lateness::kNew;
  if (at == inside->first || at == inside->last) return Lateness::kDuplicate;
  // Of a run without gaps every time of its grid was taken.
  const bool on_grid = cadence > 0 && (at - inside->first) % cadence == 0;
  const bool is_full = cadence > 0 && (inside->last - inside->first) / cadence <
                                          static_cast<Time>(inside->samples);
  return on_grid && is_full ? Lateness::kDuplicate : Lateness::kTooLate;
}

void begin_run(Track& track, Cursor& cursor, Time at) {
  if (cursor.last != kBeginning) track.runs.push_back(track.current(cursor));
  track.run_first = at;
  track.run_begun = cursor.newest;
  track.run_late = 0;
  cursor.last = kBeginning;
  cursor.recent.fill(kBeginning);
}

void seek(const Track& track, Cursor& cursor, Time at) {
  const std::vector<Segment>& list = track.segments.list;
  // Mostly it is the next one.
  std::size_t index = cursor.segment;
  if (index >= list.size() || at < list[index].start || at >= list[index].end) {
    if (index + 1 < list.size() && at >= list[index + 1].start && at < list[index + 1].end) {
      ++index;
    } else {
      const auto after =
          std::upper_bound(list.begin(), list.end(), at,
                           [](Time time, const Segment& segment) { return time < segment.end; });
      index = static_cast<std::size_t>(after - list.begin());
    }
  }
  cursor.segment = static_cast<std::uint32_t>(index);
  cursor.bin_start = kForever;
  cursor.bin_end = kBeginning;
  const bool is_held = index < list.size() && at >= list[index].start;
  if (is_held) {
    cursor.start = list[index].start;
    cursor.limit = list[index].end;
    cursor.lane = list[index].count > 1 ? kSeveral : track.segments.owners[list[index].owner].lane;
  } else {
    cursor.start = index == 0 ? kBeginning : list[index - 1].end;
    cursor.limit = index < list.size() ? list[index].start : kForever;
    cursor.lane = kNobody;
  }
  if (!track.runs.empty()) cursor.limit = std::min(cursor.limit, next_run(track, at));
}

}  // namespace amdahl::scan
