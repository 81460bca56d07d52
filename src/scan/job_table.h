// job_table.h: the attempts of jobs in accounting, deduplicated, found by id.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/fleet.h"
#include "scan/fleet_usage.h"
#include "scan/job_index.h"

namespace amdahl::scan {

class JobTable {
 public:
  explicit JobTable(Interner& words) : words_{words} {}

  // Nothing for a new attempt of a new job; else what to count. kDuplicate: not kept, except for
  // new facts; it replaces a record of the same attempt that was written while the job ran.
  // kTwoZones: not kept: seen before with all times some hours apart. kRequeued: kept as another
  // attempt. A job of another cluster is another job.
  std::optional<model::Trouble> add(const model::JobDraft& draft);

  // The last read attempt with this id (else the scheduler's number); then earlier ones, and jobs
  // of other clusters that gave the same number.
  JobIndex find(JobName id) const;
  JobIndex before(JobIndex job) const {
    const auto at = previous_.find(job);
    return at == previous_.end() ? kNoJob : at->second;
  }

  FleetJob operator[](JobIndex job) const { return jobs_[job]; }
  JobIndex size() const { return static_cast<JobIndex>(jobs_.size()); }
  // For passes over all of them.
  JobRows& rows() { return jobs_; }
  const JobRows& rows() const { return jobs_; }
  // The job's average from accounting, else NaN.
  double mean_of(JobIndex job) const;
  // Jobs with shares of accelerators, and how many; their `accelerators` are 0 so far.
  const std::map<JobIndex, double>& shards() const { return shards_; }

  // Numbers that several clusters gave have the cluster behind them: "7/alpha", "7/beta".
  JobRows take();

 private:
  double shards_of(JobIndex job) const;
  WordId cluster_of(JobIndex job) const;
  std::optional<model::Trouble> match(JobIndex job, JobName id, const model::JobDraft& draft);
  JobIndex other_name(JobName id, const model::JobDraft& draft);
  bool is_same(const FleetJob& job, const model::JobDraft& draft) const;
  bool is_shifted(const FleetJob& job, const model::JobDraft& draft) const;
  void complete(JobIndex index, const model::JobDraft& draft);
  FleetJob row_of(JobName id, const model::JobDraft& draft);
  WordId again(std::string_view text, WordId& last);
  void keep_mean(JobIndex job, const model::JobDraft& draft);

  Interner& words_;
  FleetJob last_;  // The last job added.
  JobRows jobs_;
  std::unordered_map<JobIndex, JobIndex> previous_;  // Of the few that have one.
  JobIndices by_id_;
  JobIndices by_raw_;
  std::map<JobIndex, double> shards_;
  WordId home_ = 0;                       // The cluster that was told first,
  std::map<JobIndex, WordId> elsewhere_;  // and that of the jobs of others.
  std::vector<double> means_;             // Up to the last job that has one.
};

}  // namespace amdahl::scan
