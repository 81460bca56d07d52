// judge.h: puts a claim before the panel and does what the panel says.
#pragma once

#include <string>

#include "app/context.h"
#include "app/snapshot.h"
#include "base/result.h"
#include "model/hypothesis.h"

namespace amdahl::app {

// Pre-registers: claim, sigma, delta, cap, seed and baseline are fixed here, before any pair.
// Opens the campaign if none is. Returns a sentence for the log.
Result<std::string> register_experiment(Context& context, const Snapshot& snapshot,
                                        const std::string& hypothesis, std::int64_t fence);

// All checks vote; the votes and what follows are recorded together. Opens the gate if the claim
// survives, and lets the configured policy decide.
Result<std::string> ask_panel(Context& context, const Snapshot& snapshot,
                              const std::string& experiment, std::int64_t fence);

Result<std::string> close_experiment(Context& context, const Snapshot& snapshot,
                                     const std::string& experiment, model::VerdictKind kind,
                                     const std::string& reason, std::int64_t fence);

}  // namespace amdahl::app
