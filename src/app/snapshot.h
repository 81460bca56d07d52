// snapshot.h: what the ledger knows, as the loop needs it. Reads only what is live.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/context.h"
#include "app/evidence.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "loop/next.h"

namespace amdahl::app {

struct Snapshot {
  loop::State state;
  std::vector<ledger::Run> in_flight;
  std::map<std::string, ledger::Family> families;
  std::map<std::string, ledger::ExperimentRow> experiments;
  std::map<std::string, ledger::HypothesisRow> hypotheses;  // Live ones.
};

struct SnapshotOptions {
  Nanos profiles_not_before{};  // Older profiles count as absent (a cycle with --refresh).
};

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options = {});

// ln(K/(alpha (D+1))) of the open campaign, or of the configuration's if none is open yet.
Result<double> promotion_threshold(Context& context);

}  // namespace amdahl::app
