// track.h: the state of one series as it passes through the jobs that held its accelerator.
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
inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;  // As a lane: no job.
inline constexpr std::uint32_t kSeveral = 0xFFFFFFFE;

// How often samples come: the mode of their differences in time.
struct Cadence {
  Time usual = 0;  // 0: unknown.
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

// State used by every sample. While its time is in [start, limit) and newer than the last, it goes
// straight to `lane`.
struct Cursor {
  Time start = 0;
  Time limit = 0;
  Time last = kBeginning;
  Time bin_start = kForever;  // Bin of the last sample.
  Time bin_end = kBeginning;
  double scale = 1;      // From the metric's unit to utilisation.
  float idle_below = 0;  // In the metric's unit.
  std::uint32_t lane = kNobody;
  std::uint32_t bin = Timelines::kNoBin;
  std::uint32_t segment = 0;  // Of `lane`; the next one if no job held it.
  Cadence cadence;
  std::uint64_t unallocated = 0;
  std::array<Time, 4> recent{kBeginning, kBeginning, kBeginning, kBeginning};
  std::uint32_t newest = 0;  // Position of the next one in `recent`.
};

// A sequence of samples in time order.
struct Run {
  Time first = 0;
  Time last = 0;
  std::uint64_t samples = 0;
};
// Number remembered per series.
inline constexpr std::size_t kMostRuns = 64;
// Samples of a series this far apart are separate runs: one may come from a clock that was not
// set.
inline constexpr Time kFar = fleet::kFarApart.count();

// State of a series that is rarely needed.
struct Track {
  SpotId spot = 0;
  JobName label{};  // Job label of the exporter; kNone: none.
  WordId metric = 0;
  std::uint32_t input = 0;  // First input that reported it.
  std::uint8_t rank = 0;    // Of the metric: the lowest wins.
  std::uint8_t metric_row = 0;
  bool is_used = true;      // False: not a metric that we use.
  bool is_beside = false;   // Power or memory in use, not utilisation.
  bool is_sight = false;    // Unused too: only shows where its job was seen.
  bool is_stale = true;     // Its segments do not include the latest jobs.
  bool is_unknown = false;  // Its label is not a job in accounting.
  Segments segments;
  Time run_first = kForever;    // Of the current run.
  std::uint32_t run_begun = 0;  // Cursor::newest at its start.
  std::uint32_t run_late = 0;   // Samples received out of order.
  std::vector<Run> runs;        // Earlier ones, if the input jumped in time.
  Time outside = kBeginning;    // Last sample outside the window.
  // Samples without a known job:
  double free_use = 0;          // sum of their utilisation,
  std::uint64_t free_idle = 0;  // and number of idle ones.
  // Not all of its samples were handled as they would be in time order.
  bool is_unordered = false;

  Run current(const Cursor& cursor) const {
    return {run_first, cursor.last, std::uint64_t{cursor.newest - run_begun} + run_late};
  }
};

// How to handle a sample that is not newer than the last.
enum class Lateness : std::uint8_t {
  kNew,        // Starts a run before the known ones.
  kLate,       // Its time is free: it counts.
  kGap,        // The same, but the gap that contains it was already accounted for.
  kTooLate,    // Unknown whether its time is free: it does not count.
  kDuplicate,  // Its time is taken.
};
Lateness lateness_of(const Track& track, const Cursor& cursor, Time at);

// Starts a run at `at`, which must be kNew. There must be room for one more.
void begin_run(Track& track, Cursor& cursor, Time at);

// Moves the cursor to the segment (or gap) that contains `at`, not beyond the next known run.
void seek(const Track& track, Cursor& cursor, Time at);

}  // namespace amdahl::scan
