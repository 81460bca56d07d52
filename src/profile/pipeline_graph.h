// pipeline_graph.h: what an operation of a pipeline waits for, the same in each step and replica.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::profile {

// An operation of one replica in one step, as the first step shows it.
struct TemplateOp {
  std::string_view kind;
  std::int32_t stage = 0;
  std::int32_t chunk = -1;
  Nanos start{};
  Nanos duration{};

  Nanos end() const { return start + duration; }
};

// Operations that start together: alone, the two ends of a transfer, or a collective over stages.
struct PipelineNode {
  std::vector<std::uint32_t> ops{};
  std::vector<std::uint32_t>
      after{};                 // Operations that must have ended before any of `ops` starts.
  bool over_replicas = false;  // It also waits for the same operations of all replicas.
};

bool is_transfer(std::string_view kind);  // A send or receive between stages.
bool is_exchange(std::string_view kind);  // Any communication, transfers included.
bool is_pass(std::string_view kind);      // forward-compute, backward-compute.
// "forward-pp-comm" for sends and receives of forward passes; others are their own.
std::string_view kind_group(std::string_view kind);

// Nodes in an order in which each comes after all that it waits for. An error if sends and receives
// do not match or operations wait for each other in a circle.
Result<std::vector<PipelineNode>> pipeline_graph(std::span<const TemplateOp> ops);

}  // namespace amdahl::profile
