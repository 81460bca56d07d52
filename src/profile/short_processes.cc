#include "profile/short_processes.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "code/script.h"
#include "profile/cause_kinds.h"
#include "profile/causes.h"

namespace amdahl::profile {
namespace {

using model::TaskWaits;

constexpr std::size_t kMany = 50;
constexpr std::size_t kShownLines = 3;
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

// By one process.
struct Started {
  std::string by;
  std::string mostly;
  std::size_t count = 0;
  double seconds = 0;
};

std::optional<Started> most_started(const model::BpfSummary& summary) {
  std::map<std::int64_t, std::vector<const TaskWaits*>> started;  // By who did.
  std::map<std::int64_t, std::string> names;
  for (const TaskWaits& task : summary.tasks) {
    if (task.tid != task.process) continue;
    names[task.process] = task.name;
    if (task.life() < kShort) started[task.parent].push_back(&task);
  }
  std::optional<Started> most;
  for (const auto& [parent, tasks] : started) {
    const double seconds = to_seconds(lived(tasks));
    if (tasks.size() < kMany || !names.contains(parent)) continue;
    if (most && seconds <= most->seconds) continue;
    most = Started{names[parent], usual_name(tasks), tasks.size(), seconds};
  }
  const bool counts = most && most->seconds >= kSmallestCause * to_seconds(summary.wall);
  return counts && summary.wall > Nanos{} ? most : std::nullopt;
}

// " (run.sh:4, run.sh:9)".
std::string where(std::span<const code::Source> scripts, const std::string& program) {
  std::vector<std::string> lines;
  for (const code::Source& script : scripts) {
    for (const int line : code::lines_naming(script.bytes, program)) {
      lines.push_back(fmt::format("{}:{}", script.path, line));
    }
  }
  if (lines.empty()) return "";
  lines.resize(std::min(lines.size(), kShownLines));
  return fmt::format(" ({})", join(lines, ", "));
}

}  // namespace

std::optional<model::Cause> short_processes(const model::BpfSummary& summary,
                                            std::span<const code::Source> scripts) {
  const auto most = most_started(summary);
  if (!most) return std::nullopt;
  const double wall = to_seconds(summary.wall);
  model::Cause cause;
  cause.share = std::min(1.0, most->seconds / wall);
  cause.because = fmt::format("{} started {} short-lived processes, mostly {}{}: {} of {}, {} each",
                              most->by, most->count, most->mostly, where(scripts, most->mostly),
                              show_seconds(most->seconds), show_seconds(wall),
                              show_seconds(most->seconds / static_cast<double>(most->count)));
  set_kind(cause, causes::kProcesses);
  cause.bottleneck = model::Bottleneck::kSerial;
  return cause;
}

}  // namespace amdahl::profile
