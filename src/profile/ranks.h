// ranks.h: several ranks of one job together: who comes late, who waits, and in which collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/work_graph.h"

namespace amdahl::profile {

struct RankFacts {
  std::uint32_t source = model::kNone;
  std::int32_t rank = -1;  // -1: the source does not say.
  Nanos communication{};   // Devices were at it, the union over streams and devices.
  Nanos exposed{};         // Of that, while nothing computed.
  Nanos waited{};          // Inside collectives, before the last rank had come.
  Nanos unseen{};          // The same, before that rank's file begins: not in `waited`.
  Nanos made_wait{};       // As the last one: from the second last arrival to its own.
  std::uint64_t last = 0;  // Times it came last.
  Nanos shift{};           // Its clock is ahead of the first rank's by this.
};

// All collectives of one kind.
struct CollectiveFacts {
  std::string name;  // The kernel or collective.
  std::uint64_t times = 0;
  std::uint32_t ranks = 0;  // That were seen in it.
  Nanos skew_median{};      // From the first to the last arrival.
  Nanos skew_longest{};
  Nanos waited{};    // Summed over ranks.
  Nanos transfer{};  // From the last arrival to the first end, summed over times.
};

struct LibraryTime {
  std::string library;  // "NCCL", "DeepEP".
  std::uint64_t kernels = 0;
  Nanos time{};  // Summed over kernels.
};

struct Ranks {
  std::vector<RankFacts> ranks;              // Sources with devices, in their order.
  std::vector<CollectiveFacts> collectives;  // Most waiting first.
  std::vector<LibraryTime> libraries;        // Most time first.
  std::vector<Collective> joined;            // For work_graph; empty if clocks cannot be aligned.
  std::vector<Nanos> shifts;                 // By source, for work_graph.
  std::uint64_t unmatched = 0;               // Communication kernels that no other rank has.
  std::uint64_t graph_kernels = 0;           // Launched as nodes of a graph.
  Nanos graph_time{};                        // Theirs, summed.
  std::uint32_t straggler = model::kNone;    // Of `ranks`: the one that makes the others wait.
  bool clocks_disagree = false;              // Collectives do not overlap: ranks are not compared.
  std::string note;  // Why collectives could not be joined; empty if they were.
};

Ranks ranks(const Prepared& prepared);

}  // namespace amdahl::profile
