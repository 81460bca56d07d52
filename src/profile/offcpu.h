// offcpu.h: what the threads of a job waited for into evidence and causes.
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

inline constexpr double kManyWakeups = 2000;  // A second; a quiet PyTorch job has 40.

// One role's threads together. Times are sums over them.
struct RoleWaits {
  Role role = Role::kHelper;
  int threads = 0;
  int at_once = 0;  // The most of them that lived at one time.
  double life_s = 0;
  double running_s = 0;
  double runqueue_s = 0;
  double preempted_s = 0;
  std::array<double, model::kWaits> blocked_s{};
  double wakeups = 0;
  double preemptions = 0;
  double syscalls = -1;       // -1: not counted.
  double until_loader_s = 0;  // Blocked until a loader woke it; likewise a thread of the pool.
  double until_pool_s = 0;
  double until_other_s = 0;  // Likewise a thread of the job that plays neither of these parts.

  double blocked(model::Wait wait) const { return blocked_s[static_cast<std::size_t>(wait)]; }
};

// Whether a backward pass that blocks waits for other ranks: there are several, and none has
// threads of autograd's own, which are there where the work is a device's.
bool exchanges_gradients(const model::BpfSummary& summary);

// In the order of Role, those that somebody plays.
std::vector<RoleWaits> waits_by_role(const model::BpfSummary& summary);

// Evidence "waits.…" of docs/format/evidence.md, and causes with their share of the wall time; the
// step thread's waits alone make causes, because nobody loses time when an idle thread waits.
// `hooked`: the process that the PyTorch hook tells of; 0 if of none. `scripts`: shell scripts of
// the job.
Facts facts_of(const model::BpfSummary& summary, std::int64_t hooked = 0,
               std::span<const code::Source> scripts = {});

// A place where threads waited for one reason.
struct WaitPlace {
  std::string reason;  // "futex".
  std::int64_t count = 0;
  double seconds = 0;
  double longest_s = 0;
  std::optional<StackLine> line;  // The innermost of the job's own source.
  std::string stack;  // "job.py:12 (load) < job.py:30 (main)", or names of functions; may be empty.
  bool is_loading = false;     // Of modules and libraries, not of data.
  bool is_collective = false;  // Of ranks that work together.

  friend bool operator==(const WaitPlace&, const WaitPlace&) = default;
};

// Where the threads of one role waited longest; stacks that read the same are one place. Names are
// cut to a width that people can read.
std::vector<WaitPlace> places_of(const model::BpfSummary& summary, Role role, std::size_t most);
// "1.2 s in 40 futex waits: wait_for_item < main < _start".
std::string show(const WaitPlace& place);

// Who woke whom, by the names of threads.
struct WakeRow {
  std::int64_t waker = 0;  // 0: a timer, a device, or somebody outside the job.
  std::int64_t wakee = 0;
  std::string waker_name;
  std::string wakee_name;
  std::int64_t count = 0;
  double blocked_s = 0;  // How long the wakee had been blocked then.
};

// The whole of what was seen, as people and programs read it.
struct WaitsReport {
  std::string collector;  // "bpf", or "proc" and why not.
  std::string why_not;
  double wall_s = 0;
  double collector_cpu_s = 0;
  double sample_every_s = 0;  // Of "proc".
  std::vector<RoleWaits> roles;
  std::vector<WaitPlace> places;  // Of the step threads.
  std::vector<LineCost> lines;    // Of the job's own, that the step threads spent most time in.
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
