// record.h: reads a run's owner and elapsed time from its folder.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "base/units.h"
#include "launch/local/local.h"

namespace amdahl::launch::local {

// From its request.
struct Owner {
  std::string ledger;
  std::string ticket;
  Nanos arms{};          // longest_arms()
  Nanos deadline{};      // longest_run()
  int accelerators = 1;  // Of the largest arm.
};

// Nothing if there is no readable request.
std::optional<Owner> owner_of(const RunFolder& folder);

// Whether the folder contains anything of a run.
bool is_used(const RunFolder& folder);

// Whether a worker took it or it was cancelled: no other worker will take it.
bool has_begun(const RunFolder& folder);

// The worker, if it is known to be alive on this host.
std::optional<pid_t> living_worker(const RunFolder& folder);

// How often it was submitted, and the time since the first submission.
struct Submissions {
  int times = 0;
  std::optional<Nanos> since = Nanos{0};  // Nothing: before the last boot.
};
Submissions handed_over(const RunFolder& folder);
// Whether a worker may still take it. After that it can be submitted again.
bool is_starting(const Submissions& handed);
Result<> note_handing_over(const RunFolder& folder);

// From the worker's start to the end of the run, or until now; nothing if unknown. Wall-clock time
// for runs on other hosts.
std::optional<Nanos> time_taken(const RunFolder& folder);

// Moves the folder to <runs>/.aside, to free its name. kConflict if its worker is alive.
Result<> move_aside(const RunFolder& folder);

}  // namespace amdahl::launch::local
