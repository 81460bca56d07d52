// simulate.h: runs the loop on a simulated fleet with known effects; noise may come from a ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "sim/tables.h"

namespace amdahl::app {

struct SimulateQuestion {
  std::vector<std::string> tables;  // Empty: campaign and decisions.
  std::uint64_t seed = 1;
  int size = 0;          // Hypotheses or repetitions; 0: the table's default.
  std::string scenario;  // Noise scenario; empty: the table's own.
  std::string only;      // One policy of the tables that compare policies.
  int threads = 0;       // 0: one per CPU.
  bool canary = false;   // Watch promotions in production.
};

struct SimulateAnswer {
  std::vector<sim::Table> tables;
  std::vector<std::string> fitted;  // What was fitted to the ledger, from how many pairs.
  bool interrupted = false;         // The tables have what was done until then.
};

// kBadInput lists what is allowed. `ledger` may be null; else noise, failures, order effect, cost
// and win rate are fitted to it where it has enough data. `going_on` gets the current table and
// its finished share; false stops.
Result<SimulateAnswer> simulate(Context* ledger, const SimulateQuestion& question,
                                const std::function<bool(std::string_view, double)>& going_on);

}  // namespace amdahl::app
