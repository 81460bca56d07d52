// tune_commit.h: a promoted injection as an edit of the source, tested against the injection.
#pragma once

#include <functional>
#include <string>

#include "app/context.h"
#include "app/stack.h"
#include "base/result.h"
#include "ledger/ledger.h"
#include "model/hypothesis.h"

namespace amdahl::app {

struct CommitTest {
  std::string patch;     // For `git apply`; empty if the fix has no mechanical edit here.
  bool is_same = false;  // It saves what the injection does, as far as its pairs tell.
  bool is_worse = false;
  std::string because;  // With the numbers.
};

// Pairs of the present baseline against the same with the edit in place of the injection; none if
// there is no edit, or if it was tested in an earlier call. `has_time`: for as many pairs again.
Result<CommitTest> test_commit(Context& context, const ledger::Family& family,
                               const model::Hypothesis& won, const StackOptions& options,
                               const std::function<bool()>& has_time);

}  // namespace amdahl::app
