// short_processes.h: a job that starts one short program after another.
#pragma once

#include <optional>
#include <span>

#include "code/source.h"
#include "model/bpf.h"
#include "model/profile.h"

namespace amdahl::profile {

// The time in which programs ran that one process started in great number and that hardly lived,
// counted once where they overlap. Nothing below a hundredth of the wall time. `scripts`: shell
// scripts of the job, whose lines are told that name what was started.
std::optional<model::Cause> short_processes(const model::BpfSummary& summary,
                                            std::span<const code::Source> scripts = {});

}  // namespace amdahl::profile
