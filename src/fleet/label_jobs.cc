#include "fleet/label_jobs.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "fleet/hostlist.h"
#include "fleet/mig.h"
#include "fleet/values.h"

namespace amdahl::fleet {
namespace {

constexpr std::size_t kMostDistances = 4096;
// Few sites let a job run longer, and none goes on unseen for so long: ids are given again.
constexpr Nanos kAnother = std::chrono::hours{7 * 24};

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

void LabelJobs::tell(const Record& record) {
  if (const auto* samples = std::get_if<Samples>(&record)) {
    for (const Sample& sample : samples->samples) saw(lanes_[samples->series], sample.at);
  } else if (const auto* rows = std::get_if<Rows>(&record)) {
    for (std::size_t i = 0; i < rows->samples.size(); ++i) {
      saw(lanes_[rows->series[i]], rows->samples[i].at);
    }
  } else if (const auto* job = std::get_if<Job>(&record)) {
    if (is_hint(job->draft)) hear(job->draft);
  } else if (const auto* device = std::get_if<Device>(&record)) {
    names_.learn(*device);
  }
}

void LabelJobs::hear(const model::JobDraft& job) {
  LabelledJob& seen = jobs_[job_of(job.id)];
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
  if (!key.uuid.empty() && !key.accelerator.empty() && !is_device_name(key.accelerator)) {
    names_.learn({.host = short_host(key.host),
                  .accelerator = key.accelerator,
                  .slice = key.slice == key.uuid ? key.slice : std::string_view(),
                  .uuid = key.uuid});
  }
  Lane& lane = lanes_.emplace_back();
  if (job_in(key.job).empty()) return row->second;
  lane.labelled = true;
  lane.job = job_of(key.job);
  LabelledJob& seen = jobs_[lane.job];
  if (!key.kind.empty()) seen.kind = key.kind;
  // Several metrics of one accelerator are one accelerator.
  const std::size_t spot = spot_of(key);
  if (std::ranges::find(seen.spots, spot) == seen.spots.end()) seen.spots.push_back(spot);
  return row->second;
}

std::size_t LabelJobs::spot_of(const model::SeriesKey& key) {
  std::string words;
  for (const std::string_view word : {short_host(key.host), key.accelerator, key.uuid, key.slice}) {
    words.append(word).push_back('\0');
  }
  const auto [at, is_new] = spot_ids_.emplace(std::move(words), spots_.size());
  if (is_new) {
    spots_.push_back({std::string(short_host(key.host)), std::string(key.accelerator),
                      std::string(key.uuid), std::string(key.slice), std::string(key.profile),
                      std::string(key.kind)});
  }
  return at->second;
}

// Under the name that all its names lead to.
void LabelJobs::add_spot(const Spot& spot, Devices& devices) const {
  Spot real = spot;
  const std::string& name = spot.accelerator.empty() ? spot.uuid : spot.accelerator;
  const DeviceNames::Place* known = names_.find(spot.host, name);
  if (const DeviceNames::Place* sliced = names_.find(spot.host, spot.slice)) known = sliced;
  real.accelerator = name;
  if (known) {
    if (real.host.empty()) real.host = known->likely;
    if (!known->host.empty()) real.host = known->host;
    real.accelerator = known->accelerator;
    if (real.slice.empty()) real.slice = known->slice;
    if (real.profile.empty()) real.profile = known->profile;
  }
  Slices& device = devices[{real.host, real.accelerator}];
  if (real.slice.empty()) {
    device.whole = true;
  } else {
    double& share = device.shares[real.slice];
    share = std::max(share, mig_share(real.profile, real.kind));
  }
}

// Of one device, what its slices are. Where that is not said they are equal.
double LabelJobs::share_of(const Slices& mine, const Slices& all) {
  if (mine.shares.empty()) return 1;
  double sum = 0;
  for (const auto& [slice, share] : mine.shares) {
    sum += share > 0 ? share : 1.0 / static_cast<double>(all.shares.size());
  }
  return std::min(sum, 1.0);
}

void LabelJobs::saw(Lane& lane, Nanos at) {
  if (lane.last != Nanos{} && at > lane.last &&
      (apart_.size() < kMostDistances || apart_.contains(at - lane.last))) {
    ++apart_[at - lane.last];
  }
  lane.last = std::max(lane.last, at);
  add_sample(runs_, at, kFarApart);
  if (lane.labelled) add_sample(jobs_[lane.job].runs, at, kAnother);
}

Nanos LabelJobs::cadence() const {
  Nanos cadence{};
  std::uint64_t most = 0;
  for (const auto& [distance, count] : apart_) {
    if (count > most) {
      most = count;
      cadence = distance;
    }
  }
  return cadence;
}

void LabelJobs::tell_jobs(Intake& intake, Nanos now) const {
  const auto times = true_times(runs_, now);
  Devices all;
  for (const Spot& spot : spots_) add_spot(spot, all);
  for (const LabelledJob& seen : jobs_) {
    std::vector<SampleRun> runs = joined(seen.runs, kAnother);
    if (times) std::erase_if(runs, [&](const SampleRun& run) { return !times->holds(run.first); });
    if (!runs.empty()) tell_job(intake, seen, all, runs);
  }
}

void LabelJobs::tell_job(Intake& intake, const LabelledJob& seen, const Devices& all,
                         const std::vector<SampleRun>& runs) const {
  Devices devices;
  for (const std::size_t spot : seen.spots) add_spot(spots_[spot], devices);
  std::set<std::string> hosts;
  double accelerators = 0;
  for (const auto& [place, slices] : devices) {
    if (!place.first.empty()) hosts.insert(place.first);
    accelerators += share_of(slices, all.at(place));
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
  job.accelerators = accelerators;
  for (const SampleRun& run : runs) {
    job.start = run.first;
    job.end = run.last + cadence();
    intake.job(job, {});
  }
  for (const auto& [place, slices] : devices) {
    if (slices.shares.empty()) intake.tell(Assignment{seen.id, place.first, place.second});
  }
}

}  // namespace amdahl::fleet
