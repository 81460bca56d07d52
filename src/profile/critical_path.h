// critical_path.h: the chain of work that the wall time consists of, from the end to the beginning.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "profile/work_graph.h"

namespace amdahl::profile {

struct PathSegment {
  Nanos from{};
  Nanos to{};
  Why why = Why::kUnknown;             // kUnknown: nothing is known to have happened.
  std::uint32_t event = model::kNone;  // Of device_events or host_events.
  std::uint32_t lane = model::kNone;   // Of streams or threads.
  bool on_device = false;
};

struct PathShare {
  Why why = Why::kUnknown;
  std::string what;  // The kernel or operator; "before gemm" for the way to a kernel.
  std::string line;  // "train.py:42 (main)", of host work where the trace tells.
  Nanos time{};      // At most what the line, and what is named, ran.
  std::uint64_t times = 0;
};

// The segments touch each other and cover all of [from, to], so that they sum to the wall time.
struct CriticalPath {
  Nanos from{};
  Nanos to{};
  std::vector<PathSegment> segments;  // In order of time.
  std::array<Nanos, kWhys> by_why{};
  std::vector<PathShare> shares;  // Longest first.
};

// The segments alone, in order of time.
std::vector<PathSegment> path_segments(const WorkGraph& graph);

// Takes the graph, if it is moved here: it is large, and what is not needed any more goes at once.
CriticalPath critical_path(const Prepared& prepared, WorkGraph graph, std::size_t shares = 12);

// What of the path lies within [from, to], by reason; sums to the overlap with the path.
std::array<Nanos, kWhys> path_within(const CriticalPath& path, Nanos from, Nanos to);

// The time during which a device worked: kernels, copies, communication.
Nanos device_time(const std::array<Nanos, kWhys>& by_why);

}  // namespace amdahl::profile
