#include "scan/capacity.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace amdahl::scan {
namespace {

CapacityUse of_jobs(const Split& jobs) {
  return {.partition = {},
          .basis = {},
          .total = {},
          .down = {},
          .unallocated = {},
          .allocated = jobs.allocated,
          .idle = jobs.idle,
          .low = jobs.low,
          .unobserved = jobs.unobserved,
          .productive = jobs.productive,
          .elsewhere = 0,
          .is_accounted = true,
          .free = 0,
          .free_idle = 0,
          .free_use = 0};
}

// What the scheduler counted as allocated wins; jobs that we do not see are not observed.
// Of two that tell what was down the larger counts: they mean the same nodes.
void set_occupied(CapacityUse& use, const Occupied& occupied, double node_down) {
  use.basis = "occupancy over time";
  use.is_accounted = true;
  use.total = occupied.total;
  use.down = std::min(std::max(occupied.down, node_down), occupied.total);
  if (occupied.allocated > use.allocated) {
    use.unobserved += occupied.allocated - use.allocated;
    use.allocated = occupied.allocated;
  }
  use.unallocated = std::max(0.0, occupied.total - *use.down - use.allocated);
}

// Some sources report only down time; their accelerators are counted elsewhere.
bool tells_total(const Occupied& occupied) { return occupied.total > 0; }

struct Count {
  double told = 0;  // Accelerators that a source reports.
  double seen = 0;  // Accelerators with telemetry or a job, on hosts that no source reports.
};

// `down`: accelerator-seconds of these that were told by themselves.
void set_counted(CapacityUse& use, const Count& count, const Window& window, double down = 0) {
  const double all = count.told + count.seen;
  if (all <= 0) return;
  use.basis = count.seen <= 0   ? "counts of accelerators"
              : count.told <= 0 ? "accelerators that had telemetry or a job"
                                : "counts of accelerators, and those that had telemetry or a job";
  use.total = all * to_seconds(window.end - window.start);
  if (down > 0) use.down = std::min(down, *use.total);
  // What no job is known to have held is unallocated only where jobs were told of.
  if (!use.is_accounted) return;
  // More allocated than there is: some of the fleet was not counted, so nothing can be said.
  const double here = use.allocated - use.elsewhere;
  if (*use.total >= here * (1 - 1e-9)) {
    use.unallocated = std::max(0.0, *use.total - here - use.down.value_or(0));
  }
}

}  // namespace

CapacityUse fleet_capacity(const FleetUsage& usage, const Split& jobs, double elsewhere) {
  CapacityUse use = of_jobs(jobs);
  use.is_accounted = usage.has_accounting;
  for (const HostCapacity& host : usage.capacities) {
    use.free += host.unallocated;
    use.free_idle += host.free_idle;
    use.free_use += host.free_use;
  }
  Occupied all;
  double down = 0;
  for (const HostDown& host : usage.down) down += host.seconds;
  for (const Occupied& partition : usage.occupied) {
    if (!tells_total(partition)) {
      down += partition.down;
      continue;
    }
    all.total += partition.total;
    all.allocated += partition.allocated;
    all.down += partition.down;
  }
  if (tells_total(all)) {
    set_occupied(use, all, down);
    return use;
  }
  // Hosts are what there is; partitions share them, so they count only where no host is known.
  Count hosts;
  Count partitions;
  for (const HostCapacity& told : usage.capacities) {
    Count& count = told.host != 0 ? hosts : partitions;
    (told.told ? count.told : count.seen) += told.accelerators;
  }
  const bool by_hosts = hosts.told + hosts.seen > 0;
  if (by_hosts) use.elsewhere = std::min(elsewhere, use.allocated);
  set_counted(use, by_hosts ? hosts : partitions, usage.window, down);
  return use;
}

std::vector<CapacityUse> partition_capacities(const FleetUsage& usage,
                                              const std::vector<PartitionSplit>& jobs) {
  std::map<WordId, CapacityUse> uses;
  for (const PartitionSplit& partition : jobs) {
    uses.emplace(partition.partition, of_jobs(partition.split));
  }
  std::map<WordId, double> down;
  for (const HostDown& host : usage.down) down[host.partition] += host.seconds;
  for (const Occupied& occupied : usage.occupied) {
    if (!tells_total(occupied)) continue;
    set_occupied(uses[occupied.partition], occupied, down[occupied.partition]);
  }
  if (std::ranges::none_of(usage.occupied, tells_total)) {
    std::map<WordId, std::pair<Count, Count>> counts;  // Of a partition as a whole; of its hosts.
    for (const HostCapacity& told : usage.capacities) {
      if (told.partition == 0) continue;
      auto& [whole, hosts] = counts[told.partition];
      Count& count = told.host == 0 ? whole : hosts;
      (told.told ? count.told : count.seen) += told.accelerators;
    }
    for (const auto& [partition, count] : counts) {
      const auto& [whole, hosts] = count;
      uses[partition].is_accounted = usage.has_accounting;
      set_counted(uses[partition], whole.told + whole.seen > 0 ? whole : hosts, usage.window,
                  down[partition]);
    }
  }
  std::vector<CapacityUse> known;
  for (auto& [partition, use] : uses) {
    if (!use.total) continue;
    use.partition = usage.text(partition);
    known.push_back(std::move(use));
  }
  std::ranges::sort(known, [](const CapacityUse& a, const CapacityUse& b) {
    const double idle_a = a.unallocated.value_or(-1);
    const double idle_b = b.unallocated.value_or(-1);
    return std::tie(idle_b, a.partition) < std::tie(idle_a, b.partition);
  });
  return known;
}

}  // namespace amdahl::scan
