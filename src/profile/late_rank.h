// late_rank.h: what the rank does that the others wait for.
#pragma once

#include <optional>

#include "model/bpf.h"
#include "profile/wait_lines.h"

namespace amdahl::profile {

struct LateLine {
  StackLine line;
  double seconds = 0;  // More than the other ranks' average.
};

// The others wait for the rank that waits least in collectives. Returns the job's line on which
// that rank spent most time beyond the others, if it explains a good part of their waiting.
// Nothing for a single rank.
std::optional<LateLine> late_line(const model::BpfSummary& summary);

}  // namespace amdahl::profile
