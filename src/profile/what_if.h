// what_if.h: the timeline replayed with a cause removed or sped up, alone and in pairs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/work_graph.h"

namespace amdahl::profile {

// How long things take after a change, as a part of what they took: 0 removes, 1 keeps.
struct WhatIf {
  struct Kernel {
    std::string part;  // Of the name; case does not matter.
    double factor = 1;
  };
  std::array<double, kWhys> factors;  // By reason.
  std::vector<Kernel> kernels;

  WhatIf() { factors.fill(1); }
};

// "input=0,logging=0.5,kernel:gemm=0.8"; kBadInput names what is not known.
Result<WhatIf> parse_what_if(std::string_view text);
std::string describe(const WhatIf& what_if);

// The wall time of the replay. Without a change it is the measured one, to the nanosecond.
// Removing "sync" lets the host go on without waiting; removing "straggler" lets a collective
// begin when a rank itself has come.
Nanos replay(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if);

// When each of the graph's works would end.
std::vector<Nanos> replayed_ends(const Prepared& prepared, const WorkGraph& graph,
                                 const WhatIf& what_if);

// How long a reason took part in the measured timeline at all: the union of the times at which
// any lane of one rank was at it, within the rank's steps where it marks steps, for the rank where
// that is most; or, where that is more, its time on the critical path, which goes from rank to
// rank. Removing it cannot save more.
struct Measured {
  std::array<Nanos, kWhys> times{};
  Nanos wall{};  // Of the steps, or of all.
};
Measured measured_times(const Prepared& prepared, const WorkGraph& graph);

// Above this no change can speed anything up that leaves devices what `what_if` does: the wall time
// divided by the longest chain of what devices do then one after the other, which is what was put
// on one stream, and across streams where waits were recorded. A device's busy time would be no
// limit, since more may run side by side. Communication counts from when all ranks were there, or
// not at all where that is not known. Of the steps or of all, whichever is more. No bound where
// stragglers are mended: what they do changes then, and the wait of the others tells by how much.
double device_ceiling(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if);

struct Gain {
  Why first = Why::kUnknown;
  Why second = Why::kUnknown;  // Of a pair; kUnknown: alone.
  Nanos time{};                // measured_times of it, or the sum of both.
  double share = 0;            // Of the wall time.
  // Amdahl's law on the measured timeline, 1 / (1 - share), and not more than device_ceiling; where
  // what lies outside of steps makes the replay gain more than that, the replay's.
  double ceiling = 1;
  // Wall time divided by the replay's; never above the ceiling. Below 1 where a what-if makes
  // something slower.
  double expected = 1;
  Nanos replayed{};  // The replay's wall time.
};

// What removing each reason would gain, best first, and then the pairs of the best `best`. Leaves
// out kernels, which nobody removes, and what takes less than a thousandth.
struct Gains {
  std::vector<Gain> alone;
  std::vector<Gain> pairs;
};
Gains gains(const Prepared& prepared, const WorkGraph& graph, std::size_t best = 4);

// Parts of names in a what-if that no event of a device has.
std::vector<std::string> unknown_kernels(const model::Trace& trace, const WhatIf& what_if);

// The ceiling and the replay of one what-if.
Gain gain_of(const Prepared& prepared, const WorkGraph& graph, const WhatIf& what_if);

}  // namespace amdahl::profile
