// lane_sums.h: bounded sums over the samples of one accelerator while one job held it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/job_table.h"

namespace amdahl::scan {

using Time = std::int64_t;  // Unix nanoseconds, for the inner loop.
inline constexpr Time kForever = std::numeric_limits<Time>::max();

// What power and memory in use are kept as shares of.
inline constexpr double kMostWatts = 1e5;
inline constexpr double kMostBytes = 1e15;

struct LaneSum {
  JobIndex job = kNoJob;
  std::uint32_t track = 0;
  std::uint32_t samples = 0;
  std::uint32_t idle = 0;
  std::uint32_t at_zero = 0;
  std::uint32_t bin = 0;       // Index of its first bin.
  std::uint32_t capacity = 0;  // Bins; 0: no timeline.
  std::uint32_t shared = 0;    // Samples that also count in another lane of the same series.
  bool whole_host = false;     // Its job's accelerators are not known individually.
  double sum = 0;
  double sum_idle = 0;
  Time first = 0;
  Time last = 0;
  Time excess = 0;             // Of gaps, beyond twice the cadence.
  Time idle_since = kForever;  // First sample of the current idle spell.
  Time bin_width = 0;
  Time bin_start = 0;
};

// A long idle spell of a lane, ended by a busy sample or a gap.
struct LaneSpell {
  std::uint32_t lane = 0;
  IdleSpell spell;
};

// One valid sample, in its own unit and as utilisation.
struct Reading {
  Time at = 0;
  double utilisation = 0;
  bool idle = false;
  bool at_zero = false;
};

inline void count(LaneSum& lane, const Reading& reading) {
  ++lane.samples;
  lane.sum += reading.utilisation;
  if (reading.idle) {
    ++lane.idle;
    lane.sum_idle += reading.utilisation;
    lane.at_zero += reading.at_zero ? 1U : 0U;
  }
}

// The timelines of all lanes. Each has at most kMostBins bins, sized for the known duration of its
// job; for a sample beyond the last bin, neighbouring bins are merged.
class Timelines {
 public:
  // `end`: when the lane's job ends; the latest Time if unknown.
  void start(LaneSum& lane, Time first, Time end, Time cadence);

  // The bin of a time, as an index into bins(); kNoBin if before the first.
  static constexpr std::uint32_t kNoBin = 0xFFFFFFFF;
  std::uint32_t locate(LaneSum& lane, Time at);
  Time end_of(const LaneSum& lane, std::uint32_t bin) const {
    return lane.bin_start + (static_cast<Time>(bin - lane.bin) + 1) * lane.bin_width;
  }

  void count(std::uint32_t index, const Reading& reading) {
    Bin& bin = *at(index);
    const auto share = static_cast<std::uint16_t>(reading.utilisation * 10000 + 0.5);
    if (share > bin.most) bin.most = share;
    bin.sum += static_cast<float>(reading.utilisation);
    ++bin.samples;
    bin.idle += reading.idle ? 1U : 0U;
  }

  // Appends the lane's bins to `into`, each at least one cadence wide (no empty bins between
  // samples), without empty ones at the end, and sets the lane's indices.
  void give(const LaneSum& lane, Time cadence, std::vector<Bin>& into, Lane& told) const;

 private:
  // Blocks never move, so growing does not copy. No lane crosses blocks.
  static constexpr std::uint32_t kBlockBits = 14;
  static constexpr std::uint32_t kBlock = std::uint32_t{1} << kBlockBits;

  Bin* at(std::uint32_t index) { return &blocks_[index >> kBlockBits][index % kBlock]; }
  const Bin* at(std::uint32_t index) const { return &blocks_[index >> kBlockBits][index % kBlock]; }
  void halve(LaneSum& lane);

  std::vector<std::unique_ptr<Bin[]>> blocks_;
  std::uint32_t used_ = kBlock;  // In the last block.
};

}  // namespace amdahl::scan
