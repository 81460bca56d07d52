// label_jobs.h: jobs from the labels of their samples, for fleets whose accounting nobody gave.
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

// Is told what the samples say and keeps of each labelled job when and where it was seen. Memory
// grows with jobs and their accelerators alone.
class LabelJobs final : public Intake {
 public:
  SeriesId series(const model::SeriesKey& key) override;
  // Samples, names of devices, and hints: drafts without times and accelerators say whose a job is.
  void tell(const Record& record) override;

  // One job for each label, in the order of first sight: from its first sample to a cadence after
  // its last, with the accelerators that were labelled with it, each once whatever its names, and
  // of MIG slices their share. Its state is not known. Its places are told, too. A label that was
  // not seen for a week is of another attempt then; samples of clocks that were not set tell of no
  // job. `now` 0: not known.
  void tell_jobs(Intake& intake, Nanos now = {}) const;
  std::size_t size() const { return jobs_.size(); }

 private:
  struct LabelledJob {
    std::string id, user, account, partition, kind;
    std::vector<SampleRun> runs;
    std::vector<std::size_t> spots;  // In spots_, once each.
  };
  // An accelerator or a slice of one, as some series called it.
  struct Spot {
    std::string host, accelerator, uuid, slice, profile, kind;
  };
  struct Lane {
    std::size_t job = 0;
    bool labelled = false;
    Nanos last{};
  };
  struct Slices {
    std::map<std::string, double> shares;  // By slice; 0: not known.
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
  std::map<Nanos, std::uint64_t> apart_;  // How often samples were so far apart.
  std::vector<SampleRun> runs_;           // Of all samples, labelled or not.
};

// Whether a draft is such a hint.
bool is_hint(const model::JobDraft& job);

// Passes on all but hints.
class WithoutHints final : public PassOn {
 public:
  using PassOn::PassOn;
  void tell(const Record& record) override {
    const auto* job = std::get_if<Job>(&record);
    if (!job || !is_hint(job->draft)) next_.tell(record);
  }
};

}  // namespace amdahl::fleet
