// verdict.h: verdicts, made in one place. For this folder, and for ideas that never came to a test.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loop/effects.h"
#include "model/hypothesis.h"

namespace amdahl::loop {

Judged judged(const model::Hypothesis& hypothesis, const std::string& experiment,
              model::VerdictKind kind, const std::string& reason,
              std::optional<model::Comparison> comparison, Nanos now);

// An idea that is not worth a test, and why.
Judged dropped(const model::Hypothesis& idea, const std::string& reason, Nanos now);

// Queued ideas from an earlier profile that the new profile does not support: they are not tested.
// Ideas are matched by key.
std::vector<Judged> withdrawn(std::span<const model::Hypothesis> waiting,
                              std::span<const model::Hypothesis> carried, Nanos now);

}  // namespace amdahl::loop
