// trend.h: waste over the window, and whether it grows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "scan/family.h"
#include "scan/fleet_usage.h"
#include "scan/report.h"
#include "scan/stop.h"

namespace amdahl::scan {

// Slices of equal width, except the first and the last, which are cut by the window.
struct Grid {
  Nanos origin{};  // Start of the first slice, uncut.
  Nanos width{};
  std::size_t count = 0;
};
Grid equal_grid(const Window& window, std::size_t count);
// Cut at multiples of `width` since 1970, UTC; whole weeks on Mondays.
Grid round_grid(const Window& window, Nanos width);

inline constexpr std::size_t kMostTrendWindows = 1000;

// A job with a timeline counts as its timeline says; one without is spread evenly over its time.
class Slicer {
 public:
  Slicer(const FleetUsage& usage, const Grid& grid);
  void add(std::size_t job);  // Index into FleetUsage::jobs.
  std::vector<Slice> take() && { return std::move(slices_); }

 private:
  void add_unobserved(Nanos start, Nanos end, double allocated);
  void add_even(const FleetJob& job, const Split& split, std::vector<Split>& into);
  void add_lane(const FleetJob& job, const Lane& lane);
  void add_bin(Nanos start, Nanos end, const Split& split);
  void keep_sums(const Split& whole);
  void fill_lane();
  std::size_t at(Nanos time) const;

  const FleetUsage& usage_;
  Grid grid_;
  std::vector<Slice> slices_;
  std::vector<Split> job_;   // Current job, by slice.
  std::vector<Split> lane_;  // Its current lane.
  std::size_t first_ = 0;    // Of its slices.
  std::size_t end_ = 0;
};

// Adds a job's contribution to the sums of squares, if observed.
void add_moments(Slice& slice, const Split& job);

// `now` must be the slice after `before`, or have no sums of the previous slice.
// Halves of one window; or a window and the one before.
enum class Sides : std::uint8_t { kHalves, kWindows };
Trend trend_between(const Slice& before, const Slice& now, Sides sides);

// The fleet first, then these families in order.
std::vector<TrendLine> trend_lines(const FleetUsage& usage, const Families& families,
                                   std::span<const std::string> of, Nanos every, const Stop& stop);

}  // namespace amdahl::scan
