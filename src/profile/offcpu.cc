#include "profile/offcpu.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using model::BpfSummary;
using model::Cause;
using model::TaskWaits;
using model::Wait;

constexpr double kSmallest = 0.01;     // Of the wall time: a cause.
constexpr double kManyWakeups = 2000;  // A second; a quiet PyTorch job has 40.
constexpr std::size_t kShownFrames = 6;
constexpr std::size_t kShownName = 60;

std::map<std::int64_t, Role> roles_by_tid(const BpfSummary& summary,
                                          const std::vector<Role>& roles) {
  std::map<std::int64_t, Role> found;
  for (std::size_t i = 0; i < roles.size(); ++i) found[summary.tasks[i].tid] = roles[i];
  return found;
}

void add(const TaskWaits& task, RoleWaits& sum) {
  ++sum.threads;
  sum.life_s += to_seconds(task.life());
  sum.running_s += to_seconds(task.running);
  sum.runqueue_s += to_seconds(task.runqueue);
  sum.preempted_s += to_seconds(task.preempted);
  for (std::size_t i = 0; i < model::kWaits; ++i) sum.blocked_s[i] += to_seconds(task.blocked[i]);
  sum.wakeups += static_cast<double>(task.wakeups);
  sum.preemptions += static_cast<double>(task.preemptions);
}

// The limit in microseconds that 95 % of the waits for a CPU stayed below.
std::optional<double> runqueue_p95(const BpfSummary& summary) {
  std::array<double, model::Log2Histogram{}.size()> sums{};
  double all = 0;
  for (const TaskWaits& task : summary.tasks) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += static_cast<double>(task.runqueue_histogram[i]);
      all += static_cast<double>(task.runqueue_histogram[i]);
    }
  }
  if (all <= 0) return std::nullopt;
  double below = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    below += sums[i];
    if (below >= 0.95 * all) return static_cast<double>(std::uint64_t{1} << i);
  }
  return std::nullopt;
}

void add_role(const RoleWaits& role, double wall, bool is_sampled, Facts& facts) {
  const std::string start = fmt::format("waits.{}.", name(role.role));
  const auto share = [&](std::string_view what, double seconds) {
    facts.evidence[fmt::format("{}{}_share", start, what)] = std::min(1.0, seconds / role.life_s);
  };
  facts.evidence[start + "threads"] = role.threads;
  share("running", role.running_s);
  share("runqueue", role.runqueue_s);
  share("preempted", role.preempted_s);
  for (std::size_t i = 0; i < model::kWaits; ++i) share(model::kWaitNames[i], role.blocked_s[i]);
  if (is_sampled) return;
  share("until_loader", role.until_loader_s);
  share("until_pool", role.until_pool_s);
  facts.evidence[start + "wakeups_per_s"] = role.wakeups / wall;
  facts.evidence[start + "preemptions_per_s"] = role.preemptions / wall;
}

void add_devices(const BpfSummary& summary, Facts& facts) {
  double reads = 0;
  double writes = 0;
  double read_s = 0;
  double write_s = 0;
  for (const model::DeviceIo& device : summary.devices) {
    reads += static_cast<double>(device.reads);
    writes += static_cast<double>(device.writes);
    read_s += to_seconds(device.read_time);
    write_s += to_seconds(device.write_time);
  }
  if (reads > 0) facts.evidence["waits.disk_read_ms"] = 1000 * read_s / reads;
  if (writes > 0) facts.evidence["waits.disk_write_ms"] = 1000 * write_s / writes;
}

// What the step thread waited for, as one cause.
struct Finding {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  std::string_view name;
  double seconds = 0;
  std::string numbers;
};

// Ranks work at the same time: a second that each of them waits is one second of the wall.
void keep(const Finding& finding, const RoleWaits& step, double wall, Facts& facts) {
  const double share = std::min(1.0, finding.seconds / (step.threads * wall));
  if (share < kSmallest) return;
  Cause cause;
  cause.name = finding.name;
  cause.bottleneck = finding.bottleneck;
  cause.share = share;
  cause.because =
      fmt::format("the step thread {} of {} s", finding.numbers, show_number(step.threads * wall));
  facts.causes.push_back(std::move(cause));
}

void conclude(const RoleWaits& step, double wall, bool is_sampled, Facts& facts) {
  const double disk = step.blocked(Wait::kRead) + step.blocked(Wait::kFault);
  keep({Bottleneck::kInput, "waiting for input", step.until_loader_s + disk,
        fmt::format("was blocked {} s until a loader woke it, {} s in reads from a disk and {} s "
                    "in page faults",
                    show_number(step.until_loader_s), show_number(step.blocked(Wait::kRead)),
                    show_number(step.blocked(Wait::kFault)))},
       step, wall, facts);
  const double device = step.blocked(Wait::kDevice);
  const double sync = step.blocked(Wait::kSync) + step.blocked(Wait::kWrite);
  keep({Bottleneck::kSync, device > sync ? "waiting for the device" : "waiting for written files",
        device + sync,
        fmt::format("was blocked {} s in a driver and {} s until files were on the disk",
                    show_number(device), show_number(sync))},
       step, wall, facts);
  keep({Bottleneck::kCommunication, "waiting for the network", step.blocked(Wait::kNet),
        fmt::format("was blocked {} s on sockets", show_number(step.blocked(Wait::kNet)))},
       step, wall, facts);
  keep({Bottleneck::kContention, "waiting for a CPU", step.runqueue_s + step.preempted_s,
        fmt::format("was ready {} s before it ran and preempted {} s, {:.0f} times",
                    show_number(step.runqueue_s), show_number(step.preempted_s), step.preemptions)},
       step, wall, facts);
  if (is_sampled || step.wakeups / wall <= kManyWakeups) return;
  // What the waker and the woken spend on it themselves is not seen: the wait for the pool is the
  // most that could go.
  keep({Bottleneck::kWakeups, "threads put to sleep and woken", step.until_pool_s,
        fmt::format("was woken {} times a second and blocked {} s until a thread of its pool woke "
                    "it",
                    show_number(step.wakeups / wall), show_number(step.until_pool_s))},
       step, wall, facts);
}

std::string shown(const model::WaitFrame& frame) {
  if (!frame.symbol.empty()) return clip(frame.symbol, kShownName);
  const std::size_t slash = frame.file.rfind('/');
  const std::string_view file =
      std::string_view(frame.file).substr(slash == std::string::npos ? 0 : slash + 1);
  return fmt::format("{}+{:#x}", file, frame.offset);
}

}  // namespace

std::vector<RoleWaits> waits_by_role(const BpfSummary& summary) {
  const std::vector<Role> roles = roles_of(summary);
  std::map<Role, RoleWaits> sums;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    RoleWaits& sum = sums[roles[i]];
    sum.role = roles[i];
    add(summary.tasks[i], sum);
  }
  const auto role_of = roles_by_tid(summary, roles);
  for (const model::Wakes& row : summary.wakes) {
    const auto wakee = role_of.find(row.wakee);
    const auto waker = role_of.find(row.waker);
    if (wakee == role_of.end() || waker == role_of.end()) continue;
    RoleWaits& sum = sums[wakee->second];
    if (waker->second == Role::kLoader) sum.until_loader_s += to_seconds(row.blocked);
    if (waker->second == Role::kPool) sum.until_pool_s += to_seconds(row.blocked);
  }
  std::vector<RoleWaits> found;
  for (const auto& [role, sum] : sums) found.push_back(sum);
  return found;
}

Facts facts_of(const BpfSummary& summary) {
  Facts facts;
  const double wall = to_seconds(summary.wall);
  const bool is_sampled = summary.collector != "bpf";
  if (is_sampled) {
    facts.missing.push_back(
        fmt::format("waits: threads were looked at every {} ms instead of at every switch: {}",
                    show_number(1000 * to_seconds(summary.sample_every)), summary.why_not));
  }
  if (wall <= 0 || summary.tasks.empty()) {
    facts.missing.emplace_back("waits: no thread of the job was seen");
    return facts;
  }
  if (summary.lost_tasks > 0) {
    facts.missing.push_back(
        fmt::format("waits: {} threads found no room in the kernel's table", summary.lost_tasks));
  }
  double wakeups = 0;
  facts.evidence["waits.sampled"] = is_sampled ? 1 : 0;
  facts.evidence["waits.collector_share"] = to_seconds(summary.collector_cpu) / wall;
  for (const RoleWaits& role : waits_by_role(summary)) {
    wakeups += role.wakeups;
    const bool is_told =
        role.role == Role::kStep || role.role == Role::kPool || role.role == Role::kLoader;
    if (is_told && role.life_s > 0) add_role(role, wall, is_sampled, facts);
    if (role.role == Role::kStep) conclude(role, wall, is_sampled, facts);
  }
  if (!is_sampled) {
    facts.evidence["waits.wakeups_per_s"] = wakeups / wall;
    if (const auto p95 = runqueue_p95(summary)) facts.evidence["waits.runqueue_p95_us"] = *p95;
    add_devices(summary, facts);
  }
  return facts;
}

std::vector<std::string> places_of(const BpfSummary& summary, Role role, std::size_t most) {
  const auto role_of = roles_by_tid(summary, roles_of(summary));
  std::vector<std::string> lines;
  for (const model::WaitSite& site : summary.sites) {
    if (lines.size() >= most) break;
    const auto found = role_of.find(site.tid);
    if (found == role_of.end() || found->second != role) continue;
    std::vector<std::string> names;
    for (const model::WaitFrame& frame : site.frames) {
      if (names.size() >= kShownFrames) break;
      names.push_back(shown(frame));
    }
    lines.push_back(fmt::format("{} s in {} {} waits{}{}", show_number(to_seconds(site.time)),
                                site.count, model::name(site.reason), names.empty() ? "" : ": ",
                                join(names, " < ")));
  }
  return lines;
}

}  // namespace amdahl::profile
