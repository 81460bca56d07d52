#include "profile/pipeline_replay.h"

#include <algorithm>

namespace amdahl::profile {
namespace {

void raise_to(std::span<std::int64_t> to, const std::int64_t* from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

// Each lane of a step gets the largest of the step.
void join_replicas(std::span<std::int64_t> lanes, std::size_t replicas) {
  for (std::size_t first = 0; first < lanes.size(); first += replicas) {
    const auto step = lanes.subspan(first, replicas);
    std::ranges::fill(step, *std::ranges::max_element(step));
  }
}

}  // namespace

std::vector<std::int64_t> replay(std::span<const PipelineNode> nodes, std::size_t ops,
                                 ReplaySize size, const Lengths& lengths) {
  const std::size_t lanes = size.lanes();
  std::vector<std::int64_t> ends(ops * lanes, 0);
  std::vector<std::int64_t> start(lanes);
  std::vector<std::int64_t> last(lanes, 0);
  for (const PipelineNode& node : nodes) {
    std::ranges::fill(start, 0);
    for (const std::uint32_t op : node.after) raise_to(start, ends.data() + op * lanes);
    if (node.over_replicas) join_replicas(start, size.replicas);
    for (const std::uint32_t op : node.ops) {
      const std::span<const std::int64_t> length = lengths(op);
      std::int64_t* const end = ends.data() + op * lanes;
      for (std::size_t i = 0; i < lanes; ++i) end[i] = start[i] + length[i];
      raise_to(last, end);
    }
  }
  std::vector<std::int64_t> steps(size.steps, 0);
  for (std::size_t i = 0; i < lanes; ++i) {
    std::int64_t& step = steps[i / size.replicas];
    step = std::max(step, last[i]);
  }
  return steps;
}

}  // namespace amdahl::profile
