// pipeline.h: jobs that train in pipeline stages: how much longer a step is than it would be if all
// operations of a kind took equally long, and which rank, stage or kind of operation does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

// What the steps of the job would be if only these operations took as long as they did, and all
// others of each kind equally long (compute: the mean of its kind, communication: the median).
struct Slowdown {
  std::string name;             // "forward-compute"; empty for a rank or stage.
  std::int32_t number = -1;     // Of the rank or stage.
  double factor = 1;            // Mean step by mean even step: 1.2 is a fifth longer.
  std::vector<double> by_step;  // The same of each step, in the order of Pipeline::steps.
};

struct PipelineStep {
  std::int64_t number = 0;
  Nanos measured{};   // From the first start to the last end of any worker.
  Nanos replayed{};   // With the recorded operations, each as soon as it can start.
  double factor = 1;  // Replayed by even.
};

struct StageMeans {
  Nanos forward{};  // Mean of its forward-compute operations; 0 without any.
  Nanos backward{};
};

struct Pipeline {
  std::int32_t replicas = 0;  // Data-parallel ranks, times ranks within a stage.
  std::int32_t stages = 0;
  std::uint64_t operations = 0;
  std::uint64_t steps_left_out = 0;  // Some of their operations are missing.
  std::vector<PipelineStep> steps;   // By number.
  Nanos measured{};                  // Means over steps.
  Nanos replayed{};
  Nanos even{};  // With all operations of a kind equally long.
  double slowdown = 1;
  double bubble = 0;  // Of the even step: a worker computes nothing, although none is slower.
  std::vector<Slowdown> by_kind;     // Slowest first. Sends and receives of one way are one kind.
  std::vector<Slowdown> by_stage;    // Likewise.
  std::vector<Slowdown> by_replica;  // Likewise; with by_step it is the heat map.
  std::vector<StageMeans> means;     // By stage.
  // How micro-batches' forward and backward times go together (-1 to 1), and how much forward times
  // vary within a worker (deviation by mean): long sequences make both long.
  double correlation = 0;
  double variation = 0;
  std::vector<std::string> advice;  // What explains most of the slowdown, and what to do.
};

// Nothing if the trace has no operations, or if they cannot be put in order; then `why` says why.
std::optional<Pipeline> pipeline(const model::Trace& trace, std::string& why);

}  // namespace amdahl::profile
