#include "fleet/label_jobs.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

constexpr std::size_t kMostDistances = 4096;

}  // namespace

bool is_hint(const model::JobDraft& job) {
  return job.accelerators == 0 && job.start == Nanos{} && job.end == Nanos{} &&
         job.submit == Nanos{} && job.state == model::JobState::kOther && job.name.empty();
}

std::size_t LabelJobs::job_of(std::string_view id) {
  if (const auto known = by_id_.find(id); known != by_id_.end()) return known->second;
  by_id_.emplace(std::string(id), jobs_.size());
  jobs_.emplace_back().id = id;
  return jobs_.size() - 1;
}

void LabelJobs::job(const model::JobDraft& job, Where) {
  if (!is_hint(job)) return;
  Seen& seen = jobs_[job_of(job.id)];
  if (!job.user.empty()) seen.user = job.user;
  if (!job.account.empty()) seen.account = job.account;
  if (!job.partition.empty()) seen.partition = job.partition;
}

SeriesId LabelJobs::series(const model::SeriesKey& key) {
  std::string words;
  for (const std::string_view word :
       {key.host, key.accelerator, key.uuid, key.slice, key.job, key.metric}) {
    words.append(word).push_back('\0');
  }
  const auto [row, fresh] = ids_.emplace(words, static_cast<SeriesId>(lanes_.size()));
  if (!fresh) return row->second;
  Lane& lane = lanes_.emplace_back();
  if (key.job.empty()) return row->second;
  lane.labelled = true;
  lane.job = job_of(key.job);
  Seen& seen = jobs_[lane.job];
  if (!key.kind.empty()) seen.kind = key.kind;
  // Several metrics of one accelerator are one accelerator.
  std::string place(key.host);
  place.push_back('\0');
  place.append(key.accelerator.empty() ? key.uuid : key.accelerator);
  place.push_back('\0');
  place.append(key.slice);
  seen.accelerators.emplace(std::move(place), std::string(key.host));
  return row->second;
}

void LabelJobs::saw(Lane& lane, Nanos at) {
  if (lane.last != Nanos{} && at > lane.last &&
      (apart_.size() < kMostDistances || apart_.contains(at - lane.last))) {
    ++apart_[at - lane.last];
  }
  lane.last = std::max(lane.last, at);
  if (!lane.labelled) return;
  Seen& seen = jobs_[lane.job];
  if (seen.first == Nanos{} || at < seen.first) seen.first = at;
  seen.last = std::max(seen.last, at);
}

void LabelJobs::samples(SeriesId series, std::span<const Sample> samples) {
  for (const Sample& sample : samples) saw(lanes_[series], sample.at);
}

void LabelJobs::rows(std::span<const SeriesId> series, std::span<const Sample> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) saw(lanes_[series[i]], samples[i].at);
}

void LabelJobs::tell(Intake& intake) const {
  Nanos cadence{};
  std::uint64_t most = 0;
  for (const auto& [distance, count] : apart_) {
    if (count > most) {
      most = count;
      cadence = distance;
    }
  }
  for (const Seen& seen : jobs_) {
    if (seen.first == Nanos{}) continue;
    std::set<std::string> hosts;
    for (const auto& [place, host] : seen.accelerators) {
      if (!host.empty()) hosts.insert(host);
    }
    const std::vector<std::string> each(hosts.begin(), hosts.end());
    const std::string list = join(each, ",");
    model::JobDraft job;
    job.id = seen.id;
    job.user = seen.user;
    job.account = seen.account;
    job.partition = seen.partition;
    job.kind = seen.kind;
    job.hosts = list;
    job.host_count = static_cast<int>(hosts.size());
    job.start = seen.first;
    job.end = seen.last + cadence;
    job.accelerators = static_cast<double>(seen.accelerators.size());
    intake.job(job, {});
  }
}

}  // namespace amdahl::fleet
