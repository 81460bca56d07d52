// simulate.h: the loop on a fleet whose truth we chose; its noise may be that of your own ledger.
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
  int size = 0;          // Hypotheses or repetitions; 0: each table's own.
  std::string scenario;  // Of the noise; empty: as each table has it.
  std::string only;      // A policy of the tables that compare them.
  int threads = 0;       // 0: one for each CPU.
  bool canary = false;   // Watch what is promoted in production.
};

struct SimulateAnswer {
  std::vector<sim::Table> tables;
  std::vector<std::string> fitted;  // What was taken from the ledger, from how many pairs.
  bool interrupted = false;         // What was done until then is in the tables.
};

// kBadInput names what there is. `ledger` may be null; else noise, failures, order effect, cost
// and win rate are fitted to it, each only where it has enough to say. `going_on` is told which
// table is at work and the share of it that is done; false stops.
Result<SimulateAnswer> simulate(Context* ledger, const SimulateQuestion& question,
                                const std::function<bool(std::string_view, double)>& going_on);

}  // namespace amdahl::app
