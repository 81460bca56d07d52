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
};

Result<Status> read_status(Context& context);

}  // namespace amdahl::app
