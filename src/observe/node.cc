#include "observe/node.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <limits>
#include <span>

#include <fmt/core.h>
#include <unistd.h>

#include "base/text.h"
#include "observe/supervisor.h"
#include "observe/watcher.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"

namespace amdahl::observe {
namespace {

using std::chrono::milliseconds;

constexpr Nanos kLookAgain = std::chrono::seconds(1);
constexpr Nanos kUntilKilled = std::chrono::seconds(2);

// A later one is surer. Slurm numbers the batch script, too, which is in no step.
constexpr auto kRankVariables =
    std::to_array<std::string_view>({"SLURM_PROCID", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "RANK"});

std::optional<std::string_view> variable_in(std::string_view environment, std::string_view name) {
  for (const std::string_view row : split(environment, '\0')) {
    if (row.size() > name.size() && row.starts_with(name) && row[name.size()] == '=') {
      return row.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::optional<ProcessStat> stat_of(pid_t pid) {
  const auto text = os::read_file(fmt::format("/proc/{}/stat", pid));
  return text ? parse_process_stat(*text) : std::nullopt;
}

bool has_ended(const ProcessStat& stat) { return stat.state == 'Z' || stat.state == 'X'; }

}  // namespace

RankName rank_in(std::string_view environment) {
  for (int sure = static_cast<int>(kRankVariables.size()); sure > 0; --sure) {
    const std::string_view name = kRankVariables[static_cast<std::size_t>(sure) - 1];
    const int rank =
        to_number<int>(variable_in(environment, name).value_or(std::string_view())).value_or(-1);
    const bool batch = sure == 1 && !variable_in(environment, "SLURM_STEP_ID");
    if (rank >= 0 && !batch) return {sure, rank};
  }
  return {};
}

bool is_marked(std::string_view environment, std::string_view mark, std::string_view node) {
  if (mark.empty() || variable_in(environment, kRankMark) != mark) return false;
  return variable_in(environment, "SLURMD_NODENAME").value_or(node) == node;
}

NodeWatch::NodeWatch(Order order)
    : order_{std::move(order)},
      accelerators_(static_cast<std::size_t>(std::max(0, order_.accelerators))) {
  const std::string visible = os::env_or("CUDA_VISIBLE_DEVICES", "");
  gpus_ =
      gpus_for(nvml_, visible.empty() ? std::nullopt : std::optional(visible), order_.accelerators);
}

void NodeWatch::find_members(Nanos now) {
  // A process may get its environment only after we have seen it: all are looked at again.
  if (now >= forget_others_) {
    others_.clear();
    forget_others_ = now + kLookAgain;
  }
  for (const std::string& name : os::list("/proc")) {
    const auto pid = to_number<pid_t>(name);
    if (!pid || members_.contains(*pid) || others_.contains(*pid)) continue;
    const auto environment = os::read_file(fmt::format("/proc/{}/environ", *pid));
    const auto stat = environment && is_marked(*environment, order_.mark, order_.node)
                          ? stat_of(*pid)
                          : std::nullopt;
    if (stat) {
      members_.emplace(*pid, std::pair(rank_in(*environment), *stat));
    } else {
      others_.insert(*pid);
    }
  }
}

void NodeWatch::tick(Nanos now) {
  const Nanos before = own_cpu_time();
  find_members(now);
  static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::map<RankName, Nanos> sums;
  std::int64_t resident = 0;
  for (auto at = members_.begin(); at != members_.end();) {
    auto& [name, known] = at->second;
    const auto stat = stat_of(at->first);
    if (!stat || stat->start_ticks != known.start_ticks) {
      at = members_.erase(at);
      continue;
    }
    known = *stat;
    sums[name] += cpu_time(*stat);
    resident += stat->resident_pages * page;
    ++at;
  }
  peak_resident_ = std::max(peak_resident_, resident);
  if (first_ == Nanos{}) first_ = last_ = now;
  Nanos used{};
  for (const auto& [name, sum] : sums) {
    Use& use = uses_[name];
    // Time of a process that ended and that nobody of the same rank waited for: the sum shrinks.
    const Nanos more = std::max(Nanos{}, sum - use.cpu);
    use.cpu += more;
    used += more;
    if (now > last_) use.busy.add({last_, now, to_seconds(more) / to_seconds(now - last_)});
  }
  cpu_ += used;
  if (now > last_) add(last_, now, used);
  last_ = now;
  own_cpu_ += own_cpu_time() - before;
  if (!sums.empty()) noise_ = meter_.finish(cpu_ + own_cpu_, now - first_);
}

void NodeWatch::add(Nanos from, Nanos to, Nanos used) {
  const double cores = to_seconds(used) / to_seconds(to - from);
  for (std::size_t k = 0; k < accelerators_.size(); ++k) {
    double busy = std::clamp(cores - static_cast<double>(k), 0.0, 1.0);
    if (!gpus_.empty()) {
      const auto gpu = k < gpus_.size() ? nvml_.utilisation(gpus_[k]) : std::nullopt;
      busy = gpu.value_or(std::numeric_limits<double>::quiet_NaN());
    }
    accelerators_[k].add({from, to, busy});
  }
}

model::Receipt NodeWatch::finish(Nanos began, Nanos wall) const {
  const Nanos interval = interval_for(wall, milliseconds(100));
  const auto on_the_grid = [&](std::span<const BusySegment> segments) {
    std::vector<BusySegment> moved(segments.begin(), segments.end());
    for (BusySegment& segment : moved) {
      segment.from = std::max(Nanos{}, segment.from - began);
      segment.to = std::max(Nanos{}, segment.to - began);
    }
    std::erase_if(moved, [](const BusySegment& segment) { return segment.to <= segment.from; });
    return on_grid(moved, interval, wall);
  };
  model::Receipt receipt;
  receipt.utilisation = {interval, gpus_.empty() ? "CPU slot" : "NVML GPU_UTIL", {}};
  for (const Timeline& timeline : accelerators_) {
    receipt.utilisation.accelerators.push_back(on_the_grid(timeline.segments()));
  }
  model::HostUse host;
  host.host = order_.node;
  host.boot_id = os::boot_id();
  host.hardware = hardware();
  host.noise = noise_;
  host.cpu = cpu_;
  host.peak_rss_bytes = peak_resident_;
  const int surest = uses_.empty() ? 0 : uses_.rbegin()->first.sure;
  for (const auto& [name, use] : uses_) {
    if (surest == 0 || name.sure != surest) continue;
    host.ranks.push_back({name.rank, use.cpu, on_the_grid(use.busy.segments())});
  }
  receipt.hosts.push_back(std::move(host));
  receipt.observer_cpu = own_cpu_;
  return receipt;
}

int NodeWatch::end_all() {
  os::Clock& clock = os::real_clock();
  const Nanos start = clock.monotonic();
  int found = 0;
  while (true) {
    const Nanos now = clock.monotonic();
    forget_others_ = {};
    find_members(now);
    int living = 0;
    for (auto& [pid, member] : members_) {
      const auto stat = stat_of(pid);
      if (!stat || stat->start_ticks != member.second.start_ticks || has_ended(*stat)) continue;
      ++living;
      ::kill(pid, now - start < kUntilKilled ? SIGTERM : SIGKILL);
    }
    found = std::max(found, living);
    if (living == 0 || now - start > 3 * kUntilKilled) return found;
    clock.sleep(milliseconds(100));
  }
}

}  // namespace amdahl::observe
