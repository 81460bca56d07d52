// work_graph.h: a trace as pieces of work and what each had to wait for, to replay and to walk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"
#include "profile/gaps.h"
#include "profile/work.h"

namespace amdahl::profile {

// Where a work has needs, the latest of (end + lag) is its start, to the nanosecond: so a replay
// without a change is the measured timeline. Works are in an order in which each comes after all
// that it needs.
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

// Device events of several ranks that are one collective.
struct Collective {
  std::vector<std::uint32_t> events;
};

struct GraphInputs {
  std::span<const Collective> collectives;  // Only those that all its ranks' clocks agree on.
  std::vector<Nanos> shifts;                // By source; empty: none.
  std::vector<Nanos> cuts =
      {};  // In order: what begins from here on came after all that was before.
};

WorkGraph work_graph(const Prepared& prepared, const GraphInputs& inputs = {});

}  // namespace amdahl::profile
