// track.h: one series on its way through the jobs that held its accelerator.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "fleet/clocks.h"
#include "scan/holders.h"
#include "scan/lane_sums.h"

namespace amdahl::scan {

inline constexpr Time kBeginning = std::numeric_limits<Time>::min();
inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;  // As a lane: nobody held it.
inline constexpr std::uint32_t kSeveral = 0xFFFFFFFE;

// How often samples come: the value that most of the differences in time are near to.
struct Cadence {
  Time usual = 0;  // 0: not known.
  std::uint32_t votes = 0;

  void vote(Time difference) {
    const Time away = difference > usual ? difference - usual : usual - difference;
    if (away * 4 <= usual) {
      votes += votes < 255 ? 1U : 0U;
    } else if (votes == 0) {
      usual = difference;
      votes = 1;
    } else {
      --votes;
    }
  }
};

// What every sample touches. While its time lies in [start, limit) and is newer than the last, it
// goes to `lane` with no more ado.
struct Cursor {
  Time start = 0;
  Time limit = 0;
  Time last = kBeginning;
  Time bin_start = kForever;  // Of the bin that took the last sample.
  Time bin_end = kBeginning;
  double scale = 1;      // From the metric's unit to utilisation.
  float idle_below = 0;  // In the metric's unit.
  std::uint32_t lane = kNobody;
  std::uint32_t bin = Timelines::kNoBin;
  std::uint32_t segment = 0;  // Of `lane`; the next one where nobody held it.
  Cadence cadence;
  std::uint64_t unallocated = 0;
  std::array<Time, 4> recent{kBeginning, kBeginning, kBeginning, kBeginning};
  std::uint32_t newest = 0;  // Where the next goes in `recent`.
};

// From the first sample to the last, taken in order.
struct Run {
  Time first = 0;
  Time last = 0;
  std::uint64_t samples = 0;
};
// As many are remembered of a series.
inline constexpr std::size_t kMostRuns = 64;
// Two samples of a series so far apart are of two runs: one may be of a clock that was not set.
inline constexpr Time kFar = fleet::kFarApart.count();

// What a series is about and what is seldom needed of it.
struct Track {
  SpotId spot = 0;
  WordId label = 0;  // The job that the exporter names; 0: none.
  WordId metric = 0;
  std::uint32_t input = 0;  // That told of it first.
  std::uint8_t rank = 0;    // Of the metric: the lowest is believed.
  std::uint8_t metric_row = 0;
  bool is_used = true;      // False: a metric that says nothing of usage.
  bool is_sight = false;    // Not used either: it says only where its job was seen.
  bool is_stale = true;     // Its segments do not know the latest jobs.
  bool is_unknown = false;  // Its label is of no job that accounting lists.
  Segments segments;
  Time run_first = kForever;    // Of the run that goes on.
  std::uint32_t run_begun = 0;  // Cursor::newest when it began.
  std::uint32_t run_late = 0;   // Samples that it got out of order.
  std::vector<Run> runs;        // Older ones, if the input jumped in time.
  Time outside = kBeginning;    // Of the last sample that was not of the window.
  // Of samples while no job is known to have held it:
  double free_use = 0;          // the sum of their utilisation,
  std::uint64_t free_idle = 0;  // and how many were idle.
  // Not all of its samples were taken as they would have been in order of time.
  bool is_unordered = false;

  Run current(const Cursor& cursor) const {
    return {run_first, cursor.last, std::uint64_t{cursor.newest - run_begun} + run_late};
  }
};

// How a sample that is not newer than the last is to be taken.
enum class Lateness : std::uint8_t {
  kNew,        // It begins a run before those known.
  kLate,       // Its time is free: it counts.
  kGap,        // The same, but what was made of the gap that it lies in is wrong.
  kTooLate,    // It cannot be told whether its time was taken: it does not count.
  kDuplicate,  // Its time was taken.
};
Lateness lateness_of(const Track& track, const Cursor& cursor, Time at);

// Begins a run at `at`, which must be kNew. There must be room for one more.
void begin_run(Track& track, Cursor& cursor, Time at);

// Points the cursor at the segment (or the hole between two) that `at` lies in, and no further
// than the next known run.
void seek(const Track& track, Cursor& cursor, Time at);

}  // namespace amdahl::scan
