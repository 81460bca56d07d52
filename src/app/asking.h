// asking.h: questions to models: reserved in the ledger, asked by a worker, collected later.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "agent/agent.h"
#include "app/context.h"
#include "app/reconcile.h"
#include "app/snapshot.h"
#include "base/result.h"

namespace amdahl::app {

// The models that the configuration names, cheapest first; none: models are off. kBadInput for an
// unknown runtime, and for a model without a price.
Result<std::vector<agent::Runtime>> models_of(const Config& config);

// Settles questions in flight. An answer and its ideas go to the ledger in one transaction; a
// worker that never started is started again; a question whose worker died is charged in full.
// Returns how many were settled.
Result<int> collect_answers(Context& context, std::int64_t fence, const Say& say);

struct AskLimits {
  double usd_left = 0;         // What the cycle may still spend; reservations are subtracted.
  bool out_of_budget = false;  // A question was refused: no money or tokens are left.
  std::set<std::string> without_texts{};  // Families that no document fits.
};
// Asks about families that have nothing left to test. Returns how many questions were reserved.
Result<int> ask_models(Context& context, const Snapshot& snapshot, std::int64_t fence,
                       AskLimits& limits, const Say& say);

// The body of the worker (`amdahl exec --ask DIR`): asks once, whatever happens, and leaves
// reply.json. Returns without an error if another worker has or had the claim.
Result<> run_ask(const std::string& folder);

}  // namespace amdahl::app
