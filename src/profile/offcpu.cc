#include "profile/offcpu.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "profile/causes.h"
#include "profile/late_rank.h"
#include "profile/short_processes.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using model::BpfSummary;
using model::Cause;
using model::TaskWaits;
using model::Wait;

constexpr double kSmallest = 0.01;  // Of the wall time: a cause.

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
  if (task.syscalls >= 0)
    sum.syscalls = std::max(0.0, sum.syscalls) + static_cast<double>(task.syscalls);
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
  if (role.syscalls >= 0) facts.evidence[start + "syscalls_per_s"] = role.syscalls / wall;
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

// Of the thread that the hook looks at: what it takes for work between operators.
void add_collectives(const BpfSummary& summary, std::int64_t hooked, Facts& facts) {
  const auto thread = std::ranges::find(summary.tasks, hooked, &TaskWaits::tid);
  if (hooked == 0 || thread == summary.tasks.end() || thread->life() <= Nanos{}) return;
  const bool has_ranks = exchanges_gradients(summary);
  Nanos sum{};
  for (const model::WaitSite& site : summary.sites) {
    const bool is_one = is_collective(site) || (has_ranks && is_backward(site));
    if (site.tid == hooked && is_one) sum += site.time;
  }
  if (sum <= Nanos{}) return;
  facts.evidence["waits.hooked_collective_share"] =
      std::min(1.0, to_seconds(sum) / to_seconds(thread->life()));
}

// What the step thread waited for, as one cause.
struct WaitFinding {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  CauseKind kind;
  double seconds = 0;
  std::string numbers;
  std::vector<Wait> reasons;  // Of the places that are named with it.
  bool is_loading = false;    // Likewise.
  bool is_collective = false;
};

class Conclusion {
 public:
  Conclusion(const RoleWaits& step, const BpfSummary& summary, Facts& facts)
      : step_{step},
        wall_{to_seconds(summary.wall)},
        places_{places_of(summary, Role::kStep, SIZE_MAX)},
        late_{late_line(summary)},
        facts_{facts} {}

  void draw(bool is_sampled) {
    input();
    files_and_device();
    // A collective is woken by a thread of its library: do not count that wait twice.
    const double until_other = std::max(0.0, step_.until_other_s - communication());
    keep({Bottleneck::kContention,
          causes::kCpuWait,
          step_.runqueue_s + step_.preempted_s,
          fmt::format("was runnable but not running {} and preempted {}, {:.0f} times",
                      show_seconds(step_.runqueue_s), show_seconds(step_.preempted_s),
                      step_.preemptions),
          {}});
    keep({Bottleneck::kSerial,
          causes::kSleeping,
          step_.blocked(Wait::kSleep),
          fmt::format("slept {}", show_seconds(step_.blocked(Wait::kSleep))),
          {Wait::kSleep}});
    keep(
        {Bottleneck::kSerial,
         causes::kOtherThread,
         until_other,
         fmt::format("was blocked {} until another thread (not a loader or compute thread) woke it",
                     show_seconds(until_other)),
         {Wait::kFutex, Wait::kPipe, Wait::kPoll}});
    if (!is_sampled) wakeups();
  }

 private:
  // Reads and page faults, except those of modules and libraries, which belong to the start-up.
  void input() {
    const double read = step_.blocked(Wait::kRead) - loading(Wait::kRead);
    const double fault = step_.blocked(Wait::kFault) - loading(Wait::kFault);
    std::vector<Wait> reasons{Wait::kRead, Wait::kFault};
    if (step_.until_loader_s > read + fault) reasons = {Wait::kFutex, Wait::kPoll, Wait::kPipe};
    keep({Bottleneck::kInput, causes::kInputWait, step_.until_loader_s + read + fault,
          fmt::format("was blocked {} waiting for a loader, {} in disk reads and {} in page "
                      "faults",
                      show_seconds(step_.until_loader_s), show_seconds(read), show_seconds(fault)),
          reasons});
    const double loaded = loading(Wait::kRead) + loading(Wait::kFault);
    keep({Bottleneck::kLifecycle,
          causes::kLoading,
          loaded,
          fmt::format("was blocked {} in reads and page faults of modules and libraries",
                      show_seconds(loaded)),
          {Wait::kRead, Wait::kFault},
          true});
  }

  // Returns the time in collectives that was not on sockets.
  double communication() {
    const double net = step_.blocked(Wait::kNet);
    double collective = 0;
    for (const WaitPlace& place : places_) {
      if (place.is_collective && place.reason != model::name(Wait::kNet)) {
        collective += place.seconds;
      }
    }
    const bool is_mostly = collective > net;
    std::string numbers = fmt::format("was blocked {} on sockets", show_seconds(net));
    if (collective > 0) {
      numbers += fmt::format(" and {} in torch.distributed", show_seconds(collective));
    }
    std::vector<Wait> reasons{Wait::kNet};
    if (is_mostly) reasons = {Wait::kFutex, Wait::kPoll, Wait::kPipe, Wait::kSleep};
    keep({Bottleneck::kCommunication, is_mostly ? causes::kOtherRanks : causes::kNetwork,
          net + collective, numbers, reasons, false, is_mostly});
    return collective;
  }

  double loading(Wait wait) const {
    double seconds = 0;
    for (const WaitPlace& place : places_) {
      if (place.is_loading && place.reason == model::name(wait)) seconds += place.seconds;
    }
    return std::min(seconds, step_.blocked(wait));
  }

  void files_and_device() {
    const double device = step_.blocked(Wait::kDevice);
    const double sync = step_.blocked(Wait::kSync) + step_.blocked(Wait::kWrite);
    std::vector<Wait> reasons{Wait::kDevice};
    if (device <= sync) reasons = {Wait::kSync, Wait::kWrite};
    keep({Bottleneck::kSync, device > sync ? causes::kDriverWait : causes::kWrittenFiles,
          device + sync,
          fmt::format("was blocked {} in a driver and {} until files were on disk",
                      show_seconds(device), show_seconds(sync)),
          reasons});
  }

  // The CPU time of waking up is not recorded: the wait for the pool is an upper bound.
  void wakeups() {
    if (step_.wakeups / wall_ <= kManyWakeups) return;
    keep({Bottleneck::kWakeups,
          causes::kWokenThreads,
          step_.until_pool_s,
          fmt::format("was woken {} times per second and blocked {} waiting for its thread pool",
                      show_number(step_.wakeups / wall_), show_seconds(step_.until_pool_s)),
          {Wait::kFutex}});
  }

  // Ranks run in parallel: one second of waiting in each is one second of wall time.
  void keep(const WaitFinding& finding) {
    const double whole = step_.at_once * wall_;
    const double share = std::min(1.0, finding.seconds / whole);
    if (share < kSmallest) return;
    Cause cause;
    set_kind(cause, finding.kind);
    cause.bottleneck = finding.bottleneck;
    cause.share = share;
    const std::string who = step_.at_once > 1
                                ? fmt::format("{} step threads together", step_.at_once)
                                : std::string("the step thread");
    std::string did = finding.numbers;
    if (step_.at_once > 1 && did.starts_with("was ")) did.replace(0, 3, "were");
    cause.because = fmt::format("{} {} of {}{}", who, did, show_seconds(whole), where(finding));
    if (finding.is_collective && late_) {
      cause.because +=
          fmt::format("; the rank that waits least spends {} more than the others at {}",
                      show_seconds(late_->seconds), show(late_->line));
    }
    facts_.causes.push_back(std::move(cause));
  }

  // The line of the job's own code that waited longest for these reasons.
  std::string where(const WaitFinding& finding) const {
    std::map<StackLine, double> seconds;
    for (const WaitPlace& place : places_) {
      const auto is_it = [&](Wait wait) { return place.reason == model::name(wait); };
      const bool is_meant = place.line && place.is_loading == finding.is_loading &&
                            (place.is_collective || !finding.is_collective);
      if (is_meant && std::ranges::any_of(finding.reasons, is_it)) {
        seconds[*place.line] += place.seconds;
      }
    }
    if (seconds.empty()) return "";
    const auto longest =
        std::ranges::max_element(seconds, {}, [](const auto& row) { return row.second; });
    return fmt::format(", {} of it at {}", show_seconds(longest->second), show(longest->first));
  }

  const RoleWaits& step_;
  const double wall_;
  const std::vector<WaitPlace> places_;
  const std::optional<LateLine> late_;
  Facts& facts_;
};

int most_at_once(const BpfSummary& summary, const std::vector<Role>& roles, Role role) {
  std::vector<std::pair<Nanos, int>> turns;  // One that ends as another begins makes room first.
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != role || is_hooks(summary.tasks[i])) continue;
    turns.emplace_back(summary.tasks[i].born, 1);
    turns.emplace_back(summary.tasks[i].died, -1);
  }
  std::ranges::sort(turns);
  int now = 0;
  int most = 1;
  for (const auto& [at, change] : turns) most = std::max(most, now += change);
  return most;
}

}  // namespace

bool exchanges_gradients(const BpfSummary& summary) {
  const bool has_devices = std::ranges::any_of(
      summary.tasks, [](const TaskWaits& task) { return task.name.starts_with("pt_autograd"); });
  return !has_devices && most_at_once(summary, roles_of(summary), Role::kStep) > 1;
}

std::vector<RoleWaits> waits_by_role(const BpfSummary& summary) {
  const std::vector<Role> roles = roles_of(summary);
  std::map<Role, RoleWaits> sums;
  std::set<std::int64_t> hooks;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (is_hooks(summary.tasks[i])) {
      hooks.insert(summary.tasks[i].tid);
      continue;
    }
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
    if (waker->second == Role::kHelper && !hooks.contains(row.waker)) {
      sum.until_other_s += to_seconds(row.blocked);
    }
  }
  std::erase_if(sums, [](const auto& row) { return row.second.threads == 0; });
  for (auto& [role, sum] : sums) sum.at_once = most_at_once(summary, roles, role);
  std::vector<RoleWaits> found;
  for (const auto& [role, sum] : sums) found.push_back(sum);
  return found;
}

Facts facts_of(const BpfSummary& summary, std::int64_t hooked,
               std::span<const code::Source> scripts) {
  Facts facts;
  const double wall = to_seconds(summary.wall);
  const bool is_sampled = summary.collector != "bpf";
  if (is_sampled) {
    facts.missing.push_back(
        fmt::format("waits: threads were sampled every {} ms instead of at every switch: {}",
                    show_number(1000 * to_seconds(summary.sample_every)), summary.why_not));
  }
  if (wall <= 0 || summary.tasks.empty()) {
    facts.missing.emplace_back("waits: no thread of the job was seen");
    return facts;
  }
  if (summary.lost_tasks > 0) {
    facts.missing.push_back(fmt::format(
        "waits: {} threads were not recorded: the kernel table was full", summary.lost_tasks));
  }
  double wakeups = 0;
  facts.evidence["waits.sampled"] = is_sampled ? 1 : 0;
  facts.evidence["waits.collector_share"] = to_seconds(summary.collector_cpu) / wall;
  for (const RoleWaits& role : waits_by_role(summary)) {
    wakeups += role.wakeups;
    const bool is_told =
        role.role == Role::kStep || role.role == Role::kPool || role.role == Role::kLoader;
    if (is_told && role.life_s > 0) add_role(role, wall, is_sampled, facts);
    if (role.role == Role::kStep) Conclusion(role, summary, facts).draw(is_sampled);
  }
  if (!is_sampled) {
    if (auto started = short_processes(summary, scripts)) {
      facts.causes.push_back(*std::move(started));
    }
    facts.evidence["waits.wakeups_per_s"] = wakeups / wall;
    if (const auto p95 = runqueue_p95(summary)) facts.evidence["waits.runqueue_p95_us"] = *p95;
    add_devices(summary, facts);
    add_collectives(summary, hooked, facts);
  }
  return facts;
}

}  // namespace amdahl::profile
