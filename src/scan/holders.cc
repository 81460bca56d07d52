#include "scan/holders.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "fleet/hostlist.h"

namespace amdahl::scan {
namespace {

constexpr Time kForever = std::numeric_limits<Time>::max();

}  // namespace

SpotId Holders::spot(WordId host, WordId accelerator) {
  const std::uint64_t key = std::uint64_t{host} << 32 | accelerator;
  const auto [at, is_new] = by_name_.emplace(key, size());
  if (is_new) spots_.push_back({.host = host, .accelerator = accelerator, .holders = {}});
  return at->second;
}

bool Holders::settle(const std::function<void(WordId)>& unknown) {
  if (places_.empty() && settled_ == jobs_.size()) return false;
  placed_.resize(jobs_.size());
  for (const Place& place : places_) add_place(place, unknown);
  places_.clear();
  places_.shrink_to_fit();
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (const SpotId spot : changed_) {  // Two inputs may name the same place.
    std::vector<JobIndex>& holders = spots_[spot].holders;
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  }
  changed_.clear();
  for (; settled_ < jobs_.size(); ++settled_) {
    if (!placed_[settled_]) claim_hosts(settled_);
  }
  return true;
}

// An attempt that ran elsewhere did not hold it: the list of its hosts decides where there are
// several attempts.
void Holders::add_place(const Place& place, const std::function<void(WordId)>& unknown) {
  JobIndex job = jobs_.find(place.job);
  if (job == kNoJob) return unknown(place.job);
  const bool is_only = jobs_.before(job) == kNoJob;
  const SpotId at = spot(place.host, place.accelerator);
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
  return !hosts || hosts->empty() ||
         std::find(hosts->begin(), hosts->end(), words_[host]) != hosts->end();
}

void Holders::claim_hosts(JobIndex job) {
  if (jobs_[job].hosts == 0) return;
  const auto hosts = fleet::expand_hosts(words_[jobs_[job].hosts]);
  if (!hosts || hosts->empty()) return;
  const float each = jobs_[job].accelerators / static_cast<float>(hosts->size());
  for (const std::string& host : *hosts) {
    claims_[words_.intern(fleet::short_host(host))].push_back({job, each});
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
  const Time end = row.running ? window.end.count() : std::min(row.end, window.end).count();
  return {start, end, job, whole_host};
}

Segments Holders::segments_of(SpotId spot, const Window& window) const {
  std::vector<Hold> holds;
  for (const JobIndex job : spots_[spot].holders) holds.push_back(hold_of(job, false, window));
  for (const HostClaim& claim : claims_on(spots_[spot].host)) {
    if (!placed_[claim.job]) holds.push_back(hold_of(claim.job, true, window));
  }
  return sweep(std::move(holds));
}

Segments Holders::segments_of_job(JobIndex latest, const Window& window) const {
  std::vector<Hold> holds;
  for (JobIndex job = latest; job != kNoJob; job = jobs_.before(job)) {
    holds.push_back(hold_of(job, false, window));
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
