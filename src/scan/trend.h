// trend.h: where in the window the time went, and whether waste grows.
#pragma once

#include <cstddef>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

// The window in `count` equal slices. A job with a timeline counts where its timeline says; one
// without is spread evenly over its time.
class Slicer {
 public:
  Slicer(const FleetUsage& usage, std::size_t count);
  void add(const FleetJob& job);
  std::vector<Slice> take() && { return std::move(slices_); }

 private:
  void add_even(const FleetJob& job, const Split& split);
  void add_lane(const FleetJob& job, const Lane& lane);
  std::size_t at(Nanos time) const;

  const FleetUsage& usage_;
  std::vector<Slice> slices_;
  std::vector<Split> job_;  // The job at hand, by slice.
  std::size_t first_ = 0;   // Of its slices.
  std::size_t end_ = 0;
};

// A job's part in the sums of squares, if it was observed.
void add_moments(Slice& slice, const Split& job);

Trend trend_between(const Slice& before, const Slice& now, std::string_view of);

}  // namespace amdahl::scan
