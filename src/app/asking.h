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

// The models that the configuration names, cheapest first; none: models are off. kBadInput for a
// runtime that there is not, and for one without a price.
Result<std::vector<agent::Runtime>> models_of(const Config& config);

// What became of the questions in flight: answers go to the ledger with the ideas they bring, in
// one transaction; a worker that never began is started again, one that died is charged for all it
// had reserved. Returns how many were settled.
Result<int> collect_answers(Context& context, std::int64_t fence, const Say& say);

struct AskLimits {
  double usd_left = 0;                    // Of the cycle; what is reserved is taken off.
  bool out_of_budget = false;             // A question was refused for want of money or tokens.
  std::set<std::string> without_texts{};  // Families that no document fits.
};
// Asks about families that have nothing left to test. Returns how many questions were reserved.
Result<int> ask_models(Context& context, const Snapshot& snapshot, std::int64_t fence,
                       AskLimits& limits, const Say& say);

// The body of the worker (`amdahl exec --ask DIR`): asks once, whatever happens, and leaves
// reply.json. Returns without an error if another worker has or had the claim.
Result<> run_ask(const std::string& folder);

}  // namespace amdahl::app
