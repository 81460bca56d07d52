// dissect.h: the stages of splitting a job's waste into parts; for parts.cc and parts_words.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scan/parts.h"

namespace amdahl::scan {

// Consecutive bins in which the whole job was idle or below half its steady level.
struct Dip {
  std::size_t first = 0;
  std::size_t end = 0;  // Exclusive.
  double seconds = 0;   // Idle, or below half of the steady level.
};

// Intermediate results, for the evidence.
struct Findings {
  PartSeconds seconds{};
  bool all_unused = false;
  std::size_t observed_lanes = 0;
  std::size_t unused_lanes = 0;   // For the whole run.
  std::size_t partial_lanes = 0;  // For part of the run.
  std::size_t behind_lanes = 0;   // Less used than the busiest one.
  double behind_by = 0;           // Largest difference in utilisation.
  double bin_seconds = 0;
  double steady_level = 0;
  double working_level = 0;  // In steady state, without samples at which lanes are idle.
  std::uint64_t samples = 0;
  // In bins: start-up [0, work), ramp [work, steady), steady [steady, tail), tail [tail, bins).
  std::size_t bins = 0;
  std::size_t work = 0;
  std::size_t steady = 0;
  std::size_t tail = 0;
  bool starts_within = false;  // Start-up is shorter than the first bin.
  bool ends_within = false;    // The tail is shorter than the last bin.
  std::vector<Dip> dips;
  PartKind dips_are = PartKind::kPauses;
  double period_seconds = 0;   // Distance of periodic dips; else 0.
  bool distance_seen = false;  // Bins are fine enough to show that dips are not periodic.
  double idle_all_over = 0;    // Share of idle samples if they are spread over the run; else 0.
  std::vector<double> level;   // Per bin; negative if unobserved.
};

Findings find_parts(const JobLines& lines);

}  // namespace amdahl::scan
