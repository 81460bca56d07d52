// lane_sums.h: what is kept of the samples of one accelerator while one job held it: bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "scan/fleet_usage.h"
#include "scan/job_table.h"

namespace amdahl::scan {

using Time = std::int64_t;  // Unix nanoseconds: what the inner loop counts in.
inline constexpr Time kForever = std::numeric_limits<Time>::max();

struct LaneSum {
  JobIndex job = kNoJob;
  std::uint32_t track = 0;
  std::uint32_t samples = 0;
  std::uint32_t idle = 0;
  std::uint32_t at_zero = 0;
  std::uint32_t bin = 0;       // Index of its first bin.
  std::uint32_t capacity = 0;  // Of bins; 0: it has no timeline.
  std::uint32_t shared = 0;    // Samples that count in another lane of the same series, too.
  bool whole_host = false;     // Its job's accelerators are not known one by one.
  double sum = 0;
  double sum_idle = 0;
  Time first = 0;
  Time last = 0;
  Time excess = 0;             // Of gaps, beyond twice the cadence.
  Time idle_since = kForever;  // The first sample of the idle spell that goes on.
  Time bin_width = 0;
  Time bin_start = 0;
};

// A long idle spell of a lane, closed by a sample that was not idle, or by a gap.
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

// The timelines of all lanes. Each has at most kMostBins bins, made once for the time that its job
// is known to take; when a sample lies beyond the last, two neighbours become one.
class Timelines {
 public:
  // `end`: when the lane's job ends, or the latest Time if that is not known.
  void start(LaneSum& lane, Time first, Time end, Time cadence);

  // The bin of a time, as an index into bins(); kNoBin if it lies before the first.
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

  // Appends the lane's bins to `into`, each at least a cadence wide so that none is empty between
  // two samples, without empty ones at the end. Tells the lane where they are.
  void give(const LaneSum& lane, Time cadence, std::vector<Bin>& into, Lane& told) const;

 private:
  // In blocks that never move, so that growing costs no second copy. No lane lies in two.
  static constexpr std::uint32_t kBlockBits = 14;
  static constexpr std::uint32_t kBlock = std::uint32_t{1} << kBlockBits;

  Bin* at(std::uint32_t index) { return &blocks_[index >> kBlockBits][index % kBlock]; }
  const Bin* at(std::uint32_t index) const { return &blocks_[index >> kBlockBits][index % kBlock]; }
  void halve(LaneSum& lane);

  std::vector<std::unique_ptr<Bin[]>> blocks_;
  std::uint32_t used_ = kBlock;  // Of the last block.
};

}  // namespace amdahl::scan
