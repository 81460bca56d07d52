// pipeline_replay.h: the steps of a pipeline again, with operations of other lengths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profile/pipeline_graph.h"

namespace amdahl::profile {

// Lanes are replicas of steps, those of a step side by side. Lengths are in nanoseconds.
struct ReplaySize {
  std::size_t steps = 0;
  std::size_t replicas = 0;

  std::size_t lanes() const { return steps * replicas; }
};

// The lengths of an operation in all lanes.
using Lengths = std::function<std::span<const std::int64_t>(std::uint32_t op)>;

// How long each step takes if every operation starts as soon as it can. `ops` is their number.
std::vector<std::int64_t> replay(std::span<const PipelineNode> nodes, std::size_t ops,
                                 ReplaySize size, const Lengths& lengths);

}  // namespace amdahl::profile
