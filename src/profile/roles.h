// roles.h: which part the threads of a job play, by their names, their families and their waits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/bpf.h"

namespace amdahl::profile {

enum class Role : std::uint8_t {
  kStep,      // Runs the steps: the main thread of a rank.
  kPool,      // Computes with it.
  kLoader,    // Makes its input.
  kHelper,    // Idle, or none of these.
  kLauncher,  // Waits for the rest.
};
std::string_view name(Role role);  // "step", …

// Whether the thread is the hook's own, which looks at lines: no part of the job.
bool is_hooks(const model::TaskWaits& task);

// One for each task. A process that started the one that was seen to run steps and then waited,
// that mostly waits for children or sleeps while what it executed works, or that only the ends of
// what it executed wake, is a launcher, and its busy children are the ranks. So is all that a rank
// started and that ended before it executed its program: a shim's. Of a rank that thread runs the
// steps which was seen to, else the first, or where that only waits for others, the busiest one.
// Forked children are loaders, others if they wake it, and threads that it starves for; threads
// that wait in futexes and compute are its pool.
std::vector<Role> roles_of(const model::BpfSummary& summary);

}  // namespace amdahl::profile
