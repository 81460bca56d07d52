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

// Takes the lease. Reuses pairs of the same stack from an interrupted call, so a second call
// resumes. kBadInput if nothing was promoted.
Result<model::StackResult> measure_stack(Context& context, const std::string& family,
                                         const StackOptions& options);

// Original and current cost from the pairs of the latest measurement; runs nothing.
Result<std::vector<model::StackResult>> latest_stacks(Context& context);

}  // namespace amdahl::app
