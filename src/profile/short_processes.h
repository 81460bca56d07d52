// short_processes.h: detects a job that starts one short program after another.
#pragma once

#include <optional>
#include <span>

#include "code/source.h"
#include "model/bpf.h"
#include "model/profile.h"

namespace amdahl::profile {

// The time in which many short-lived programs started by one process ran; overlaps count once.
// Nothing below 1 % of the wall time. `scripts`: shell scripts of the job; the cause names their
// lines that start the programs.
std::optional<model::Cause> short_processes(const model::BpfSummary& summary,
                                            std::span<const code::Source> scripts = {});

}  // namespace amdahl::profile
