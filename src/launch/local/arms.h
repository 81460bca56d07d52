// arms.h: which arms a request asks for, in which order and on which slots.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/launcher.h"
#include "model/plan.h"

namespace amdahl::launch::local {

struct Arm {
  std::string name;         // "A" to "E": the folder's name.
  std::string label;        // In the receipt: the same, or "profile" or "steps".
  const model::Plan* plan;  // As asked for; the request's.
  std::vector<int> cpus;    // No more than it pays for; empty: not pinned.
  int half = 0;             // Of arms that run at once: which half of the slots and devices.
};

// In the order in which they run, or one per half. The error is what is wrong with the request.
Result<std::vector<Arm>> arms_of(const PairRequest& request);

// The devices of the arm's half, of those in `visible` (CUDA_VISIBLE_DEVICES) or else of all
// `count`: "2,3". Each half has `each`, the arm gets the first `wanted` of its own. Empty where
// there are no GPUs or the job hides them.
Result<std::string> devices_for(const std::optional<std::string>& visible, int count, int half,
                                int each, int wanted);

}  // namespace amdahl::launch::local
