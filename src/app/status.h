// status.h: the state of the loop, from maintained projections: cheap for any ledger size.
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
  std::optional<ledger::Choice> choice{};  // The last scan's choice of what to work on.
  std::optional<ledger::LeaseInfo> lease{};
  std::vector<ledger::GateRow> pending{};
  std::vector<ledger::CanaryRow> rollbacks{};  // Proposed by canaries.
  double e_needed = 0;                         // For the next promotion of the campaign.
};

Result<Status> read_status(Context& context);

// Accelerator-hours per day that would be saved if each family's best idea under test keeps its
// promise. Ideas of one family are not added up, since they may address the same cause.
double under_test(const Status& status);

// An experiment that is paused because it promises too little, and what would settle it.
struct Parked {
  model::Comparison comparison;
  double e_better = 1;
  double e_no_effect = 1;
  double e_asked = 20;      // For either answer.
  int pairs_to_settle = 0;  // Expected number.
};
Parked parked_of(const loop::Experiments& experiments, const loop::ExperimentState& x);

// Parked experiments, by hypothesis.
Result<std::map<std::string, Parked>> parked(Context& context);

}  // namespace amdahl::app
