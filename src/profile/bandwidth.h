// bandwidth.h: how fast collectives moved their messages, and how fast the links could.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/ranks.h"

namespace amdahl::profile {

// Collectives of one kind and size.
struct CollectiveSpeed {
  std::string name;          // "allreduce", as the framework calls it.
  std::string element_type;  // "Float".
  std::uint64_t bytes = 0;   // Of the message, as nccl-tests count it: the larger side.
  std::uint32_t ranks = 0;   // Of its process group.
  std::uint64_t times = 0;   // Kernels, of all ranks that were given.
  Nanos time{};              // Theirs, summed.
  Nanos transfer{};          // The median kernel, from the arrival of the last rank on.
  double algorithm = 0;      // Bytes a second: the message by the transfer.
  double bus = 0;            // The same, corrected for what crosses each link.
  double peak = 0;           // Of the device's links, one way; 0: not known.
  double overlapped = 0;     // Of its time, while kernels computed.
};

// Only those whose size and group the trace has; most time first. `ranks` says which of them belong
// together, so that waiting for late ranks does not count as slow links.
std::vector<CollectiveSpeed> collective_speeds(const Prepared& prepared, const Ranks& ranks);

// Bytes of an element, by PyTorch's name of its type; 0: not known.
std::uint64_t element_bytes(std::string_view type);

// Bytes a second, one way, of the links between devices of this model within a node; 0: not known,
// or it has none.
double link_peak(std::string_view device);

// What each link carries of the bytes of a collective, as nccl-tests correct for it; 0: not known.
double bus_factor(std::string_view collective, std::uint32_t ranks);

}  // namespace amdahl::profile
