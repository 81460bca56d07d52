// timeline_boxes.h: a trace as boxes on lanes, few enough to draw at any size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/critical_path.h"
#include "profile/gaps.h"

namespace amdahl::profile {

enum class LaneKind : std::uint8_t { kPath, kStream, kIdle, kThread };

struct Box {
  Nanos from{};  // Relative to Boxes::from.
  Nanos to{};
  std::uint32_t name = 0;   // Index into Boxes::names.
  std::uint32_t count = 1;  // Events merged into this box.
  Why why = Why::kUnknown;
  std::uint8_t depth = 0;  // Row within the lane.
};

struct Lane {
  std::string name;  // "rank 0, device 0, stream 7".
  LaneKind kind = LaneKind::kThread;
  std::uint8_t depth = 1;  // Number of rows.
  std::vector<Box> boxes;  // By row, then by time.
};

struct Boxes {
  Nanos from{};
  Nanos to{};
  std::vector<std::string> names;
  std::vector<Lane> lanes;   // The path, then each rank's devices and threads.
  std::uint64_t events = 0;  // In the trace.
  std::uint64_t drawn = 0;   // Events with a box of their own.
};

// At most about `most` boxes: neighbouring events of a lane that are too short to see are merged
// and named after the longest of them.
Boxes boxes(const Prepared& prepared, const CriticalPath& path, const std::vector<Nanos>& shifts,
            std::size_t most = 80'000);

}  // namespace amdahl::profile
