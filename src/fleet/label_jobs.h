// label_jobs.h: derives jobs from the labels of their samples, for fleets without accounting.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/clocks.h"
#include "fleet/device_names.h"
#include "fleet/intake.h"
#include "fleet/intake_filters.h"

namespace amdahl::fleet {

// Records when and where each labelled job was seen. Memory grows only with jobs and their
// accelerators.
class LabelJobs final : public Intake {
 public:
  SeriesId series(const model::SeriesKey& key) override;
  // Accepts samples, device names, and hints: drafts without times and accelerators that say who
  // owns a job.
  void tell(const Record& record) override;

  // One job per label, in order of first appearance: from its first sample to one interval after
  // its last, with the accelerators labelled with it (each once, under any name; MIG slices by
  // their share). Its state is unknown. Also reports its places. A label not seen for a week
  // starts a new attempt; samples of clocks that were not set are ignored. `now` 0: unknown.
  void tell_jobs(Intake& intake, Nanos now = {}) const;
  std::size_t size() const { return jobs_.size(); }

 private:
  struct LabelledJob {
    std::string id, user, account, partition, kind;
    std::vector<SampleRun> runs;
    std::vector<std::size_t> spots;  // Unique indices into spots_.
  };
  // An accelerator or slice as named by a series.
  struct Spot {
    std::string host, accelerator, uuid, slice, profile, kind;
  };
  struct Lane {
    std::size_t job = 0;
    bool labelled = false;
    Nanos last{};
  };
  struct Slices {
    std::map<std::string, double> shares;  // By slice; 0: unknown.
    bool whole = false;
  };
  using Devices = std::map<std::pair<std::string, std::string>, Slices>;  // By host and index.

  std::size_t job_of(std::string_view id);
  std::size_t spot_of(const model::SeriesKey& key);
  void add_spot(const Spot& spot, Devices& devices) const;
  static double share_of(const Slices& mine, const Slices& all);
  void saw(Lane& lane, Nanos at);
  Nanos cadence() const;
  void hear(const model::JobDraft& hint);
  void tell_job(Intake& intake, const LabelledJob& seen, const Devices& all,
                const std::vector<SampleRun>& runs) const;

  std::map<std::string, std::size_t, std::less<>> by_id_;
  std::vector<LabelledJob> jobs_;
  std::map<std::string, SeriesId> ids_;
  std::vector<Lane> lanes_;
  std::map<std::string, std::size_t> spot_ids_;
  std::vector<Spot> spots_;
  DeviceNames names_;
  std::map<Nanos, std::uint64_t> apart_;  // Histogram of the distance between samples.
  std::vector<SampleRun> runs_;           // All samples, labelled or not.
};

// Whether a draft is such a hint.
bool is_hint(const model::JobDraft& job);

// Passes on everything except hints.
class WithoutHints final : public PassOn {
 public:
  using PassOn::PassOn;
  void tell(const Record& record) override {
    const auto* job = std::get_if<Job>(&record);
    if (!job || !is_hint(job->draft)) next_.tell(record);
  }
};

}  // namespace amdahl::fleet
