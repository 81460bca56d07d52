// roles.h: the roles of a job's threads, from their names, parents and waits.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/bpf.h"

namespace amdahl::profile {

enum class Role : std::uint8_t {
  kStep,      // Runs the steps: main thread of a rank.
  kPool,      // Computes together with it.
  kLoader,    // Makes its input.
  kHelper,    // Idle, or none of these.
  kLauncher,  // Waits for the other processes.
};
std::string_view name(Role role);  // "step", …

// Whether the thread belongs to our hook, not to the job.
bool is_hooks(const model::TaskWaits& task);

// One role per task. A launcher is a process that started the one that ran steps and then waited,
// that mostly waits for children or sleeps while they work, or that is only woken when they end;
// its busy children are the ranks. Everything that a rank started and that ended before the rank
// called exec counts as launcher too (a shim). The step thread of a rank is the one that was seen
// to run steps; else the first thread; or the busiest one if the first only waits. Loaders are
// forked children, other processes that wake the step thread, and threads that it starves for.
// Threads that wait in futexes and compute are the pool.
std::vector<Role> roles_of(const model::BpfSummary& summary);

}  // namespace amdahl::profile
