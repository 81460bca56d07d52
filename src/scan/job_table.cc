#include "scan/job_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/check.h"
#include "fleet/hostlist.h"

namespace amdahl::scan {
namespace {

using model::JobDraft;
using model::JobState;
using model::Trouble;

bool is_running(const JobDraft& draft) {
  return draft.end == Nanos{} && (draft.elapsed < Nanos{} || draft.state == JobState::kRunning);
}

// Its state says that it has ended, and nothing says when.
bool is_endless(const JobDraft& draft) {
  const bool is_over = draft.state != JobState::kRunning && draft.state != JobState::kPending &&
                       draft.state != JobState::kOther;
  return is_over && draft.end == Nanos{} && draft.elapsed < Nanos{};
}

// What the scheduler counted wins over a difference of local times. A running job is known to have
// run for as long as was counted when its record was written, whatever else the scan is of.
Nanos end_of(const JobDraft& draft) {
  if (draft.elapsed >= Nanos{}) return draft.start + draft.elapsed;
  return is_running(draft) ? draft.start : draft.end;
}

double shards_in(const JobDraft& draft) { return draft.accelerators > 0 ? 0 : draft.shards; }

// Whether two lists of hosts are known and have none in common.
bool are_apart(std::string_view some, std::string_view others) {
  if (some == others || some.empty() || others.empty()) return false;
  const auto a = fleet::expand_hosts(some);
  const auto b = fleet::expand_hosts(others);
  if (!a || !b || a->empty() || b->empty()) return false;
  std::set<std::string> keys;
  for (const std::string& host : *a) keys.insert(fleet::host_key(host));
  return std::ranges::none_of(
      *b, [&](const std::string& host) { return keys.contains(fleet::host_key(host)); });
}

}  // namespace

std::optional<Trouble> JobTable::add(const JobDraft& draft) {
  if (!(draft.accelerators > 0) && !(draft.shards > 0)) return Trouble::kNoAccelerator;
  if (draft.start <= Nanos{}) return Trouble::kNeverStarted;
  if (is_endless(draft) || end_of(draft) < draft.start) return Trouble::kBadTime;
  const JobName id = words_.intern_job(draft.id);
  if (home_ == 0) home_ = words_.intern(draft.cluster);
  const WordId cluster = draft.cluster.empty() ? home_ : words_.intern(draft.cluster);
  const JobIndex latest = by_id_.find(id);
  for (JobIndex job = id == JobName::kNone ? kNoJob : latest; job != kNoJob; job = before(job)) {
    if (cluster_of(job) != cluster) continue;
    if (const auto known = match(job, id, draft)) return known;
  }
  if (const JobIndex job = other_name(id, draft); job != kNoJob && cluster_of(job) == cluster) {
    if (const auto known = match(job, jobs_.id(job), draft)) return known;
  }
  CHECK(jobs_.size() < kNoJob);
  const JobIndex job = size();
  FleetJob row = row_of(id, draft);
  const bool is_known = latest != kNoJob && id != JobName::kNone;
  JobIndex earlier = is_known ? latest : kNoJob;
  while (earlier != kNoJob && cluster_of(earlier) != cluster) earlier = before(earlier);
  const bool again = earlier != kNoJob;
  if (again) row.attempt = static_cast<std::uint16_t>(jobs_[earlier].attempt + 1);
  jobs_.push_back(row);
  if (cluster != home_) elsewhere_.emplace(job, cluster);
  keep_mean(job, draft);
  if (const double shards = shards_in(draft); shards > 0) shards_.emplace(job, shards);
  if (is_known) previous_.emplace(job, latest);
  if (id != JobName::kNone) by_id_.set(id, job);
  if (!draft.raw.empty() && draft.raw != draft.id) {
    by_raw_.set(words_.intern_job(draft.raw), job);
  }
  if (again) return Trouble::kRequeued;
  return std::nullopt;
}

// What a record is if it tells of an attempt that is known; nothing if it does not.
std::optional<Trouble> JobTable::match(JobIndex job, JobName id, const JobDraft& draft) {
  const FleetJob known = jobs_[job];
  if (shards_of(job) != shards_in(draft)) return std::nullopt;
  if (is_shifted(known, draft)) return Trouble::kTwoZones;
  if (!is_same(known, draft)) return std::nullopt;
  const bool is_newer =
      !is_running(draft) || (draft.elapsed >= Nanos{} && end_of(draft) > known.end);
  if (known.running && is_newer) {
    FleetJob row = row_of(id, draft);
    row.attempt = known.attempt;
    jobs_.set(job, row);
  }
  complete(job, draft);
  return Trouble::kDuplicate;
}

// A record that has only the scheduler's number of an array task or a component, beside one that
// has both names: whichever came first.
JobIndex JobTable::other_name(JobName id, const JobDraft& draft) {
  if (draft.raw.empty() || draft.raw == draft.id) return by_raw_.find(id);
  const JobName raw = words_.find_job(draft.raw);
  const JobIndex job = raw == JobName::kNone ? kNoJob : by_id_.find(raw);
  if (job == kNoJob || before(job) != kNoJob || by_id_.find(id) != kNoJob) return kNoJob;
  if (shards_of(job) != shards_in(draft) || !is_same(jobs_[job], draft)) return kNoJob;
  if (!draft.cluster.empty() && words_[cluster_of(job)] != draft.cluster) return kNoJob;
  // The name for people stays.
  FleetJob row = jobs_[job];
  row.id = id;
  jobs_.set(job, row);
  by_id_.set(raw, kNoJob);
  by_id_.set(id, job);
  by_raw_.set(raw, job);
  return job;
}

// All its times lie the same quarters of hours apart: two inputs speak of two time zones.
bool JobTable::is_shifted(const FleetJob& job, const JobDraft& draft) const {
  const Nanos apart = draft.start - job.start;
  if (apart == Nanos{} || apart % std::chrono::minutes{15} != Nanos{}) return false;
  if (job.submit == Nanos{} || draft.submit - job.submit != apart) return false;
  if (end_of(draft) - job.end != apart || job.running != is_running(draft)) return false;
  return std::chrono::abs(apart) <= std::chrono::hours{26} &&
         job.accelerators == static_cast<float>(draft.accelerators) && job.state == draft.state &&
         (job.user == 0 || draft.user.empty() || words_[job.user] == draft.user);
}

// Records that come together have much in common.
WordId JobTable::again(std::string_view text, WordId& last) {
  if (words_[last] != text) last = words_.intern_often(text);
  return last;
}

// Two attempts of a job do not overlap: records that do tell of the same one, even if two sources
// disagree by seconds. Another cluster may have used the number too, even if nothing names it.
bool JobTable::is_same(const FleetJob& job, const JobDraft& draft) const {
  const bool overlap = job.start < end_of(draft) && draft.start < job.end;
  if (job.start != draft.start && !overlap) return false;
  if (job.accelerators != static_cast<float>(draft.accelerators)) return false;
  if (job.hosts != 0 && are_apart(words_[job.hosts], draft.hosts)) return false;
  return job.user == 0 || draft.user.empty() || words_[job.user] == draft.user;
}

// What the first record of an attempt did not say, another may.
void JobTable::complete(JobIndex index, const JobDraft& draft) {
  FleetJob job = jobs_[index];
  const auto add = [&](WordId& word, std::string_view text) {
    if (word == 0) word = words_.intern(text);
  };
  add(job.name, draft.name);
  add(job.user, draft.user);
  add(job.account, draft.account);
  add(job.partition, draft.partition);
  add(job.kind, draft.kind);
  add(job.family, draft.family);
  add(job.script, draft.script);
  add(job.reason, draft.reason);
  add(job.hosts, draft.hosts);
  if (job.submit == Nanos{}) job.submit = draft.submit;
  if (!std::isnan(draft.mean_utilisation) && std::isnan(mean_of(index))) {
    job.metric = words_.intern(draft.metric);
    keep_mean(index, draft);
  }
  jobs_.set(index, job);
}

FleetJob JobTable::row_of(JobName id, const JobDraft& draft) {
  FleetJob job;
  job.id = id;
  job.family = again(draft.family, last_.family);
  job.name = again(draft.name, last_.name);
  job.user = again(draft.user, last_.user);
  job.account = again(draft.account, last_.account);
  job.partition = again(draft.partition, last_.partition);
  job.kind = again(draft.kind, last_.kind);
  job.script = again(draft.script, last_.script);
  job.reason = again(draft.reason, last_.reason);
  job.hosts = again(draft.hosts, last_.hosts);
  job.metric = std::isnan(draft.mean_utilisation) ? 0 : again(draft.metric, last_.metric);
  job.state = draft.state;
  job.running = is_running(draft);
  job.open = job.running && draft.elapsed < Nanos{};
  job.accelerators = static_cast<float>(draft.accelerators);
  job.submit = draft.submit;
  job.start = draft.start;
  job.end = end_of(draft);
  return job;
}

void JobTable::keep_mean(JobIndex job, const JobDraft& draft) {
  if (std::isnan(draft.mean_utilisation) && job >= means_.size()) return;
  if (means_.size() <= job) {
    means_.resize(std::size_t{job} + 1, std::numeric_limits<double>::quiet_NaN());
  }
  means_[job] = draft.mean_utilisation;
}

JobIndex JobTable::find(JobName id) const {
  if (id == JobName::kNone) return kNoJob;
  const JobIndex job = by_id_.find(id);
  return job != kNoJob ? job : by_raw_.find(id);
}

WordId JobTable::cluster_of(JobIndex job) const {
  const auto at = elsewhere_.find(job);
  return at == elsewhere_.end() ? home_ : at->second;
}

JobRows JobTable::take() {
  std::set<JobName> shared;
  for (const auto& [job, cluster] : elsewhere_) shared.insert(jobs_.id(job));
  shared.erase(JobName::kNone);
  for (const JobName id : shared) {
    std::vector<std::pair<JobIndex, WordId>> jobs;
    for (JobIndex job = by_id_.find(id); job != kNoJob; job = before(job)) {
      jobs.emplace_back(job, cluster_of(job));
    }
    const bool is_shared = std::ranges::any_of(
        jobs, [&](const auto& one) { return one.second != jobs.front().second; });
    for (const auto& [job, cluster] : jobs) {
      if (!is_shared || cluster == 0) continue;
      FleetJob row = jobs_[job];
      row.id = words_.intern_job(fmt::format("{}/{}", words_[id], words_[cluster]));
      jobs_.set(job, row);
    }
  }
  return std::move(jobs_);
}

double JobTable::shards_of(JobIndex job) const {
  const auto at = shards_.find(job);
  return at == shards_.end() ? 0 : at->second;
}

double JobTable::mean_of(JobIndex job) const {
  return job < means_.size() ? means_[job] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace amdahl::scan
