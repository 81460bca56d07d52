#include "scan/tally.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "fleet/hostlist.h"

namespace amdahl::scan {
Split scaled(const Split& split, double by) {
  return {.allocated = split.allocated * by,
          .unobserved = split.unobserved * by,
          .idle = split.idle * by,
          .low = split.low * by,
          .productive = split.productive * by};
}

Split rest_of(const Split& whole, const Split& lanes) {
  return {.allocated = std::max(0.0, whole.allocated - lanes.allocated),
          .unobserved = std::max(0.0, whole.unobserved - lanes.unobserved),
          .idle = std::max(0.0, whole.idle - lanes.idle),
          .low = std::max(0.0, whole.low - lanes.low),
          .productive = std::max(0.0, whole.productive - lanes.productive)};
}

void Sum::add(const JobFigures& job) {
  const double waste = wasted(job.split);
  ++jobs;
  unobserved_jobs += job.unobserved ? 1 : 0;
  unobserved += job.unobserved ? job.split.allocated : 0;
  split += job.split;
  queue += job.queue;
  recoverable += job.recoverable;
  kwh += job.kwh;
  if (job.lost) {
    ++lost_jobs;
    lost += job.split.allocated;
  }
  if (waste > worst_wasted) {
    worst_wasted = waste;
    worst = job.job;
  }
  if (std::isnan(job.price)) {
    unpriced += job.split.allocated;
    return;
  }
  money.allocated += in_hours(job.split.allocated) * job.price;
  money.wasted += in_hours(waste) * job.price;
  money.recoverable += in_hours(job.recoverable) * job.price;
  if (job.lost) money.lost += in_hours(job.split.allocated) * job.price;
}

void Sum::add(const Sum& sum) {
  jobs += sum.jobs;
  unobserved_jobs += sum.unobserved_jobs;
  unobserved += sum.unobserved;
  lost_jobs += sum.lost_jobs;
  split += sum.split;
  queue += sum.queue;
  lost += sum.lost;
  recoverable += sum.recoverable;
  kwh += sum.kwh;
  money.allocated += sum.money.allocated;
  money.wasted += sum.money.wasted;
  money.lost += sum.money.lost;
  money.recoverable += sum.money.recoverable;
  unpriced += sum.unpriced;
  const bool is_first = sum.worst_wasted == worst_wasted && sum.worst < worst;
  if (sum.worst_wasted > worst_wasted || is_first) {
    worst_wasted = sum.worst_wasted;
    worst = sum.worst;
  }
}

Money money_in(const Sum& sum) {
  Money money{
      .allocated = sum.money.allocated, .wasted = {}, .lost = sum.money.lost, .recoverable = {}};
  if (observed_in(sum.split) <= 0) return money;
  money.wasted = sum.money.wasted;
  money.recoverable = sum.money.recoverable;
  return money;
}

std::size_t Slots::at(std::uint32_t key) const {
  const std::size_t mask = table_.size() - 1;
  std::uint64_t hash = key * 0x9e3779b97f4a7c15U;
  hash ^= hash >> 32;
  std::size_t place = hash & mask;
  while (table_[place] != 0 && keys_[table_[place] - 1] != key) place = (place + 1) & mask;
  return place;
}

void Slots::grow() {
  table_.assign(table_.empty() ? 64 : 2 * table_.size(), 0);
  for (std::uint32_t i = 0; i < keys_.size(); ++i) table_[at(keys_[i])] = i + 1;
}

std::uint32_t Slots::of(std::uint32_t key) {
  if (2 * (keys_.size() + 1) > table_.size()) grow();
  const std::size_t place = at(key);
  if (table_[place] == 0) {
    keys_.push_back(key);
    table_[place] = static_cast<std::uint32_t>(keys_.size());
  }
  return table_[place] - 1;
}

WordId NodeTally::node_of(WordId host) {
  const std::uint32_t slot = host_slots_.of(host);
  if (slot == host_nodes_.size()) host_nodes_.push_back(names_.intern(usage_.text(host)));
  return host_nodes_[slot];
}

const std::vector<WordId>& NodeTally::nodes_of(WordId hosts) {
  const std::uint32_t slot = list_slots_.of(hosts);
  if (slot < lists_.size()) return lists_[slot];
  std::vector<WordId> nodes;
  if (const auto names = fleet::expand_hosts(usage_.text(hosts))) {
    for (const std::string& name : *names) nodes.push_back(names_.intern(fleet::short_host(name)));
  }
  if (nodes.empty()) nodes.push_back(0);
  lists_.push_back(std::move(nodes));
  return lists_.back();
}

NodeTally::Share& NodeTally::share_of(WordId node) {
  // The lanes of a node are neighbours, so the last is mostly the one.
  for (auto share = shares_.rbegin(); share != shares_.rend(); ++share) {
    if (share->node == node) return *share;
  }
  shares_.push_back({.node = node, .split = {}});
  return shares_.back();
}

double NodeTally::held_elsewhere() const {
  std::set<std::string_view> counted;
  for (const HostCapacity& told : usage_.capacities) counted.insert(usage_.text(told.host));
  double held = 0;
  for (std::size_t i = 0; i < sums().size(); ++i) {
    const std::string_view node = name_of(i);
    if (!node.empty() && !counted.contains(node)) held += sums()[i].split.allocated;
  }
  return held;
}

void NodeTally::add(const JobFigures& job) {
  if (usage_.jobs.lanes(job.job) == 0 && job.split.allocated > 0) {
    const std::vector<WordId>& nodes = nodes_of(usage_.jobs.hosts(job.job));
    if (nodes.size() == 1) return tally_.of(nodes.front()).add(job);
  }
  shares_.clear();
  const FleetJob told = usage_.jobs[job.job];
  Split in_lanes;
  for (const Lane& lane : usage_.lanes_of(told)) {
    const Split split = split_of(lane);
    share_of(node_of(lane.host)).split += split;
    in_lanes += split;
  }
  // Where the lanes are all there is to say, rounding must not put the job on other nodes.
  const Split rest = told.lanes == 0 ? job.split : rest_of(job.split, in_lanes);
  if (rest.allocated > 1e-9 * job.split.allocated || shares_.empty()) {
    const std::vector<WordId>& nodes = nodes_of(told.hosts);
    const double part = 1.0 / static_cast<double>(nodes.size());
    for (const WordId node : nodes) share_of(node).split += scaled(rest, part);
  }
  const double waste = wasted(job.split);
  for (const Share& share : shares_) {
    JobFigures here = job;
    const double part = job.split.allocated > 0 ? share.split.allocated / job.split.allocated : 0;
    here.split = share.split;
    here.queue = job.queue * part;
    here.kwh = job.kwh * part;
    here.recoverable = waste > 0 ? job.recoverable * wasted(share.split) / waste : 0;
    tally_.of(share.node).add(here);
  }
}

std::optional<double> median_utilisation(const JobRows& jobs, const Stop& stop) {
  constexpr std::size_t kBuckets = 4096;
  std::vector<double> weights(kBuckets, 0.0);
  const auto used = [](const Split& split) { return split.productive / observed_in(split); };
  const auto bucket_of = [](double share) {
    return std::min(kBuckets - 1, static_cast<std::size_t>(std::max(0.0, share) * kBuckets));
  };
  for (std::size_t i = 0; i < jobs.size() && !stop(i); ++i) {
    const Split split = jobs.split(i);
    if (observed_in(split) > 0) weights[bucket_of(used(split))] += observed_in(split);
  }
  double all = 0;
  for (const double weight : weights) all += weight;
  if (!(all > 0)) return std::nullopt;
  std::size_t bucket = 0;
  double before = 0;
  while (bucket + 1 < kBuckets && before + weights[bucket] < all / 2) before += weights[bucket++];
  std::vector<std::pair<double, double>> inside;
  for (std::size_t i = 0; i < jobs.size() && !stop(i); ++i) {
    const Split split = jobs.split(i);
    if (observed_in(split) > 0 && bucket_of(used(split)) == bucket) {
      inside.emplace_back(used(split), observed_in(split));
    }
  }
  std::ranges::sort(inside);
  for (const auto& [share, weight] : inside) {
    before += weight;
    if (before >= all / 2) return share;
  }
  return inside.empty() ? std::nullopt : std::optional(inside.back().first);
}

Goodput goodput_of(const CapacityUse& capacity, const Sum& all, const Tally& states) {
  Goodput good;
  const double up = capacity.total.value_or(0) - capacity.down.value_or(0);
  const double allocated = all.split.allocated;
  if (capacity.unallocated && up > 0) {
    good.scheduling = std::min(1.0, (allocated - capacity.elsewhere) / up);
  }
  good.runtime = allocated > 0 ? 1 - all.lost / allocated : 0;
  Split kept;
  for (std::size_t i = 0; i < states.sums.size(); ++i) {
    const auto state = static_cast<model::JobState>(states.slots.keys()[i]);
    if (!model::is_lost(state)) kept += states.sums[i].split;
  }
  if (observed_in(kept) > 0) good.program = kept.productive / observed_in(kept);
  if (good.program) {
    good.total = good.scheduling.value_or(1) * good.runtime * *good.program;
  }
  return good;
}

}  // namespace amdahl::scan
