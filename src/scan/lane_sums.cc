#include "scan/lane_sums.h"

#include <algorithm>
#include <limits>

namespace amdahl::scan {
namespace {

constexpr Time kMinute = Time{60} * 1'000'000'000;

// Neighbours become one, in place.
void merge_pairs(Bin* bins, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Bin pair = bins[i];
    bins[i] = {};
    if (i % 2 == 0) {
      bins[i / 2] = pair;
    } else {
      merge(bins[i / 2], pair);
    }
  }
}

}  // namespace

void Timelines::start(LaneSum& lane, Time first, Time end, Time cadence) {
  const Time span = end == kForever ? 0 : std::max<Time>(end - first, 1);
  const auto most = static_cast<Time>(kMostBins);
  const Time fair = (span + most - 1) / most;
  lane.bin_width = std::max<Time>({fair, cadence, 1});
  if (span == 0 && cadence == 0) lane.bin_width = kMinute;
  const Time bins = span == 0 ? most : (span + lane.bin_width - 1) / lane.bin_width;
  lane.bin_start = first;
  lane.capacity = static_cast<std::uint32_t>(std::clamp<Time>(bins, 1, most));
  if (used_ + lane.capacity > kBlock) {
    blocks_.push_back(std::make_unique<Bin[]>(kBlock));
    used_ = 0;
  }
  lane.bin = (static_cast<std::uint32_t>(blocks_.size() - 1) << kBlockBits) + used_;
  used_ += lane.capacity;
}

std::uint32_t Timelines::locate(LaneSum& lane, Time at) {
  if (at < lane.bin_start) return kNoBin;
  Time index = (at - lane.bin_start) / lane.bin_width;
  while (index >= static_cast<Time>(lane.capacity)) {
    halve(lane);
    index /= 2;
  }
  return lane.bin + static_cast<std::uint32_t>(index);
}

void Timelines::halve(LaneSum& lane) {
  merge_pairs(at(lane.bin), lane.capacity);
  lane.bin_width *= 2;
}

void Timelines::give(const LaneSum& lane, Time cadence, std::vector<Bin>& into, Lane& told) const {
  if (lane.capacity == 0) return;
  const Bin* from = at(lane.bin);
  std::vector<Bin> bins(from, from + lane.capacity);
  Time width = lane.bin_width;
  while (width < cadence && bins.size() > 1) {
    merge_pairs(bins.data(), bins.size());
    bins.resize((bins.size() + 1) / 2);
    width *= 2;
  }
  width = std::max(width, cadence);  // Of a lane with one bin.
  while (!bins.empty() && bins.back().samples == 0) bins.pop_back();
  told.bin_width = Nanos{width};
  told.bin_start = Nanos{lane.bin_start};
  told.bin = static_cast<std::uint32_t>(into.size());
  told.bins = static_cast<std::uint32_t>(bins.size());
  into.insert(into.end(), bins.begin(), bins.end());
}

}  // namespace amdahl::scan
