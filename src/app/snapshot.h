// snapshot.h: what the ledger knows of all that is live, laid out on the loop's desk.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/context.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "loop/desk.h"

namespace amdahl::app {

struct Snapshot {
  loop::Desk desk;
  std::vector<ledger::Run> in_flight;
  std::map<std::string, ledger::Family> families;
};

struct SnapshotOptions {
  Nanos profiles_not_before{};  // Older profiles count as absent (a cycle with --refresh).
};

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options = {});

// A family's runs since `not_before`, and as far back as its last success, oldest first: a long
// history costs nothing.
Result<std::vector<ledger::Run>> recent_runs(Context& context, const std::string& family,
                                             const std::string& purpose, Nanos not_before);

}  // namespace amdahl::app
