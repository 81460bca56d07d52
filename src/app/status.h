// status.h: where the loop stands, from what every write keeps up: cheap however long the past.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/snapshot.h"
#include "base/result.h"
#include "ledger/event.h"
#include "ledger/ledger.h"

namespace amdahl::app {

struct Status {
  Snapshot snapshot;
  std::string state_dir{};
  std::map<std::string, std::int64_t> tallies{};
  std::vector<ledger::Budget> budgets{};
  std::optional<ledger::Campaign> campaign{};
  std::optional<ledger::Choice> choice{};  // What the last scan gave to work on next.
  std::optional<ledger::LeaseInfo> lease{};
  std::vector<ledger::GateRow> pending{};
  std::vector<ledger::CanaryRow> rollbacks{};  // That canaries propose.
  double e_needed = 0;                         // By the next promotion of the campaign.
};

Result<Status> read_status(Context& context);

// What could be saved if of each family the best of what is under test keeps its promise, in
// accelerator-hours a day: changes of one family are not added up, as they may act on one cause.
double under_test(const Status& status);

// An experiment with too little promise for more hours now, and what would settle it.
struct Parked {
  model::Comparison comparison;
  double e_better = 1;
  double e_no_effect = 1;
  double e_asked = 20;      // Of either.
  int pairs_to_settle = 0;  // That will probably do.
};
Parked parked_of(const loop::Experiments& experiments, const loop::ExperimentState& x);

// Those that are parked, by hypothesis.
Result<std::map<std::string, Parked>> parked(Context& context);

}  // namespace amdahl::app
