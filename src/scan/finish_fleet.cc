// What there was for jobs to have: capacity, what of it was down or unallocated, and shards of it.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "fleet/hostlist.h"
#include "scan/finish.h"

namespace amdahl::scan {

using model::Trouble;

// How many parts of an accelerator the job's hosts have; 0 if that is not known.
double Finisher::parts_of(const FleetJob& job, std::optional<double> usual) {
  const auto hosts = fleet::expand_hosts(accumulator_.words_[job.hosts]);
  double inverse = 0;
  std::size_t known = 0;
  for (const std::string& host : hosts ? *hosts : std::vector<std::string>{}) {
    const auto at = accumulator_.parts_.find(accumulator_.words_.find(fleet::host_key(host)));
    if (at == accumulator_.parts_.end()) continue;
    inverse += 1 / at->second;
    ++known;
  }
  return known > 0 ? static_cast<double>(known) / inverse : usual.value_or(0);
}

// Shards are parts of accelerators. Where a job's own hosts do not say how many make one, all that
// do must agree.
void Finisher::count_shards() {
  std::optional<double> usual;
  bool agree = true;
  for (const auto& [host, parts] : accumulator_.parts_) {
    agree = agree && (!usual || *usual == parts);
    usual = parts;
  }
  if (!agree) usual.reset();
  for (const auto& [index, shards] : accumulator_.jobs_.shards()) {
    FleetJob job = accumulator_.jobs_[index];
    const double parts = parts_of(job, usual);
    if (parts > 0) {
      job.accelerators = static_cast<float>(shards / parts);
      accumulator_.jobs_.rows().set(index, job);
      continue;
    }
    accumulator_.trouble(
        Trouble::kUnknownPlace, {},
        fmt::format("job {} had gres/shard={}; how many shards make an accelerator is unknown, "
                    "so its time is not counted (add sinfo -N -o '%N|%R|%G')",
                    accumulator_.words_[job.id], shards));
  }
}

// As told; where nobody told, as many as had telemetry or a job. A host is there once, whoever told
// of it.
void Finisher::tell_capacity() {
  std::map<std::pair<WordId, WordId>, HostCapacity> rows;
  std::map<WordId, HostCapacity*> by_host;
  for (const UsageAccumulator::Capacity& told : accumulator_.capacities_) {
    HostCapacity& row = rows[{told.host, told.host == 0 ? told.partition : 0}];
    row.host = told.host;
    row.told = true;
    if (row.partition == 0) row.partition = told.partition;
    if (row.kind == 0) row.kind = told.kind;
    row.accelerators = std::max(row.accelerators, told.accelerators);
    if (told.host != 0) by_host.emplace(told.host, &row);
  }
  std::set<SpotId> known = devices_;
  if (!known.empty()) {  // Else nobody observed, and what jobs held is not all there was.
    for (SpotId spot = 0; spot < accumulator_.holders_.size(); ++spot) {
      const Spot& at = accumulator_.holders_[spot];
      const bool is_held = !at.holders.empty() && at.host != 0 && !at.is_named;
      if (is_held && accumulator_.holders_.is_here(spot)) known.insert(at.device);
    }
  }
  for (const SpotId device : known) {
    const WordId on = accumulator_.holders_[device].host;
    const auto [host, is_new] = by_host.emplace(on, nullptr);
    if (is_new) {
      host->second = &rows[{on, 0}];
      host->second->host = on;
    }
    if (!host->second->told) ++host->second->accelerators;
  }
  tell_unallocated(by_host);
  for (const auto& [key, row] : rows) usage_.capacities.push_back(row);
}

// By the series that saw most; of slices the sum of theirs.
void Finisher::tell_unallocated(const std::map<WordId, HostCapacity*>& by_host) {
  struct Free {
    double all = 0;
    double idle = 0;
    double use = 0;
  };
  std::map<SpotId, Free> by_spot;
  for (std::size_t i = 0; i < accumulator_.tracks_.size(); ++i) {
    const Cursor& cursor = accumulator_.cursors_[i];
    const Track& track = accumulator_.tracks_[i];
    if (!track.is_used || track.is_beside || track.label != JobName::kNone) continue;
    const double each = to_seconds(Nanos{cursor.cadence.usual});
    Free& most = by_spot[track.spot];
    if (static_cast<double>(cursor.unallocated) * each <= most.all) continue;
    most = {static_cast<double>(cursor.unallocated) * each,
            static_cast<double>(track.free_idle) * each, track.free_use * each};
    if (std::ranges::find(usage_.free_metrics, track.metric) == usage_.free_metrics.end()) {
      usage_.free_metrics.push_back(track.metric);
    }
  }
  struct Device {
    Free whole;
    Free slices;
  };
  std::map<SpotId, Device> by_device;
  for (const auto& [spot, free] : by_spot) {
    const Spot& at = accumulator_.holders_[spot];
    Free& sum = at.slice == 0 ? by_device[at.device].whole : by_device[at.device].slices;
    sum.all += free.all * share_of(spot);
    sum.idle += free.idle * share_of(spot);
    sum.use += free.use * share_of(spot);
  }
  for (const auto& [spot, free] : by_spot) {
    const Spot& at = accumulator_.holders_[spot];
    if (free.all <= 0) continue;
    usage_.free.push_back(
        {accumulator_.holders_.spelling(at.host), at.accelerator, free.all, free.idle, free.use});
  }
  for (const auto& [device, free] : by_device) {
    const auto host = by_host.find(accumulator_.holders_[device].host);
    if (host == by_host.end()) continue;  // Of slices of nobody knows what.
    const Free& most = free.whole.all >= free.slices.all ? free.whole : free.slices;
    host->second->unallocated += most.all;
    host->second->free_idle += most.idle;
    host->second->free_use += most.use;
  }
}

void Finisher::tell_down() {
  DownTime& down = accumulator_.down_;
  if (down.empty()) return;
  std::map<WordId, std::vector<WordId>> lists;  // Of each list of hosts those that were down.
  std::map<WordId, std::size_t> lengths;
  const JobRows& jobs = accumulator_.jobs_.rows();
  for (JobIndex index = 0; index < jobs.size() && !stop_(index); ++index) {
    const WordId list = jobs.hosts(index);
    const auto [at, is_new] = lists.emplace(list, std::vector<WordId>{});
    if (is_new) {
      const auto hosts = fleet::expand_hosts(accumulator_.words_[list]);
      lengths[list] = hosts ? hosts->size() : 0;
      for (const std::string& host : hosts ? *hosts : std::vector<std::string>{}) {
        const WordId word = accumulator_.words_.find(fleet::host_key(host));
        if (word != 0 && down.has(word)) at->second.push_back(word);
      }
    }
    for (const WordId host : at->second) {
      down.hold(host, jobs.start(index), jobs.end(index),
                static_cast<double>(jobs.accelerators(index)) / static_cast<double>(lengths[list]));
    }
  }
  std::map<WordId, const HostCapacity*> hosts;
  for (const HostCapacity& row : usage_.capacities) {
    if (row.host != 0) hosts.emplace(row.host, &row);
  }
  const std::vector<WordId> wholes = down.down_as_a_whole();
  const std::set<WordId> whole(wholes.begin(), wholes.end());
  const auto capacity = [&](WordId host) {
    const auto at = hosts.find(host);
    const bool is_known = at != hosts.end() && (at->second->told || whole.contains(host));
    return is_known ? at->second->accelerators : 0.0;
  };
  // Where somebody told what there is, a host that was not told of has none.
  const bool is_told = std::ranges::any_of(hosts, [](const auto& row) { return row.second->told; });
  for (const WordId host : wholes) {
    if (is_told || hosts.contains(host)) continue;
    accumulator_.trouble(Trouble::kMissing, {},
                         fmt::format("{} was down, but how many accelerators it has is unknown "
                                     "(add sinfo -N -o '%N|%R|%G')",
                                     accumulator_.words_[host]));
  }
  for (const auto& [host, seconds] : down.seconds(window(), capacity)) {
    const auto at = hosts.find(host);
    usage_.down.push_back({host, at == hosts.end() ? 0 : at->second->partition, seconds});
  }
}

void Finisher::spell_hosts() {
  for (HostCapacity& row : usage_.capacities) row.host = accumulator_.holders_.spelling(row.host);
  for (HostDown& row : usage_.down) row.host = accumulator_.holders_.spelling(row.host);
}

void Finisher::tell_occupied() {
  std::map<WordId, Occupied> rows;
  std::set<std::pair<WordId, Nanos>> seen;  // The same moment may be told by two inputs.
  for (const UsageAccumulator::Occupied& told : accumulator_.occupied_) {
    if (!seen.emplace(told.partition, told.occupancy.at).second) {
      accumulator_.count(Trouble::kDuplicate);
      continue;
    }
    const Nanos start = std::max(told.occupancy.at, window().start);
    const Nanos end = std::min(told.occupancy.at + told.occupancy.held, window().end);
    if (start >= end) continue;
    const double seconds = to_seconds(end - start);
    Occupied& row = rows[told.partition];
    row.partition = told.partition;
    row.total += told.occupancy.total * seconds;
    row.allocated += told.occupancy.allocated * seconds;
    row.down += told.occupancy.down * seconds;
  }
  for (const auto& [partition, row] : rows) usage_.occupied.push_back(row);
}

}  // namespace amdahl::scan
