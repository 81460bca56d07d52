// stack.h: a family's promoted changes re-measured together against the original.
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

// Takes the lease. Pairs of the same stack that an interrupted call left are used, so a second
// call goes on where it stopped. kBadInput if nothing has been promoted.
Result<model::StackResult> measure_stack(Context& context, const std::string& family,
                                         const StackOptions& options);

// Original and present cost from the pairs of the latest measurement; no run is spent.
Result<std::vector<model::StackResult>> latest_stacks(Context& context);

}  // namespace amdahl::app
