// reconcile.h: determines the state of every run in flight and records it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/context.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

using Say = std::function<void(const std::string&)>;

// What this process has done about a run in flight; empty in a new cycle.
struct Handing {
  Nanos last{};   // Time of the last submission,
  int times = 0;  // and how often.
  bool cancelled = false;
  bool killed = false;
  std::string said{};  // Why its state is unknown; reported once.
  Nanos offered{};     // When it was left to helpers (app/work.h); 0: it was not.
};
using Submitted = std::map<std::string, Handing>;

// Adopts, collects and voids runs; ends those over their deadline, and charges for those that left
// no receipt. Returns how many ended. A problem with one run voids that run only; returned errors
// are the ledger's.
Result<int> reconcile(Context& context, Submitted& submitted, std::int64_t fence, const Say& say);

// The part of it that any helper may do: collects a run that ended, for `actor`. Whether it did:
// false if the run has its fate already.
Result<bool> collect_run(Context& context, const std::string& reservation,
                         const launch::RunStatus& status, const std::string& actor, const Say& say);

// Runs that are with helpers.
bool waits_for_helpers(const Submitted& submitted);
// How many of them have ended since.
int forget_ended(Submitted& submitted, const std::vector<model::Pair>& in_flight);

// Ends runs that no open experiment needs; the next reconcile() collects and charges them.
Result<> cancel_closed(Context& context, Submitted& submitted, const Say& say);

}  // namespace amdahl::app
