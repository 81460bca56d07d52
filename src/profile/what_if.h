// what_if.h: replays the timeline with a cause removed or sped up, alone and in pairs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/work_graph.h"

namespace amdahl::profile {

// Factors on durations: 0 removes, 1 keeps.
struct WhatIf {
  struct Kernel {
    std::string part;  // Substring of the name; case-insensitive.
    double factor = 1;
  };
  std::array<double, kWhys> factors;  // By reason.
  std::vector<Kernel> kernels;

  WhatIf() { factors.fill(1); }
};

// "input=0,logging=0.5,kernel:gemm=0.8"; kBadInput names the unknown part.
Result<WhatIf> parse_what_if(std::string_view text);
std::string describe(const WhatIf& what_if);

// Wall time of the replay. Without a change it equals the measured one exactly. Removing "sync"
// lets the host continue without waiting; removing "straggler" lets a collective start when the
// rank itself arrives.
Nanos replay(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if);

// When each of the graph's works would end.
std::vector<Nanos> replayed_ends(const Prepared& prepared, const WorkGraph& graph,
                                 const WhatIf& what_if);

// How long a reason was active in the measured timeline: the union over all lanes of one rank,
// within its steps if it marks steps, maximised over ranks; or its time on the critical path if
// that is more. Removing it cannot save more.
struct Measured {
  std::array<Nanos, kWhys> times{};
  Nanos wall{};  // Of the steps, or of everything.
};
Measured measured_times(const Prepared& prepared, const WorkGraph& graph);

// Upper bound on the speed-up of any change that leaves the devices as `what_if` does: the wall
// time divided by the longest chain of device work, on one stream and across recorded stream
// waits. Device busy time is not a bound, since more could run concurrently. Communication counts
// from the arrival of all ranks, or not at all if that is unknown. For the steps or for
// everything, whichever is larger. No bound if stragglers are removed: then their work changes.
double device_ceiling(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if);

struct Gain {
  Why first = Why::kUnknown;
  Why second = Why::kUnknown;  // Second of a pair; kUnknown: alone.
  Nanos time{};                // From measured_times, or the sum of both.
  double share = 0;            // Of the wall time.
  // Amdahl's law on the measured timeline, 1 / (1 - share), at most device_ceiling(); or the
  // replay's gain if that is larger because of time outside the steps.
  double ceiling = 1;
  // Wall time divided by the replay's; at most the ceiling. Below 1 if a what-if slows something
  // down.
  double expected = 1;
  Nanos replayed{};  // The replay's wall time.
};

// The gain of removing each reason, best first, then pairs of the best `best`. Omits kernels,
// which cannot be removed, and anything below 0.1 %.
struct Gains {
  std::vector<Gain> alone;
  std::vector<Gain> pairs;
};
Gains gains(const Prepared& prepared, const WorkGraph& graph, std::size_t best = 4);

// Name patterns of a what-if that match no device event.
std::vector<std::string> unknown_kernels(const model::Trace& trace, const WhatIf& what_if);

// Ceiling and replay of one what-if.
Gain gain_of(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if);

}  // namespace amdahl::profile
