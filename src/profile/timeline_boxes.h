// timeline_boxes.h: a trace as boxes on lanes, few enough to draw whatever the trace's size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/critical_path.h"
#include "profile/gaps.h"

namespace amdahl::profile {

enum class LaneKind : std::uint8_t { kPath, kStream, kIdle, kThread };

struct Box {
  Nanos from{};  // Since Boxes::from.
  Nanos to{};
  std::uint32_t name = 0;   // Of Boxes::names.
  std::uint32_t count = 1;  // Events drawn as one.
  Why why = Why::kUnknown;
  std::uint8_t depth = 0;  // Rows below the lane's first.
};

struct Lane {
  std::string name;  // "rank 0, device 0, stream 7".
  LaneKind kind = LaneKind::kThread;
  std::uint8_t depth = 1;  // Rows.
  std::vector<Box> boxes;  // By row, then in order of time.
};

struct Boxes {
  Nanos from{};
  Nanos to{};
  std::vector<std::string> names;
  std::vector<Lane> lanes;   // The path, then of each rank its devices and threads.
  std::uint64_t events = 0;  // That the trace has.
  std::uint64_t drawn = 0;   // That have a box of their own.
};

// At most about `most` boxes: where there are more events, neighbours of one lane that are too
// short to be seen are drawn as one, named after the longest of them.
Boxes boxes(const Prepared& prepared, const CriticalPath& path, const std::vector<Nanos>& shifts,
            std::size_t most = 80'000);

}  // namespace amdahl::profile
