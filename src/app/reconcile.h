// reconcile.h: finds out what became of every run in flight, and writes it down.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/context.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

using Say = std::function<void(const std::string&)>;

// What this process has done about a run in flight; a cold cycle starts empty.
struct Handing {
  Nanos last{};   // When it was last handed to the launcher,
  int times = 0;  // and how often.
  bool cancelled = false;
  bool killed = false;
  std::string said{};  // Why its state is unknown, said once.
};
using Submitted = std::map<std::string, Handing>;

// Adopts, collects and voids; ends what is over its deadline, and charges for what left no receipt.
// Returns how many runs ended. What is wrong with one run voids it and stops no other: errors are
// the ledger's.
Result<int> reconcile(Context& context, Submitted& submitted, std::int64_t fence, const Say& say);

// Ends runs that no open experiment waits for; the next reconcile() collects and charges them.
Result<> cancel_closed(Context& context, Submitted& submitted, const Say& say);

}  // namespace amdahl::app
