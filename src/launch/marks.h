// marks.h: files in a run's folder by which a scheduler launcher finds its job again.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "launch/local/local.h"

namespace amdahl::launch {

// What the run's folder shows.
struct FolderFacts {
  bool submitted = false;  // The scheduler was asked to accept it.
  bool started = false;
  bool done = false;
  bool cancelled = false;
  // Started before the scheduler was queried: if it is queued now, it was requeued.
  bool had_started = false;
  bool long_absent = false;  // Not found in two queries, far enough apart.
  std::string recorded{};    // The scheduler's job id, if known.
};
// `nowhere`: the scheduler answered and does not know the job; believed after `settle`. By our own
// clock: each machine waits for itself, and again after a reboot.
FolderFacts facts_of(const local::RunFolder& folder, bool nowhere, Nanos settle);

bool was_submitted(const local::RunFolder& folder);
Result<> mark_submitted(const local::RunFolder& folder);  // Call before asking the scheduler.
void unmark_submitted(const local::RunFolder& folder);    // The scheduler refused it.
Result<> record_id(const local::RunFolder& folder, const std::string& id);
std::string recorded_id(const local::RunFolder& folder);  // Empty if none.

// Whether the folder has the run's ticket.
bool is_of(const local::RunFolder& folder, const RunRef& run);

// The unique name of a run's job: [A-Za-z0-9._-], at most 120 characters.
inline constexpr std::string_view kOurs = "amdahl-";  // Prefix of such names.
std::string job_name(const RunRef& run);

// The request for a worker in its own allocation; kBadInput if it cannot run there.
Result<PairRequest> for_allocation(const PairRequest& request);

// Command line of the scheduler's job.
std::vector<std::string> worker_words(const local::RunFolder& folder);

}  // namespace amdahl::launch
