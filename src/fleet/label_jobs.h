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
#include "fleet/pass_on.h"

namespace amdahl::fleet {

// Is told what the samples say and keeps of each labelled job when and where it was seen. Memory
// grows with jobs and their accelerators alone.
class LabelJobs final : public Intake {
 public:
  // A draft without times and accelerators is a hint: whose the job is. Others are passed over.
  void job(const model::JobDraft& job, Where where) override;
  void place(std::string_view, std::string_view, std::string_view) override {}
  void capacity(std::string_view, std::string_view, std::string_view, int) override {}
  void occupancy(std::string_view, const Occupancy&) override {}
  void device(const Device& device) override { names_.learn(device); }
  void parts(std::string_view, double) override {}
  void down(const Down&) override {}
  SeriesId series(const model::SeriesKey& key) override;
  void samples(SeriesId series, std::span<const Sample> samples) override;
  void rows(std::span<const SeriesId> series, std::span<const Sample> samples) override;
  void trouble(model::Trouble, Where, std::string_view) override {}
  void troubles(model::Trouble, std::uint64_t) override {}

  // One job for each label, in the order of first sight: from its first sample to a cadence after
  // its last, with the accelerators that were labelled with it, each once whatever its names, and
  // of MIG slices their share. Its state is not known. Its places are told, too. A label that was
  // not seen for a week is of another attempt then; samples of clocks that were not set tell of no
  // job. `now` 0: not known.
  void tell(Intake& intake, Nanos now = {}) const;
  std::size_t size() const { return jobs_.size(); }

 private:
  struct Seen {
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
  void tell(Intake& intake, const Seen& seen, const Devices& all,
            const std::vector<SampleRun>& runs) const;

  std::map<std::string, std::size_t, std::less<>> by_id_;
  std::vector<Seen> jobs_;
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
  void job(const model::JobDraft& job, Where where) override {
    if (!is_hint(job)) next_.job(job, where);
  }
};

}  // namespace amdahl::fleet
