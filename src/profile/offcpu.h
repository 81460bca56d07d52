// offcpu.h: turns the waits of a job's threads into evidence and causes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "code/source.h"
#include "model/bpf.h"
#include "profile/classify.h"
#include "profile/roles.h"
#include "profile/wait_lines.h"

namespace amdahl::profile {

inline constexpr double kManyWakeups = 2000;  // Per second; a quiet PyTorch job has 40.

// Threads of one role together; times are sums.
struct RoleWaits {
  Role role = Role::kHelper;
  int threads = 0;
  int at_once = 0;  // Maximum alive at the same time.
  double life_s = 0;
  double running_s = 0;
  double runqueue_s = 0;
  double preempted_s = 0;
  std::array<double, model::kWaits> blocked_s{};
  double wakeups = 0;
  double preemptions = 0;
  double syscalls = -1;       // -1: not counted.
  double until_loader_s = 0;  // Blocked until a loader woke it; the next one: a thread of the pool.
  double until_pool_s = 0;
  double until_other_s = 0;  // Blocked until any other thread of the job woke it.

  double blocked(model::Wait wait) const { return blocked_s[static_cast<std::size_t>(wait)]; }
};

// Whether a blocked backward pass waits for other ranks: true if there are several ranks and none
// has autograd threads of its own, which exist only if a device does the work.
bool exchanges_gradients(const model::BpfSummary& summary);

// Roles that occur, in the order of Role.
std::vector<RoleWaits> waits_by_role(const model::BpfSummary& summary);

// Evidence "waits.…" of docs/format/evidence.md, and causes with their share of the wall time.
// Only waits of the step thread become causes, because an idle thread that waits costs nothing.
// `hooked`: the process that the PyTorch hook observed; 0: none. `scripts`: shell scripts of the
// job.
Facts facts_of(const model::BpfSummary& summary, std::int64_t hooked = 0,
               std::span<const code::Source> scripts = {});

// A place where threads waited for one reason.
struct WaitPlace {
  std::string reason;  // "futex".
  std::int64_t count = 0;
  double seconds = 0;
  double longest_s = 0;
  std::optional<StackLine> line;  // The innermost of the job's own source.
  std::string stack;  // "job.py:12 (load) < job.py:30 (main)", or function names; may be empty.
  bool is_loading = false;     // Loads modules or libraries, not data.
  bool is_collective = false;  // Waits for other ranks in a collective.

  friend bool operator==(const WaitPlace&, const WaitPlace&) = default;
};

// Where the threads of one role waited longest. Stacks that look the same are one place. Names are
// shortened.
std::vector<WaitPlace> places_of(const model::BpfSummary& summary, Role role, std::size_t most);
// "1.2 s in 40 futex waits: wait_for_item < main < _start".
std::string show(const WaitPlace& place);

// Who woke whom, by thread name.
struct WakeRow {
  std::int64_t waker = 0;  // 0: a timer, a device, or a process outside the job.
  std::int64_t wakee = 0;
  std::string waker_name;
  std::string wakee_name;
  std::int64_t count = 0;
  double blocked_s = 0;  // Time that the wakee had been blocked.
};

// The whole summary, for people and programs.
struct WaitsReport {
  std::string collector;  // "bpf", or "proc" with the reason.
  std::string why_not;
  double wall_s = 0;
  double collector_cpu_s = 0;
  double sample_every_s = 0;  // Only for "proc".
  std::vector<RoleWaits> roles;
  std::vector<WaitPlace> places;  // Of the step threads.
  std::vector<LineCost> lines;    // The job's own lines on which step threads spent most time.
  std::vector<WakeRow> wakes;     // Longest time first.
  std::vector<model::DeviceIo> disks;
  std::int64_t lost_tasks = 0;
  std::int64_t lost_sites = 0;
  std::int64_t lost_events = 0;
  std::int64_t lost_wakes = 0;
  std::int64_t lost_samples = 0;
};
WaitsReport waits_report(const model::BpfSummary& summary);

}  // namespace amdahl::profile
