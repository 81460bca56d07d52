// arms.h: the arms of a request, their order and their slots.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "launch/launcher.h"
#include "model/plan.h"
#include "model/receipt.h"

namespace amdahl::launch::local {

struct Arm {
  std::string name;         // "A" to "E"; also the folder's name.
  std::string label;        // In the receipt: the same, or "profile" or "steps".
  const model::Plan* plan;  // Points into the request.
  std::vector<int> cpus;    // At most those it pays for; empty: not pinned.
  int half = 0;             // For concurrent arms: which half of the slots and devices.
};

// In running order, or one per half. The error says what is wrong with the request.
Result<std::vector<Arm>> arms_of(const PairRequest& request);

// When a variant has cost so many times what the baseline did beside it that it cannot win: it is
// stopped then. Nothing for the baseline, and where the spec's limit comes first.
std::optional<Nanos> too_dear_after(const Arm& arm, AcceleratorSeconds baseline, Nanos time_limit);
// What its receipt says of that.
void say_too_dear(model::Receipt& receipt);

// The devices of the arm's half, out of `visible` (CUDA_VISIBLE_DEVICES) or all `count`: "2,3".
// Each half has `each`; the arm gets the first `wanted` of its half. Empty without GPUs, or if the
// job hides them.
Result<std::string> devices_for(const std::optional<std::string>& visible, int count, int half,
                                int each, int wanted);

}  // namespace amdahl::launch::local
