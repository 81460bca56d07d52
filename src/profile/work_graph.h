// work_graph.h: a trace as a graph of work and dependencies, for replay and critical path.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"
#include "profile/gaps.h"
#include "profile/work.h"

namespace amdahl::profile {

// A work with needs starts exactly at the latest (end + lag) of them, so a replay without a change
// reproduces the measured timeline. Works are in topological order.
struct WorkGraph {
  std::vector<Work> works;
  std::vector<Need> needs;
  Nanos from{};
  Nanos to{};
  std::vector<Nanos> shifts;  // By source: subtracted from its times to align the ranks' clocks.

  std::span<const Need> needs_of(const Work& work) const {
    return std::span(needs).subspan(work.first_need, work.needs);
  }
};

// Device events of several ranks that form one collective.
struct Collective {
  std::vector<std::uint32_t> events;
};

struct GraphInputs {
  std::span<const Collective> collectives;  // Only those on which the clocks of all ranks agree.
  std::vector<Nanos> shifts;                // By source; empty: none.
  // Ascending. Everything that starts at or after a cut depends on everything before it.
  std::vector<Nanos> cuts = {};
};

WorkGraph work_graph(const Prepared& prepared, const GraphInputs& inputs = {});

}  // namespace amdahl::profile
