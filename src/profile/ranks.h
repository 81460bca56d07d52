// ranks.h: compares the ranks of one job: which are late, which wait, and in which collective.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/work_graph.h"

namespace amdahl::profile {

struct RankFacts {
  std::uint32_t source = model::kNone;
  std::int32_t rank = -1;  // -1: unknown.
  Nanos communication{};   // Union over streams and devices.
  Nanos exposed{};         // Of that, without computation.
  Nanos waited{};          // In collectives, before the last rank arrived.
  Nanos unseen{};          // The same, before the start of that rank's file; not in `waited`.
  Nanos made_wait{};       // As the last one to arrive: since the second last arrival.
  std::uint64_t last = 0;  // Number of times it arrived last.
  Nanos shift{};           // Its clock minus the first rank's.
};

// All collectives of one kind.
struct CollectiveFacts {
  std::string name;  // The kernel or collective.
  std::uint64_t times = 0;
  std::uint32_t ranks = 0;  // Ranks seen in it.
  Nanos skew_median{};      // From first to last arrival.
  Nanos skew_longest{};
  Nanos waited{};    // Summed over ranks.
  Nanos transfer{};  // From last arrival to first end, summed.
};

struct LibraryTime {
  std::string library;  // "NCCL", "DeepEP".
  std::uint64_t kernels = 0;
  Nanos time{};  // Summed over kernels.
};

struct Ranks {
  std::vector<RankFacts> ranks;              // Sources with devices, in order.
  std::vector<CollectiveFacts> collectives;  // Most waiting first.
  std::vector<LibraryTime> libraries;        // Most time first.
  std::vector<Collective> joined;            // For work_graph(); empty if clocks cannot be aligned.
  std::vector<Nanos> shifts;                 // By source, for work_graph.
  std::uint64_t unmatched = 0;      // Communication kernels without a match in another rank.
  std::uint64_t graph_kernels = 0;  // Launched as nodes of a graph.
  Nanos graph_time{};               // Their total time.
  // Index into `ranks`: the one that makes the others wait.
  std::uint32_t straggler = model::kNone;
  bool clocks_disagree = false;  // Collectives do not overlap: ranks are not compared.
  std::string note;              // Why collectives could not be matched; empty if they were.
};

Ranks ranks(const Prepared& prepared);

}  // namespace amdahl::profile
