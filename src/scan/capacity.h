// capacity.h: the four classes of lost capacity: down, unallocated, idle, inefficient.
#pragma once

#include <vector>

#include "scan/fleet_usage.h"
#include "scan/report.h"

namespace amdahl::scan {

// Jobs' time by partition from a Tally; keys are words of the usage.
struct PartitionSplit {
  WordId partition = 0;
  Split split;
};

// `elsewhere`: time that jobs held on hosts that are not in the usage's capacities.
CapacityUse fleet_capacity(const FleetUsage& usage, const Split& jobs, double elsewhere = 0);
// Partitions with known capacity, most unallocated first.
std::vector<CapacityUse> partition_capacities(const FleetUsage& usage,
                                              const std::vector<PartitionSplit>& jobs);

}  // namespace amdahl::scan
