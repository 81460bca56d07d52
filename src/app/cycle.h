// cycle.h: one cycle of the loop: take the lease, collect, decide, submit; or repeat until idle.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "app/context.h"
#include "app/reconcile.h"
#include "base/result.h"
#include "base/units.h"

namespace amdahl::app {

// For a progress line.
struct Ticker {
  int in_flight = 0;
  int live = 0;  // Hypotheses queued or under test.
  int verdicts = 0;
  int promoted = 0;
  std::string doing;  // "offline-eval: 'larger batches', pair 7".
  Nanos elapsed{};
  std::optional<Nanos> left;  // Estimate.
};

struct CycleOptions {
  bool watch = false;             // Repeat until at rest (or until stop_after).
  std::string until = "settled";  // "settled", "first-win" or "never" (with watch).
  std::string family;             // Only this one; empty: all.
  // Nothing new is started after this time; runs in flight are awaited.
  std::optional<Nanos> time_limit;
  bool refresh = false;  // Profile every family again.
  Say say;               // One line per event.
  std::function<void(const Ticker&)> tick;
  std::function<bool()> stopped;  // ^C: finish the step, leave runs in flight, exit.
};

struct CycleSummary {
  int steps = 0;
  int ended_runs = 0;
  int submitted = 0;
  int asked = 0;    // Questions to models,
  int answers = 0;  // and those settled.
  int verdicts = 0;
  int promoted = 0;
  bool settled = false;  // Nothing is live and nothing is in flight.
  int waiting_at_gate = 0;
  int held = 0;
  int parked = 0;
  std::map<std::string, std::string> skipped{};  // Families that cannot continue, and why.
  std::string
      stopped_because;  // "budget", "time", "interrupted", "first win"; empty: nothing to do.
};

// kBusy if another cycle holds the lease. Everything it does is in the ledger when it returns.
Result<CycleSummary> run_cycle(Context& context, const CycleOptions& options);

}  // namespace amdahl::app
