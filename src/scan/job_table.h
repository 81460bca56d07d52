// job_table.h: the attempts of jobs that accounting tells of, each once, found by id.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/fleet.h"
#include "scan/fleet_usage.h"

namespace amdahl::scan {

using JobIndex = std::uint32_t;
inline constexpr JobIndex kNoJob = 0xFFFFFFFF;

class JobTable {
 public:
  explicit JobTable(Words& words) : words_{words} {}

  // What became of a record: nothing if it is a new attempt of a new job; else what to count.
  // kDuplicate: it is not kept but for what was not known; it takes the place of an unfinished
  // record of the same attempt.
  // kRequeued: kept, as another attempt.
  std::optional<model::Trouble> add(const model::JobDraft& draft);

  // The attempt with this id (else scheduler's number) that was read last; then those before it.
  JobIndex find(WordId id) const;
  JobIndex before(JobIndex job) const { return previous_[job]; }

  FleetJob& operator[](JobIndex job) { return jobs_[job]; }
  const FleetJob& operator[](JobIndex job) const { return jobs_[job]; }
  JobIndex size() const { return static_cast<JobIndex>(jobs_.size()); }
  // An average over the whole job where accounting has one, else NaN.
  double mean_of(JobIndex job) const;

  std::vector<FleetJob> take() { return std::move(jobs_); }

 private:
  bool is_same(const FleetJob& job, const model::JobDraft& draft) const;
  void complete(JobIndex index, const model::JobDraft& draft);
  void fill(FleetJob& job, const model::JobDraft& draft);
  WordId again(std::string_view text, WordId& last);
  void keep_mean(JobIndex job, const model::JobDraft& draft);

  Words& words_;
  FleetJob last_;  // Whose words were told last.
  std::vector<FleetJob> jobs_;
  std::vector<JobIndex> previous_;
  std::vector<JobIndex> by_id_;  // By WordId.
  std::vector<JobIndex> by_raw_;
  std::vector<double> means_;  // As long as the last job that has one.
};

}  // namespace amdahl::scan
