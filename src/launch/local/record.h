// record.h: what a run's folder tells of whose run it is and how long it has taken.
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
  Nanos arms{};      // longest_arms()
  Nanos deadline{};  // longest_run()
};

// Nothing if there is no request, or none that can be read.
std::optional<Owner> owner_of(const RunFolder& folder);

// Whether there is anything of a run.
bool is_used(const RunFolder& folder);

// The worker, if it lives on this host and can be told so.
std::optional<pid_t> living_worker(const RunFolder& folder);

// How often it was submitted, and how long ago for the first time.
struct HandedOver {
  int times = 0;
  std::optional<Nanos> since = Nanos{0};  // Nothing: before the last boot.
};
HandedOver handed_over(const RunFolder& folder);
Result<> note_handing_over(const RunFolder& folder);

// From the worker's start to the end of the run, or until now; nothing if that cannot be told. Of
// another host's run the wall clocks tell it.
std::optional<Nanos> time_taken(const RunFolder& folder);

// Makes way for another run of that name: to <runs>/.aside. kConflict if its worker lives.
Result<> move_aside(const RunFolder& folder);

}  // namespace amdahl::launch::local
