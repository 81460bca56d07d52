#include "scan/holders.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "fleet/hostlist.h"
#include "fleet/mig.h"

namespace amdahl::scan {
namespace {}  // namespace

WordId Holders::host(std::string_view name) {
  const std::string key = fleet::host_key(name);
  const WordId host = words_.intern(key);
  const auto spelled = fleet::short_host(name);
  if (spelled != key) told_as_.emplace(host, words_.intern(spelled));
  if (told_.size() <= host) told_.resize(std::size_t{host} + 1);
  told_[host] = true;
  return host;
}

void Holders::seen_as(std::string_view name) {
  const std::string key = fleet::host_key(name);
  const auto spelled = fleet::short_host(name);
  if (spelled != key) seen_as_.emplace(words_.intern(key), words_.intern(spelled));
}

WordId Holders::spelling(WordId host) const {
  if (const auto told = told_as_.find(host); told != told_as_.end()) return told->second;
  const auto seen = seen_as_.find(host);
  return is_told(host) || seen == seen_as_.end() ? host : seen->second;
}

SpotId Holders::device_at(WordId host, WordId accelerator) {
  const std::uint64_t key = std::uint64_t{host} << 32 | accelerator;
  const auto [at, is_new] = by_name_.emplace(key, size());
  if (is_new) {
    spots_.push_back({.host = host, .accelerator = accelerator, .device = size(), .now = size()});
  }
  return at->second;
}

SpotId Holders::slice_at(SpotId device, WordId slice) {
  if (slice == 0) return device;
  const std::uint64_t key = std::uint64_t{device} << 32 | slice;
  const auto [at, is_new] = by_slice_.emplace(key, size());
  if (is_new) {
    const Spot whole = spots_[device];
    spots_.push_back({.host = whole.host,
                      .accelerator = whole.accelerator,
                      .slice = slice,
                      .device = device,
                      .now = size(),
                      .share = 0});
  }
  return at->second;
}

SpotId Holders::now(SpotId spot) const {
  while (spots_[spot].now != spot) spot = spots_[spot].now;
  return spot;
}

SpotId Holders::spot(const Name& given) {
  Name name = given;
  const bool is_indexed = !given.accelerator.empty() && !fleet::is_device_name(given.accelerator);
  const fleet::DeviceNames::Place* known = nullptr;
  if (!is_indexed) known = names_.find(given.host, given.accelerator);
  if (!is_indexed && !known) known = names_.find(given.host, given.uuid);
  // A slice may have a UUID of its own.
  if (const auto* sliced = names_.find(given.host, given.slice)) known = sliced;
  if (name.accelerator.empty()) name.accelerator = given.uuid;
  if (known) {
    if (name.host.empty()) name.host = known->likely;
    if (!known->host.empty()) name.host = known->host;
    name.accelerator = known->accelerator;
    if (!known->slice.empty()) name.slice = known->slice;
    if (name.profile.empty()) name.profile = known->profile;
  } else if (!is_indexed && name.slice == name.accelerator) {
    name.slice = {};  // A slice of nobody knows which device is one of its own.
  }
  const SpotId device = device_at(words_.intern(name.host), words_.intern(name.accelerator));
  const SpotId at = slice_at(device, words_.intern(name.slice));
  Spot& spot = spots_[at];
  if (spot.slice != 0 && spot.share == 0) spot.share = fleet::mig_share(name.profile, name.kind);
  if (!known && !is_indexed && !spot.is_named) {
    spot.is_named = true;
    named_[words_.intern(name.accelerator)].push_back(at);
  }
  return now(at);
}

bool Holders::learn(const fleet::Device& device) {
  const std::size_t before = names_.version();
  const bool is_good = names_.learn(device);
  if (names_.version() == before) return is_good;
  if (!device.uuid.empty()) fresh_names_.emplace_back(device.uuid);
  is_bus_fresh_ = is_bus_fresh_ || !device.bus.empty();
  return is_good;
}

// Moves spots to the accelerators that their names turned out to mean. Returns whether a moved spot
// had telemetry or jobs.
bool Holders::rename() {
  if (fresh_names_.empty() && !is_bus_fresh_) return false;
  std::vector<SpotId> candidates;
  for (const std::string& name : std::exchange(fresh_names_, {})) {
    const auto at = named_.find(words_.find(name));
    if (at == named_.end()) continue;
    candidates.insert(candidates.end(), at->second.begin(), at->second.end());
    named_.erase(at);
  }
  if (std::exchange(is_bus_fresh_, false)) {
    for (const auto& [name, spots] : std::exchange(named_, {})) {
      candidates.insert(candidates.end(), spots.begin(), spots.end());
    }
  }
  std::sort(candidates.begin(), candidates.end());
  bool is_moved = false;
  for (const SpotId spot : candidates) is_moved = rename(spot) || is_moved;
  return is_moved;
}

bool Holders::rename(SpotId from) {
  spots_[from].is_named = false;
  // Copies: spots_ may grow.
  const Name name{.host = words_[spots_[from].host],
                  .accelerator = words_[spots_[from].accelerator],
                  .slice = words_[spots_[from].slice]};
  const SpotId to = spot(name);  // Which says again that it is named, if it still is.
  if (to == from) return false;
  const bool matters = spots_[from].has_telemetry || !spots_[from].holders.empty();
  move(from, to);
  return matters;
}

void Holders::move(SpotId from, SpotId to) {
  Spot& gone = spots_[from];
  Spot& here = spots_[to];
  gone.now = to;
  if (gone.slice != 0 && here.slice != 0 && here.share == 0) here.share = gone.share;
  here.has_telemetry = here.has_telemetry || gone.has_telemetry;
  here.holders.insert(here.holders.end(), gone.holders.begin(), gone.holders.end());
  gone.holders.clear();
  gone.has_telemetry = false;
  changed_.push_back(to);
}

bool Holders::settle(const std::function<void(JobName)>& unknown, const Stop& stop) {
  const bool is_renamed = rename();
  if (places_.empty() && settled_ == jobs_.size() && !is_renamed) return false;
  placed_.resize(jobs_.size());
  for (std::size_t i = 0; i < places_.size() && !stop(i); ++i) add_place(places_[i], unknown);
  places_.clear();
  places_.shrink_to_fit();
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (std::size_t i = 0; i < changed_.size() && !stop(i); ++i) {
    std::vector<JobIndex>& holders = spots_[changed_[i]].holders;  // Two inputs may name a place.
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  }
  changed_.clear();
  for (; settled_ < jobs_.size() && !stop(settled_); ++settled_) {
    if (!placed_[settled_]) claim_hosts(settled_);
  }
  return true;
}

// An attempt that ran elsewhere did not hold it: the list of its hosts decides where there are
// several attempts.
void Holders::add_place(const Place& place, const std::function<void(JobName)>& unknown) {
  JobIndex job = jobs_.find(place.job);
  if (job == kNoJob) return unknown(place.job);
  const bool is_only = jobs_.before(job) == kNoJob;
  const std::string_view name = words_[place.accelerator];
  const SpotId at = fleet::is_device_name(name)
                        ? spot({.host = words_[place.host], .accelerator = name})
                        : device_at(place.host, place.accelerator);
  for (; job != kNoJob; job = jobs_.before(job)) {
    if (!is_only && !is_on(job, place.host)) continue;
    spots_[at].holders.push_back(job);
    changed_.push_back(at);
    placed_[job] = true;
  }
}

bool Holders::is_on(JobIndex job, WordId host) const {
  if (jobs_[job].hosts == 0) return true;
  const auto hosts = fleet::expand_hosts(words_[jobs_[job].hosts]);
  return !hosts || hosts->empty() || std::ranges::any_of(*hosts, [&](const std::string& name) {
    return fleet::host_key(name) == words_[host];
  });
}

void Holders::claim_hosts(JobIndex job) {
  if (jobs_[job].hosts == 0) return;
  const auto hosts = fleet::expand_hosts(words_[jobs_[job].hosts]);
  if (!hosts || hosts->empty()) return;
  const float each = jobs_[job].accelerators / static_cast<float>(hosts->size());
  for (const std::string& host : *hosts) {
    claims_[this->host(host)].push_back({job, each});
  }
}

const std::vector<Holders::HostClaim>& Holders::claims_on(WordId host) const {
  static const std::vector<HostClaim> kNone;
  const auto at = claims_.find(host);
  return at == claims_.end() ? kNone : at->second;
}

Holders::Hold Holders::hold_of(JobIndex job, bool whole_host, const Window& window) const {
  const FleetJob& row = jobs_[job];
  const Time start = std::max(row.start, window.start).count();
  const Time end = row.open ? window.end.count() : std::min(row.end, window.end).count();
  return {start, end, job, whole_host};
}

Segments Holders::segments_of(SpotId spot, const Window& window) const {
  std::vector<Hold> holds;
  const SpotId device = spots_[spot].device;
  for (const JobIndex job : spots_[spot].holders) holds.push_back(hold_of(job, false, window));
  if (device != spot) {
    for (const JobIndex job : spots_[device].holders) {
      const auto& here = spots_[spot].holders;
      if (std::find(here.begin(), here.end(), job) != here.end()) continue;
      holds.push_back(hold_of(job, false, window));
    }
  }
  for (const HostClaim& claim : claims_on(spots_[spot].host)) {
    if (!placed_[claim.job]) holds.push_back(hold_of(claim.job, true, window));
  }
  return sweep(std::move(holds));
}

Segments Holders::segments_of_job(JobIndex latest, WordId host, const Window& window) const {
  std::vector<JobIndex> attempts;
  for (JobIndex job = latest; job != kNoJob; job = jobs_.before(job)) attempts.push_back(job);
  std::vector<JobIndex> here;
  if (host != 0 && attempts.size() > 1) {
    std::ranges::copy_if(attempts, std::back_inserter(here),
                         [&](JobIndex job) { return is_on(job, host); });
  }
  std::vector<Hold> holds;
  for (const JobIndex job : here.empty() ? attempts : here) {
    holds.push_back(hold_of(job, false, window));
    if (jobs_.rows().running(job)) holds.back().end = window.end.count();
  }
  return sweep(std::move(holds));
}

// Where holds overlap (shared devices, clocks that disagree) the time belongs to all of them.
Segments Holders::sweep(std::vector<Hold> holds) {
  std::erase_if(holds, [](const Hold& hold) { return hold.start >= hold.end; });
  std::sort(holds.begin(), holds.end(), [](const Hold& a, const Hold& b) {
    return std::tie(a.start, a.end, a.job) < std::tie(b.start, b.end, b.job);
  });
  Segments segments;
  std::vector<Hold> open;
  std::size_t next = 0;
  Time at = 0;
  while (next < holds.size() || !open.empty()) {
    if (open.empty()) at = holds[next].start;
    for (; next < holds.size() && holds[next].start <= at; ++next) open.push_back(holds[next]);
    Time until = next < holds.size() ? holds[next].start : kForever;
    for (const Hold& hold : open) until = std::min(until, hold.end);
    segments.list.push_back({at, until, static_cast<std::uint32_t>(segments.owners.size()),
                             static_cast<std::uint32_t>(open.size())});
    for (const Hold& hold : open) segments.owners.push_back({hold.job, hold.whole_host});
    std::erase_if(open, [&](const Hold& hold) { return hold.end <= until; });
    at = until;
  }
  return segments;
}

}  // namespace amdahl::scan
