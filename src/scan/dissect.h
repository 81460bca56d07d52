// dissect.h: the stages of cutting a job's waste into parts; for parts.cc and parts_words.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scan/parts.h"

namespace amdahl::scan {

// A stretch of bins in which the whole job stood still or went at less than half.
struct Dip {
  std::size_t first = 0;
  std::size_t end = 0;  // Not in it.
  double seconds = 0;   // Stood still, or below half of the steady level.
};

// What was found on the way, for the evidence.
struct Findings {
  PartSeconds seconds{};
  bool all_unused = false;
  std::size_t observed_lanes = 0;
  std::size_t unused_lanes = 0;   // Throughout.
  std::size_t partial_lanes = 0;  // For a time.
  std::size_t behind_lanes = 0;   // The busiest accelerator.
  double behind_by = 0;           // Of the one that is furthest behind, in utilisation.
  double bin_seconds = 0;
  double steady_level = 0;
  double working_level = 0;  // In the steady state, without samples at which lanes stand still.
  std::uint64_t samples = 0;
  // Bins: start-up [0, work), ramp [work, steady), steady [steady, tail), tail [tail, bins).
  std::size_t bins = 0;
  std::size_t work = 0;
  std::size_t steady = 0;
  std::size_t tail = 0;
  bool starts_within = false;  // The start-up is shorter than the first bin.
  bool ends_within = false;    // The tail is shorter than the last.
  std::vector<Dip> dips;
  PartKind dips_are = PartKind::kPauses;
  double period_seconds = 0;   // Of dips at equal distances; else 0.
  bool distance_seen = false;  // Bins are fine enough to say that dips have no fixed distance.
  double idle_all_over = 0;    // Share of idle samples, where they are all over the run; else 0.
  std::vector<double> level;   // Of each bin; negative where nothing was observed.
};

Findings find_parts(const JobLines& lines);

}  // namespace amdahl::scan
