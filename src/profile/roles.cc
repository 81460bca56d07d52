#include "profile/roles.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::BpfSummary;
using model::TaskWaits;
using model::Wait;

constexpr double kMostlyWaits = 0.8;    // Of its life: a launcher.
constexpr double kOneWait = 0.4;        // Of its life, in one wait: likewise.
constexpr double kAsBusy = 0.5;         // Of the busiest child's tree: another rank.
constexpr double kStarved = 0.3;        // Of the wall time that the step thread waited for it.
constexpr double kLives = 0.2;          // Of the process: one that runs the steps.
constexpr double kIdleLeader = 0.02;    // Of its life on a CPU: it leaves the steps to others.
constexpr double kPoolComputes = 0.01;  // Of the wall time on a CPU; else it is idle.
constexpr double kPoolFutex = 0.8;      // Of its blocked time.
constexpr double kWakesEnough = 0.01;   // Of the wall time that the step thread waited for it.
constexpr std::int64_t kEndWakes = 5;   // Of a child, at its start and its end; a loader has more.
constexpr int kDeepestTree = 16;

constexpr std::string_view kLoaderWords[] = {"load", "decode", "prefetch", "reader", "data", "pin"};

double blocked(const TaskWaits& task) {
  double sum = 0;
  for (const Nanos time : task.blocked) sum += to_seconds(time);
  return sum;
}

struct Process {
  std::int64_t id = 0;
  std::int64_t parent = 0;
  std::vector<std::size_t> tasks;  // By birth.
  std::size_t leader = 0;
  bool executed = false;
  double running = 0;
  std::vector<std::int64_t> children;
};

class Family {
 public:
  explicit Family(const BpfSummary& summary) : summary_{summary} {
    for (std::size_t i = 0; i < summary.tasks.size(); ++i) add(i);
    for (const auto& [id, process] : processes_) {
      const auto parent = processes_.find(process.parent);
      if (parent != processes_.end() && process.parent != id) {
        parent->second.children.push_back(id);
      }
    }
  }

  // The processes that run steps, found from the oldest down.
  std::vector<std::int64_t> ranks() {
    if (summary_.tasks.empty()) return {};
    std::vector<std::int64_t> found;
    descend(summary_.tasks.front().process, 0, found);
    return found;
  }
  const std::set<std::int64_t>& launchers() const { return launchers_; }
  const Process& process(std::int64_t id) const { return processes_.at(id); }

  std::size_t step_task(const Process& process) const {
    const TaskWaits& leader = summary_.tasks[process.leader];
    for (const std::size_t task : process.tasks) {
      const TaskWaits& thread = summary_.tasks[task];
      const bool was_seen =
          process.id == summary_.stepping && thread.tid == summary_.stepping_thread;
      // A server may have a thread for each request: one that is gone soon stands for none.
      if (was_seen && to_seconds(thread.life()) >= kLives * to_seconds(leader.life())) return task;
    }
    const double futex = to_seconds(leader.blocked_in(Wait::kFutex));
    if (to_seconds(leader.running) >= kIdleLeader * to_seconds(leader.life()) ||
        futex < kMostlyWaits * to_seconds(leader.life())) {
      return process.leader;
    }
    return *std::ranges::max_element(
        process.tasks, {}, [&](std::size_t task) { return summary_.tasks[task].running; });
  }

 private:
  void add(std::size_t index) {
    const TaskWaits& task = summary_.tasks[index];
    if (is_hooks(task)) return;
    const auto [at, is_new] = processes_.try_emplace(task.process);
    Process& process = at->second;
    process.tasks.push_back(index);
    process.running += to_seconds(task.running);
    if (is_new || task.tid == task.process) {
      process.id = task.process;
      process.parent = task.parent;
      process.leader = index;
      process.executed = task.executed;
    }
  }

  double tree_running(std::int64_t id, int depth) const {
    const Process& process = processes_.at(id);
    double sum = process.running;
    if (depth >= kDeepestTree) return sum;
    for (const std::int64_t child : process.children) sum += tree_running(child, depth + 1);
    return sum;
  }

  bool is_launcher(const Process& process) const {
    const TaskWaits& leader = summary_.tasks[process.leader];
    if (process.id == summary_.stepping) return false;
    if (leaves_steps(process, leader)) return true;
    const double idle =
        to_seconds(leader.blocked_in(Wait::kChild)) + to_seconds(leader.blocked_in(Wait::kSleep));
    // Who waits for the end of its children takes nothing from them while they work.
    const double ends = to_seconds(leader.blocked_in(Wait::kChild));
    if (!process.children.empty() && ends > 0 && ends >= kMostlyWaits * to_seconds(leader.life())) {
      return true;
    }
    if (awaits_ends(process, leader) || waits_once(process, leader)) return true;
    const bool has_executed = std::ranges::any_of(
        process.children, [&](std::int64_t child) { return processes_.at(child).executed; });
    return has_executed && idle >= kMostlyWaits * to_seconds(leader.life()) && idle > 0;
  }

  // Whether it started the process that was seen to run steps, however it did, and since then
  // waited for the most part: torch.multiprocessing forks its ranks if asked to.
  bool leaves_steps(const Process& process, const TaskWaits& leader) const {
    const auto steps = processes_.find(summary_.stepping);
    if (steps == processes_.end() || !is_above(process.id, steps->second)) return false;
    const Nanos since = leader.died - process_leader(steps->first).born;
    return blocked(leader) >= kMostlyWaits * to_seconds(since);
  }

  bool is_above(std::int64_t id, const Process& process) const {
    const Process* at = &process;
    for (int depth = 0; depth < kDeepestTree && at->parent != at->id; ++depth) {
      if (at->parent == id) return true;
      const auto parent = processes_.find(at->parent);
      if (parent == processes_.end()) return false;
      at = &parent->second;
    }
    return false;
  }

  // Whether, once the last of the programs it started ran, it waited for nothing but that they end,
  // in whatever system call: torch.multiprocessing.spawn polls a file of each.
  bool awaits_ends(const Process& process, const TaskWaits& leader) const {
    double waited = 0;
    std::int64_t times = 0;
    std::set<std::int64_t> ended;
    Nanos begun{};
    for (const model::Wakes& row : summary_.wakes) {
      if (row.wakee != leader.tid) continue;
      const auto waker = std::ranges::find(summary_.tasks, row.waker, &TaskWaits::tid);
      if (waker == summary_.tasks.end()) continue;
      const auto other = processes_.find(waker->process);
      if (other == processes_.end() || other->second.parent != process.id) continue;
      if (!other->second.executed) continue;
      waited += to_seconds(row.blocked);
      times += row.count;
      ended.insert(other->first);
      begun = std::max(begun, summary_.tasks[other->second.leader].born);
    }
    return !ended.empty() && times <= kEndWakes * std::ssize(ended) &&
           waited >= kMostlyWaits * to_seconds(leader.died - begun);
  }

  // The same in one wait, whoever ended it: what a child's end sets off is sometimes left to a
  // thread of the kernel.
  bool waits_once(const Process& process, const TaskWaits& leader) const {
    Nanos begun{-1};
    for (const std::int64_t child : process.children) {
      if (processes_.at(child).executed) begun = std::max(begun, process_leader(child).born);
    }
    if (begun < Nanos{}) return false;
    const double least = std::max(kMostlyWaits * to_seconds(leader.died - begun),
                                  kOneWait * to_seconds(leader.life()));
    return std::ranges::any_of(summary_.sites, [&](const model::WaitSite& site) {
      return site.tid == leader.tid && to_seconds(site.longest) >= least && least > 0;
    });
  }

  void descend(std::int64_t id, int depth, std::vector<std::int64_t>& found) {
    const Process& process = processes_.at(id);
    if (depth >= kDeepestTree || !is_launcher(process)) {
      found.push_back(id);
      return;
    }
    launchers_.insert(id);
    double most = 0;
    for (const std::int64_t child : process.children) {
      most = std::max(most, tree_running(child, depth));
    }
    std::vector<std::int64_t> busy;
    for (const std::int64_t child : process.children) {
      if (tree_running(child, depth) >= kAsBusy * most) busy.push_back(child);
    }
    // Those that run before or after them are the job's work as much as they are.
    for (const std::int64_t child : process.children) {
      const bool is_apart = std::ranges::none_of(
          busy, [&](std::int64_t other) { return overlap(process_leader(child), other); });
      if (is_apart || std::ranges::find(busy, child) != busy.end())
        descend(child, depth + 1, found);
    }
  }

  const TaskWaits& process_leader(std::int64_t id) const {
    return summary_.tasks[processes_.at(id).leader];
  }
  bool overlap(const TaskWaits& one, std::int64_t id) const {
    const TaskWaits& other = process_leader(id);
    return one.born < other.died && other.born < one.died;
  }

  const BpfSummary& summary_;
  std::map<std::int64_t, Process> processes_;
  std::set<std::int64_t> launchers_;
};

bool has_loader_name(const TaskWaits& task) {
  const std::string name = lower(task.name);
  return std::ranges::any_of(kLoaderWords,
                             [&](std::string_view word) { return name.find(word) != name.npos; });
}

// How long threads of a rank were blocked until this one woke them.
std::map<std::int64_t, double> waited_for(const BpfSummary& summary,
                                          const std::set<std::int64_t>& tids) {
  std::map<std::int64_t, double> sums;
  for (const model::Wakes& row : summary.wakes) {
    if (tids.contains(row.wakee)) sums[row.waker] += to_seconds(row.blocked);
  }
  return sums;
}

class Casting {
 public:
  Casting(const BpfSummary& summary, std::vector<Role>& roles)
      : summary_{summary}, roles_{roles}, family_{summary} {}

  void cast() {
    for (const std::int64_t rank : family_.ranks()) cast_rank(rank);
    for (const std::int64_t id : family_.launchers()) {
      for (const std::size_t task : family_.process(id).tasks) roles_[task] = Role::kLauncher;
    }
  }

 private:
  void cast_rank(std::int64_t id) {
    const Process& rank = family_.process(id);
    const std::size_t step = family_.step_task(rank);
    std::set<std::int64_t> tids;
    for (const std::size_t task : rank.tasks) tids.insert(summary_.tasks[task].tid);
    const auto waited = waited_for(summary_, tids);
    const double wall = to_seconds(summary_.wall);
    for (const std::size_t task : rank.tasks) {
      const TaskWaits& thread = summary_.tasks[task];
      const double futex = to_seconds(thread.blocked_in(Wait::kFutex));
      if (task == step) {
        roles_[task] = Role::kStep;
      } else if (task != rank.leader && (has_loader_name(thread) || feeds(thread, step))) {
        roles_[task] = Role::kLoader;
      } else if (task != rank.leader && to_seconds(thread.running) >= kPoolComputes * wall &&
                 futex >= kPoolFutex * blocked(thread)) {
        roles_[task] = Role::kPool;
      }
    }
    const Nanos program = summary_.tasks[rank.leader].executed_at;
    for (const std::int64_t child : rank.children) {
      const bool is_shims = summary_.tasks[family_.process(child).leader].died <= program;
      is_shims ? cast_shim(child, 0) : cast_child(child, waited, wall, 0);
    }
  }

  // Whether the step thread mostly waits for this one, and hardly ever sets it to work.
  bool feeds(const TaskWaits& thread, std::size_t step) const {
    const std::int64_t fed = summary_.tasks[step].tid;
    double waited = 0;
    std::int64_t there = 0;
    std::int64_t back = 0;
    for (const model::Wakes& row : summary_.wakes) {
      if (row.waker == thread.tid && row.wakee == fed) {
        waited += to_seconds(row.blocked);
        there += row.count;
      }
      if (row.waker == fed && row.wakee == thread.tid) back += row.count;
    }
    return there > kEndWakes && waited >= kStarved * to_seconds(summary_.wall) &&
           back <= there / 10;
  }

  void cast_shim(std::int64_t id, int depth) {
    const Process& process = family_.process(id);
    for (const std::size_t task : process.tasks) roles_[task] = Role::kLauncher;
    if (depth >= kDeepestTree) return;
    for (const std::int64_t child : process.children) cast_shim(child, depth + 1);
  }

  void cast_child(std::int64_t id, const std::map<std::int64_t, double>& waited, double wall,
                  int depth) {
    const Process& process = family_.process(id);
    double woke = 0;
    for (const std::size_t task : process.tasks) {
      const auto found = waited.find(summary_.tasks[task].tid);
      if (found != waited.end()) woke += found->second;
    }
    if (!process.executed || woke >= kWakesEnough * wall) {
      for (const std::size_t task : process.tasks) roles_[task] = Role::kLoader;
    }
    if (depth >= kDeepestTree) return;
    for (const std::int64_t child : process.children) cast_child(child, waited, wall, depth + 1);
  }

  const BpfSummary& summary_;
  std::vector<Role>& roles_;
  Family family_;
};

}  // namespace

bool is_hooks(const TaskWaits& task) { return task.name == "amdahl lines"; }

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 5> kNames = {"step", "pool", "loader", "helper",
                                                      "launcher"};
  return kNames[static_cast<std::size_t>(role)];
}

std::vector<Role> roles_of(const BpfSummary& summary) {
  std::vector<Role> roles(summary.tasks.size(), Role::kHelper);
  Casting(summary, roles).cast();
  return roles;
}

}  // namespace amdahl::profile
