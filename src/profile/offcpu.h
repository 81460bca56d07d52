// offcpu.h: what the threads of a job waited for into evidence and causes.
#pragma once

#include <string>
#include <vector>

#include "model/bpf.h"
#include "profile/classify.h"
#include "profile/roles.h"

namespace amdahl::profile {

// One role's threads together. Times are sums over them.
struct RoleWaits {
  Role role = Role::kHelper;
  int threads = 0;
  double life_s = 0;
  double running_s = 0;
  double runqueue_s = 0;
  double preempted_s = 0;
  std::array<double, model::kWaits> blocked_s{};
  double wakeups = 0;
  double preemptions = 0;
  double until_loader_s = 0;  // Blocked until a loader woke it; likewise a thread of the pool.
  double until_pool_s = 0;

  double blocked(model::Wait wait) const { return blocked_s[static_cast<std::size_t>(wait)]; }
};

// In the order of Role, those that somebody plays.
std::vector<RoleWaits> waits_by_role(const model::BpfSummary& summary);

// Evidence "waits.…" of docs/format/evidence.md, and causes with their share of the wall time; the
// step thread's waits alone make causes, because nobody loses time when an idle thread waits.
Facts facts_of(const model::BpfSummary& summary);

// The places where the threads of one role waited longest: "1.2 s in 40 futex waits:
// wait_for_item < main < _start". Names are cut to a width that people can read.
std::vector<std::string> places_of(const model::BpfSummary& summary, Role role, std::size_t most);

}  // namespace amdahl::profile
