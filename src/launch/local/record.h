// record.h: reads from a run's folder who owns the run and how long it has taken.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "base/units.h"
#include "launch/local/local.h"

namespace amdahl::launch::local {

// By its request.
struct Owner {
  std::string ledger;
  std::string ticket;
  Nanos arms{};          // longest_arms()
  Nanos deadline{};      // longest_run()
  int accelerators = 1;  // Of the largest arm.
};

// Nothing if there is no request, or none that can be read.
std::optional<Owner> owner_of(const RunFolder& folder);

// Whether there is anything of a run.
bool is_used(const RunFolder& folder);

// Whether a worker took it or it was cancelled: none will take it any more.
bool has_begun(const RunFolder& folder);

// The worker, if it lives on this host and can be told so.
std::optional<pid_t> living_worker(const RunFolder& folder);

// How often it was submitted, and how long ago for the first time.
struct Submissions {
  int times = 0;
  std::optional<Nanos> since = Nanos{0};  // Nothing: before the last boot.
};
Submissions handed_over(const RunFolder& folder);
// Whether a worker may still take it. One that has not by then never will, and it may be handed
// over again.
bool is_starting(const Submissions& handed);
Result<> note_handing_over(const RunFolder& folder);

// From the worker's start to the end of the run, or until now; nothing if unknown. For a run on
// another host by wall-clock times.
std::optional<Nanos> time_taken(const RunFolder& folder);

// Moves the folder to <runs>/.aside, to free its name. kConflict if its worker is alive.
Result<> move_aside(const RunFolder& folder);

}  // namespace amdahl::launch::local
