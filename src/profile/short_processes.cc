#include "profile/short_processes.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/causes.h"

namespace amdahl::profile {
namespace {

using model::TaskWaits;

constexpr std::size_t kMany = 50;
constexpr Nanos kShort = std::chrono::milliseconds(50);  // To start a small program takes 1 ms.

// The time in which any of them lived.
Nanos lived(std::vector<const TaskWaits*> tasks) {
  std::ranges::sort(tasks, {}, [](const TaskWaits* task) { return task->born; });
  Nanos sum{};
  Nanos until{};
  for (const TaskWaits* task : tasks) {
    sum += std::max(Nanos{}, task->died - std::max(task->born, until));
    until = std::max(until, task->died);
  }
  return sum;
}

std::string usual_name(const std::vector<const TaskWaits*>& tasks) {
  std::map<std::string, int> count;
  for (const TaskWaits* task : tasks) ++count[task->name];
  return std::ranges::max_element(count, {}, [](const auto& row) { return row.second; })->first;
}

}  // namespace

std::optional<model::Cause> short_processes(const model::BpfSummary& summary) {
  std::map<std::int64_t, std::vector<const TaskWaits*>> started;  // By who did.
  std::map<std::int64_t, std::string> names;
  for (const TaskWaits& task : summary.tasks) {
    if (task.tid != task.process) continue;
    names[task.process] = task.name;
    if (task.life() < kShort) started[task.parent].push_back(&task);
  }
  model::Cause cause;
  const double wall = to_seconds(summary.wall);
  for (const auto& [parent, tasks] : started) {
    const double seconds = to_seconds(lived(tasks));
    const bool is_known = names.contains(parent) && wall > 0;
    if (tasks.size() < kMany || !is_known || seconds / wall <= cause.share) continue;
    cause.share = std::min(1.0, seconds / wall);
    cause.because = fmt::format(
        "{} started {} processes that hardly lived, mostly {}: {} s of {} s, {} ms each",
        names[parent], tasks.size(), usual_name(tasks), show_number(seconds), show_number(wall),
        show_number(1000 * seconds / static_cast<double>(tasks.size())));
  }
  if (cause.share < kSmallestCause) return std::nullopt;
  cause.name = "starting processes";
  cause.bottleneck = model::Bottleneck::kSerial;
  return cause;
}

}  // namespace amdahl::profile
