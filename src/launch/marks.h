// marks.h: what a launcher with a scheduler keeps in a run's folder, to find its job again.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "launch/local/local.h"

namespace amdahl::launch {

// What the run's folder shows.
struct FolderFacts {
  bool submitted = false;  // The scheduler was asked to take it.
  bool started = false;
  bool done = false;
  bool cancelled = false;
  bool had_started = false;  // Before the scheduler was asked: it waits again if it waits.
  bool long_absent = false;  // Not found by two looks that are far enough apart.
  std::string recorded{};    // The id that the scheduler gave it, if it did.
};
// `nowhere`: the scheduler answered, and knows no such job; after `settle` that is believed. By our
// own clock: another machine, or another boot, starts anew.
FolderFacts facts_of(const local::RunFolder& folder, bool nowhere, Nanos settle);

bool was_submitted(const local::RunFolder& folder);
Result<> mark_submitted(const local::RunFolder& folder);  // Before the scheduler is asked.
void unmark_submitted(const local::RunFolder& folder);    // It has refused.
Result<> record_id(const local::RunFolder& folder, const std::string& id);
std::string recorded_id(const local::RunFolder& folder);  // Empty if there is none.

// Whether the folder bears the run's ticket.
bool is_of(const local::RunFolder& folder, const RunRef& run);

// The unique name of a run's job: [A-Za-z0-9._-], at most 120 characters.
inline constexpr std::string_view kOurs = "amdahl-";  // How such names begin.
std::string job_name(const RunRef& run);

// The request as a worker in an allocation of its own gets it; kBadInput for what cannot run there.
Result<PairRequest> for_allocation(const PairRequest& request);

// The words that the scheduler's job executes.
std::vector<std::string> worker_words(const local::RunFolder& folder);

}  // namespace amdahl::launch
