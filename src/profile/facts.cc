// What the receipt of a supervised run shows by itself: /proc, cgroup, the host, utilisation,
// phases.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/classify.h"
#include "profile/phases.h"
#include "scan/anatomy.h"
#include "scan/timeline.h"

namespace amdahl::profile {
namespace {

using Evidence = std::map<std::string, double>;

// The CPUs the job had, where that is known: it was pinned, or its accelerators are CPU slots.
std::optional<double> cpus_of(const model::Receipt& receipt) {
  if (!receipt.cpus.empty()) return static_cast<double>(receipt.cpus.size());
  if (receipt.accelerator_kind == "cpu slot") return receipt.accelerators;
  return std::nullopt;
}

void add_process(const model::Receipt& receipt, double wall, Facts& facts) {
  Evidence& evidence = facts.evidence;
  const double cpu = to_seconds(receipt.cpu_user + receipt.cpu_system);
  const auto rate = [&](std::int64_t count) { return static_cast<double>(count) / wall; };
  const auto per = [](std::int64_t bytes, std::int64_t calls) {
    return static_cast<double>(bytes) / static_cast<double>(calls);
  };
  constexpr double kBlockMb = 512 / 1e6;  // What getrusage() counts in.
  evidence["busy_cores"] = cpu / wall;
  if (cpu > 0) evidence["cpu_system_share"] = to_seconds(receipt.cpu_system) / cpu;
  evidence["voluntary_switches_per_s"] = rate(receipt.voluntary_switches);
  evidence["involuntary_switches_per_s"] = rate(receipt.involuntary_switches);
  evidence["minor_faults_per_s"] = rate(receipt.minor_faults);
  evidence["major_faults_per_s"] = rate(receipt.major_faults);
  evidence["read_mb_per_s"] = rate(receipt.read_blocks) * kBlockMb;
  evidence["write_mb_per_s"] = rate(receipt.write_blocks) * kBlockMb;
  if (receipt.read_calls > 0) {
    evidence["read_calls_per_s"] = rate(receipt.read_calls);
    evidence["bytes_per_read"] = per(receipt.read_bytes, receipt.read_calls);
  }
  if (receipt.write_calls > 0) {
    evidence["write_calls_per_s"] = rate(receipt.write_calls);
    evidence["bytes_per_write"] = per(receipt.write_bytes, receipt.write_calls);
  }
  evidence["peak_rss_mb"] = static_cast<double>(receipt.peak_rss_bytes) / 1e6;

  const auto cpus = cpus_of(receipt);
  if (cpus) evidence["cpus"] = *cpus;
  if (receipt.peak_threads <= 0) {
    facts.missing.emplace_back("peak_threads: the run ended before the first sample");
    return;
  }
  evidence["peak_threads"] = static_cast<double>(receipt.peak_threads);
  if (cpus) {
    evidence["threads_per_cpu"] = static_cast<double>(receipt.peak_threads) / *cpus;
  } else {
    facts.missing.emplace_back("threads_per_cpu: the job was not pinned to CPUs");
  }
}

void add_host(const model::HostNoise& noise, Facts& facts) {
  const struct {
    const char* name;
    double value;
    const char* from;
  } rows[] = {
      {"foreign_cpu_cores", noise.foreign_cpu_cores, "/proc/stat"},
      {"steal_share", noise.steal_share, "/proc/stat"},
      {"psi_cpu_some", noise.psi_cpu_some, "/proc/pressure/cpu"},
  };
  for (const auto& row : rows) {
    if (std::isfinite(row.value)) {
      facts.evidence[row.name] = row.value;
    } else {
      facts.missing.push_back(
          fmt::format("{}: {} could not be read, or the run was too short", row.name, row.from));
    }
  }
}

// Upper bound on the share of wall time lost, for `lost` seconds summed over CPUs or tasks: at most
// all of them at once, and at most their part of the time that tasks were runnable.
double share_lost(double lost, double wall, double cpu) {
  return lost > 0 ? std::min({1.0, lost / wall, lost / (lost + cpu)}) : 0;
}

// CPU waits of the job's tasks and limits of its control group.
void add_waiting(const model::Receipt& receipt, double wall, Facts& facts) {
  Evidence& evidence = facts.evidence;
  const model::CgroupUse& group = receipt.cgroup;
  const double cpu = to_seconds(receipt.cpu_user + receipt.cpu_system);
  const double delay = to_seconds(receipt.run_delay);
  const double throttled = to_seconds(group.throttled);
  // Any sampled run has waited for at least the time between a wake-up and getting a CPU.
  const bool is_delay_known = delay > 0;
  // The group may include other jobs; a throttled task of ours counts as waiting.
  const double held = is_delay_known ? std::min(throttled, delay) : throttled;
  if (is_delay_known) {
    evidence["run_delay_s"] = delay;
    evidence["cpu_wait_share"] = share_lost(delay - held, wall, cpu);
  } else {
    facts.missing.emplace_back(
        "run_delay_s: /proc/PID/schedstat was not read; psi_cpu_some is used instead");
  }
  if (group.quota_cores > 0) {
    evidence["quota_cores"] = group.quota_cores;
    evidence["throttled_s"] = throttled;
    evidence["throttled_share"] = share_lost(held, wall, cpu);
  }
  if (group.memory_limit_bytes > 0) {
    evidence["memory_limit_mb"] = static_cast<double>(group.memory_limit_bytes) / 1e6;
    evidence["memory_stalls_per_s"] = static_cast<double>(group.memory_stalls) / wall;
  }
}

// How many accelerators were busy at once, at the 95th percentile of the observed intervals.
std::optional<double> busy_at_most(const model::Utilisation& seen) {
  std::vector<double> sums;
  for (std::size_t i = 0;; ++i) {
    double sum = 0;
    bool any = false;
    bool inside = false;
    for (const auto& series : seen.accelerators) {
      if (i >= series.size()) continue;
      inside = true;
      if (!std::isfinite(series[i])) continue;
      any = true;
      sum += std::clamp<double>(series[i], 0, 1);
    }
    if (!inside) break;
    if (any) sums.push_back(sum);
  }
  if (sums.empty()) return std::nullopt;
  const auto at = static_cast<std::size_t>(0.95 * static_cast<double>(sums.size() - 1) + 0.5);
  std::ranges::nth_element(sums, sums.begin() + static_cast<std::ptrdiff_t>(at));
  return sums[at];
}

// The part of the timeline whose phases explain nothing: compute, unknown names, no phase at all.
std::vector<model::Span> unexplained(const model::Receipt& receipt) {
  const auto timeline = scan::flatten(receipt.phases, receipt.wall);
  if (timeline.empty()) return {{"", Nanos{}, receipt.wall}};
  std::vector<model::Span> result;
  for (const model::Span& span : timeline) {
    const Kind* kind = kind_of(span.name);
    if (kind == nullptr || kind->bottleneck == model::Bottleneck::kCompute) result.push_back(span);
  }
  return result;
}

// Idle and low accelerator-seconds that fall into the spans; both are in order of time.
double waste_within(const scan::Anatomy& anatomy, const std::vector<model::Span>& spans) {
  double waste = 0;
  for (const auto& stretches : anatomy.accelerators) {
    auto span = spans.begin();
    for (const scan::ActivitySpan& stretch : stretches) {
      if (stretch.activity == scan::Activity::kUnobserved) continue;
      const bool is_idle = stretch.activity == scan::Activity::kIdle;
      const double unused = is_idle ? 1 : 1 - stretch.utilisation;
      const Nanos end = stretch.start + stretch.duration;
      while (span != spans.end() && span->start + span->duration <= stretch.start) ++span;
      for (auto at = span; at != spans.end() && at->start < end; ++at) {
        const Nanos from = std::max(at->start, stretch.start);
        const Nanos to = std::min(at->start + at->duration, end);
        if (to > from) waste += unused * to_seconds(to - from);
      }
    }
  }
  return waste;
}

void add_utilisation(const model::Receipt& receipt, Facts& facts) {
  model::Usage usage;
  usage.accelerators = receipt.accelerators;
  usage.end = receipt.wall;
  usage.utilisation = receipt.utilisation;
  const scan::Anatomy anatomy = scan::anatomy_of(usage);
  const scan::Split& split = anatomy.split;
  const double observed = split.allocated - split.unobserved;
  Evidence& evidence = facts.evidence;
  evidence["unobserved_share"] = split.allocated > 0 ? split.unobserved / split.allocated : 1;
  if (observed <= 0) {
    facts.missing.emplace_back("utilisation: the accelerators were not sampled");
    return;
  }
  evidence["idle_share"] = split.idle / observed;
  evidence["low_share"] = split.low / observed;
  evidence["productive_share"] = split.productive / observed;
  evidence["busy_accelerators"] = receipt.accelerators * split.productive / observed;
  if (const auto most = busy_at_most(receipt.utilisation))
    evidence["busy_accelerators_p95"] = *most;
  evidence["waste_in_compute_share"] = waste_within(anatomy, unexplained(receipt)) / observed;
}

void add_phases(const model::Receipt& receipt, Facts& facts) {
  facts.phases = receipt.phases;
  std::set<std::string> without_kind;
  for (const model::Span& span : scan::flatten(receipt.phases, receipt.wall)) {
    const double share = to_seconds(span.duration) / to_seconds(receipt.wall);
    if (span.name == scan::kUnnamed) {
      facts.evidence["unnamed_share"] += share;
      continue;
    }
    facts.evidence["phase." + span.name + ".share"] += share;
    if (const Kind* kind = kind_of(span.name)) {
      facts.evidence[std::string(kind->share)] += share;
    } else {
      without_kind.insert(span.name);
    }
  }
  for (const std::string& name : without_kind) {
    facts.missing.push_back(fmt::format(
        "phase {}: the name does not match any kind of time; see docs/format/evidence.md",
        clip(name, 60)));
  }
}

}  // namespace

Facts facts_of(const model::Receipt& receipt) {
  Facts facts;
  const double wall = to_seconds(receipt.wall);
  facts.evidence["accelerators"] = receipt.accelerators;
  facts.evidence["wall_s"] = wall;
  if (wall <= 0) {
    facts.missing.emplace_back("all: the run took no time");
    return facts;
  }
  add_process(receipt, wall, facts);
  add_host(receipt.noise, facts);
  add_waiting(receipt, wall, facts);
  add_utilisation(receipt, facts);
  add_phases(receipt, facts);
  if (receipt.phases.empty()) {
    facts.missing.emplace_back("phases: the job reported none through AMDAHL_REPORT");
  }
  return facts;
}

}  // namespace amdahl::profile
