// critical_path.h: the chain of work that determines the wall time, found from the end backwards.
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
  Why why = Why::kUnknown;             // kUnknown: nothing recorded.
  std::uint32_t event = model::kNone;  // Index into device_events or host_events.
  std::uint32_t lane = model::kNone;   // Index into streams or threads.
  bool on_device = false;
};

struct PathShare {
  Why why = Why::kUnknown;
  std::string what;  // Kernel or operator; "before gemm" for the time before a kernel starts.
  std::string line;  // "train.py:42 (main)", for host work if known.
  Nanos time{};      // At most the time that the line and the named event ran.
  std::uint64_t times = 0;
};

// The segments are adjacent and cover [from, to], so they sum to the wall time.
struct CriticalPath {
  Nanos from{};
  Nanos to{};
  std::vector<PathSegment> segments;  // Ordered by time.
  std::array<Nanos, kWhys> by_why{};
  std::vector<PathShare> shares;  // Longest first.
};

// The segments only, ordered by time.
std::vector<PathSegment> path_segments(const WorkGraph& graph);

// Move the graph in: it is large, and parts that are no longer needed are freed early.
CriticalPath critical_path(const Prepared& prepared, WorkGraph graph, std::size_t shares = 12);

// The part of the path within [from, to], by reason.
std::array<Nanos, kWhys> path_within(const CriticalPath& path, Nanos from, Nanos to);

// Time during which a device worked: kernels, copies, communication.
Nanos device_time(const std::array<Nanos, kWhys>& by_why);

}  // namespace amdahl::profile
