#include "scan/beside.h"

#include <algorithm>
#include <functional>
#include <set>

namespace amdahl::scan {
namespace {

constexpr double kUnusedShare = 0.98;  // Of samples that are idle, as in the anatomy.
constexpr double kLeastOutside = 60;   // Seconds: less is a job that ended a little late.
constexpr double kJoulesPerKwh = 3.6e6;

double lane_kwh(const Lane& lane) {
  return lane.watts * to_seconds(lane.powered) * lane.weight / kJoulesPerKwh;
}

bool is_never_used(const Lane& lane) {
  return lane.samples > 0 && lane.idle >= kUnusedShare * lane.samples;
}

// One kind of held time, over the lanes of all jobs.
class HeldSums {
 public:
  void add(const FleetUsage& usage, std::uint32_t job, double seconds) {
    if (seconds <= 0) return;
    held_.seconds += seconds;
    ++held_.jobs;
    users_.insert(usage.jobs.traits()[usage.jobs.traits_of(job)].user);
    if (seconds <= held_.worst) return;
    held_.worst = seconds;
    worst_ = job;
  }

  HeldIdle take(const FleetUsage& usage) && {
    users_.erase(0);
    held_.users = users_.size();
    if (held_.jobs > 0) held_.worst_job = usage.text(usage.jobs.id(worst_));
    return std::move(held_);
  }

 private:
  HeldIdle held_;
  std::set<WordId> users_;
  std::uint32_t worst_ = 0;
};

std::vector<OutsideUse> outside_of(const FleetUsage& usage) {
  std::vector<OutsideUse> hosts;
  if (!usage.has_accounting || usage.attributed == 0) return hosts;
  for (const HostCapacity& host : usage.capacities) {
    if (host.host == 0 || host.free_use < kLeastOutside) continue;
    hosts.push_back({std::string(usage.text(host.host)), host.free_use});
  }
  std::ranges::stable_sort(hosts, std::greater<>{}, &OutsideUse::seconds);
  return hosts;
}

}  // namespace

double kwh_of(const FleetUsage& usage, std::uint32_t job) {
  double sum = 0;
  if (usage.jobs.lanes(job) == 0) return sum;
  for (const Lane& lane : usage.lanes_of(usage.jobs[job])) sum += lane_kwh(lane);
  return sum;
}

Beside beside_of(const FleetUsage& usage, const Stop& stop) {
  Beside beside;
  HeldSums empty;
  HeldSums loaded;
  for (std::uint32_t i = 0; i < usage.jobs.size() && !stop(i); ++i) {
    if (usage.jobs.lanes(i) == 0) continue;
    double without = 0;
    double with = 0;
    for (const Lane& lane : usage.lanes_of(usage.jobs[i])) {
      without += to_seconds(lane.idle_empty) * lane.weight;
      with += to_seconds(lane.idle_loaded) * lane.weight;
      const double powered = to_seconds(lane.powered) * lane.weight;
      beside.energy.powered += powered;
      beside.energy.kwh += lane_kwh(lane);
      if (!is_never_used(lane)) continue;
      beside.energy.unused_seconds += powered;
      beside.energy.unused_kwh += lane_kwh(lane);
    }
    empty.add(usage, i, without);
    loaded.add(usage, i, with);
  }
  beside.empty = std::move(empty).take(usage);
  beside.loaded = std::move(loaded).take(usage);
  beside.knows_memory = usage.knows_memory;
  beside.outside = outside_of(usage);
  return beside;
}

}  // namespace amdahl::scan
