// late_rank.h: what the rank does that the others wait for.
#pragma once

#include <optional>

#include "model/bpf.h"
#include "profile/wait_lines.h"

namespace amdahl::profile {

struct LateLine {
  StackLine line;
  double seconds = 0;  // More than in the other ranks, on average.
};

// Who waits least in collectives is waited for. The line of the job's own that it spent most time
// in beyond the others, if that is a good part of what they waited longer; nothing of one rank.
std::optional<LateLine> late_line(const model::BpfSummary& summary);

}  // namespace amdahl::profile
