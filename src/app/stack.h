// stack.h: measures a family's promoted changes together against the original.
#pragma once

#include <functional>
#include <string>

#include "app/context.h"
#include "app/reconcile.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct StackOptions {
  int pairs = 6;
  Say say;
  std::function<bool()> stopped;
};

// Two arms that are compared outside of any experiment. `aim` names the question: its earlier pairs
// count, so that an interrupted call is resumed.
struct Arms {
  model::Aim aim;
  model::Change a;
  model::Change b;
};

// The good pairs, once there are as many as asked for, or too many were void. Takes the lease.
Result<std::vector<model::Pair>> run_arms(Context& context, const ledger::Family& family,
                                          const Arms& arms, const StackOptions& options);

// Names a question about two arms of the family by the plan of the second.
Result<model::Aim> aim_at(const ledger::Family& family, const model::Change& b);

// Takes the lease. Reuses pairs of the same stack from an interrupted call, so a second call
// resumes. kBadInput if nothing was promoted.
Result<model::StackResult> measure_stack(Context& context, const std::string& family,
                                         const StackOptions& options);

// Original and current cost from the pairs of the latest measurement; runs nothing.
Result<std::vector<model::StackResult>> latest_stacks(Context& context);

}  // namespace amdahl::app
