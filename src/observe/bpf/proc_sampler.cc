#include "observe/bpf/proc_sampler.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/text.h"
#include "observe/bpf/reason.h"
#include "observe/proc.h"
#include "os/files.h"

namespace amdahl::observe {
namespace {

constexpr int kDeepest = 64;  // Generations.

// "running", else the system call's number and arguments; -1: in none.
model::Wait wait_of(std::string_view syscall, char state) {
#if defined(__x86_64__)
  const auto number = to_number<long>(trim(syscall).substr(0, trim(syscall).find(' ')));
  if (number) return static_cast<model::Wait>(reason_of(*number, state == 'D'));
#endif
  return state == 'D' ? model::Wait::kRead : model::Wait::kOther;
}

}  // namespace

void ProcSampler::look(Nanos now) {
  for (const pid_t root : roots_) look_at_process(root, now, 0);
}

void ProcSampler::look_at_process(pid_t process, Nanos now, int depth) {
  if (depth > kDeepest) return;
  const std::string folder = fmt::format("{}/{}/task", proc_root_, process);
  for (const std::string& name : os::list(folder)) {
    const auto tid = to_number<pid_t>(name);
    if (!tid) continue;
    look_at_task(process, *tid, now);
    const auto children = os::read_file(folder + "/" + name + "/children");
    if (!children) continue;
    for (const std::string_view word : words_in(trim(*children))) {
      if (const auto child = to_number<pid_t>(word)) look_at_process(*child, now, depth + 1);
    }
  }
}

void ProcSampler::look_at_task(pid_t process, pid_t tid, Nanos now) {
  const std::string folder = fmt::format("{}/{}/task/{}", proc_root_, process, tid);
  const auto line = os::read_file(folder + "/stat");
  const auto stat = line ? parse_process_stat(*line) : std::nullopt;
  if (!stat) return;
  const char state = stat->state;
  const auto times = os::read_file(folder + "/schedstat");
  if (!times) return;
  const auto numbers = words_in(trim(*times));
  if (numbers.size() < 3) return;
  const Nanos cpu{to_number<std::int64_t>(numbers[0]).value_or(0)};
  const Nanos delay{to_number<std::int64_t>(numbers[1]).value_or(0)};
  const auto [at, is_new] = tasks_.try_emplace(tid);
  Task& task = at->second;
  if (is_new) {
    task.seen.tid = tid;
    task.seen.process = process;
    task.seen.parent = stat->parent;
    // It is at least as old as the time it has used.
    task.seen.born = std::max(Nanos{}, now - cpu - delay);
    const Nanos old = cpu + delay - now;
    if (old > Nanos{}) task.cpu_before = std::min(cpu, old);
    if (old > Nanos{}) task.delay_before = std::max(Nanos{}, old - task.cpu_before);
  }
  task.seen.running = cpu - task.cpu_before;
  task.seen.runqueue = delay - task.delay_before;
  task.seen.runqueue_waits = to_number<std::int64_t>(numbers[2]).value_or(0);
  task.seen.died = now;
  const auto name = os::read_file(folder + "/comm");
  if (name) task.seen.name = trim(*name);
  if (state != 'S' && state != 'D') return;
  const auto syscall = os::read_file(folder + "/syscall");
  const model::Wait wait = wait_of(syscall ? std::string_view(*syscall) : "", state);
  ++task.found[static_cast<std::size_t>(wait)];
}

std::vector<model::TaskWaits> ProcSampler::finish() const {
  std::vector<model::TaskWaits> made;
  for (const auto& [tid, task] : tasks_) {
    model::TaskWaits waits = task.seen;
    const Nanos rest = std::max(Nanos{}, waits.life() - waits.running - waits.runqueue);
    std::int64_t looks = 0;
    for (const std::int64_t found : task.found) looks += found;
    if (looks == 0) {
      waits.blocked[static_cast<std::size_t>(model::Wait::kOther)] = rest;
    }
    for (std::size_t i = 0; i < model::kWaits && looks > 0; ++i) {
      const double share = static_cast<double>(task.found[i]) / static_cast<double>(looks);
      waits.blocked[i] = from_seconds(to_seconds(rest) * share);
      waits.blocks[i] = task.found[i];
    }
    made.push_back(std::move(waits));
  }
  std::ranges::stable_sort(made, {}, &model::TaskWaits::born);
  return made;
}

}  // namespace amdahl::observe
