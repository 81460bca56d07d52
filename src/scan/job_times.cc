#include "scan/job_times.h"

namespace amdahl::scan {
namespace {

using model::JobState;
using model::Trouble;

// Whether only a job that has run can have this state. A failed job, or one without a known state,
// may have ended in the queue.
bool has_run(JobState state) { return state != JobState::kFailed && state != JobState::kOther; }

// Whether the job ended in the queue or is still in it, so that it never had an allocation.
bool is_of_the_queue(const model::JobDraft& job) {
  return job.state == JobState::kPending || job.elapsed == Nanos{} ||
         (job.state == JobState::kCancelled && job.elapsed < Nanos{});
}

}  // namespace

std::optional<Trouble> mend_start(model::JobDraft& job) {
  if (job.start > Nanos{} || is_of_the_queue(job)) return std::nullopt;
  if (job.end <= Nanos{}) {  // How long it ran is known, and that it cannot have begun before.
    if (job.elapsed < Nanos{} || job.submit <= Nanos{}) return std::nullopt;
    job.start = job.submit;
    return Trouble::kDerivedStart;
  }
  if (job.elapsed > Nanos{} && job.elapsed < job.end) {
    job.start = job.end - job.elapsed;
    return Trouble::kDerivedStart;
  }
  if (has_run(job.state) && job.submit > Nanos{} && job.submit <= job.end) {
    job.start = job.submit;
    return Trouble::kDerivedStart;
  }
  return Trouble::kNoStart;
}

}  // namespace amdahl::scan
