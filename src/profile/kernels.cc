#include "profile/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::profile {
namespace {

enum class Fact : std::uint8_t {
  kDuration,
  kMemory,
  kMemoryUnit,  // Of one unit: where no metric says it of all, the highest does.
  kCompute,
  kOccupancy,
  kInvocations,
};

struct MetricName {
  std::string_view name;
  Fact fact;
};

// The details page's names, and the raw page's.
constexpr auto kMetrics = std::to_array<MetricName>({
    {"Duration", Fact::kDuration},
    {"gpu__time_duration.sum", Fact::kDuration},
    {"gpu__time_duration.avg", Fact::kDuration},
    {"Memory Throughput", Fact::kMemory},
    {"Memory [%]", Fact::kMemory},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", Fact::kMemory},
    {"DRAM Throughput", Fact::kMemoryUnit},
    {"L1/TEX Cache Throughput", Fact::kMemoryUnit},
    {"L2 Cache Throughput", Fact::kMemoryUnit},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", Fact::kMemoryUnit},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Fact::kMemoryUnit},
    {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", Fact::kMemoryUnit},
    {"l1tex__throughput.avg.pct_of_peak_sustained_active", Fact::kMemoryUnit},
    {"lts__throughput.avg.pct_of_peak_sustained_elapsed", Fact::kMemoryUnit},
    {"Compute (SM) Throughput", Fact::kCompute},
    {"SM [%]", Fact::kCompute},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", Fact::kCompute},
    {"Achieved Occupancy", Fact::kOccupancy},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", Fact::kOccupancy},
    {"Invocations", Fact::kInvocations},
});

struct UnitSize {
  std::string_view unit;
  double seconds;
};

constexpr auto kTimeUnits = std::to_array<UnitSize>({
    {"ns", 1e-9},
    {"nsecond", 1e-9},
    {"us", 1e-6},
    {"usecond", 1e-6},
    {"ms", 1e-3},
    {"msecond", 1e-3},
    {"s", 1},
    {"second", 1},
});

// What one launch, or one group of them, gave.
struct Launch {
  double seconds = 0;
  double times = 1;
  std::optional<double> memory;
  std::optional<double> memory_unit;
  std::optional<double> compute;
  std::optional<double> occupancy;

  std::optional<double> any_memory() const { return memory ? memory : memory_unit; }
};

void take(Launch& launch, Fact fact, std::string_view unit, double value) {
  switch (fact) {
    case Fact::kDuration: {
      const auto size = std::ranges::find(kTimeUnits, unit, &UnitSize::unit);
      if (size != kTimeUnits.end() && value > 0) launch.seconds = value * size->seconds;
      return;
    }
    // A name may also stand for a rate in bytes a second.
    case Fact::kMemory:
      if (unit == "%") launch.memory = value;
      return;
    case Fact::kMemoryUnit:
      if (unit == "%") launch.memory_unit = std::max(value, launch.memory_unit.value_or(0));
      return;
    case Fact::kCompute:
      if (unit == "%") launch.compute = value;
      return;
    case Fact::kOccupancy:
      if (unit == "%") launch.occupancy = value;
      return;
    case Fact::kInvocations:
      launch.times = std::max(1.0, value);
      return;
  }
}

// "void ns::gemm<float, 4>(int)" as "ns::gemm".
std::string_view base_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  name = name.substr(0, name.find('('));
  name = name.substr(0, name.find('<'));
  name = name.substr(0, name.find('['));
  return trim(name);
}

// Short names have no scopes.
std::string_view last_part(std::string_view base) {
  const auto colons = base.rfind("::");
  return colons == base.npos ? base : base.substr(colons + 2);
}

class Mean {
 public:
  void add(std::optional<double> value, double weight) {
    if (!value) return;
    sum_ += *value * weight;
    weight_ += weight;
  }
  std::optional<double> value() const {
    if (weight_ <= 0) return std::nullopt;
    return sum_ / weight_;
  }

 private:
  double sum_ = 0;
  double weight_ = 0;
};

KernelBound bound_of(const KernelFacts& facts) {
  if (!facts.memory_percent || !facts.compute_percent) return KernelBound::kUnknown;
  const double memory = *facts.memory_percent;
  const double compute = *facts.compute_percent;
  if (std::max(memory, compute) < kWellUsedPercent) return KernelBound::kLatency;
  constexpr double kApart = 10;
  if (std::abs(memory - compute) < kApart) return KernelBound::kBoth;
  return memory > compute ? KernelBound::kMemory : KernelBound::kCompute;
}

std::string percent(std::optional<double> value) {
  return value ? fmt::format("{:.1f} %", *value) : "unknown";
}

void conclude_kernel(KernelFacts& facts) {
  facts.bound = bound_of(facts);
  facts.low_occupancy = facts.occupancy_percent && *facts.occupancy_percent < kLowOccupancyPercent;
  std::ranges::stable_sort(facts.hints, [](const KernelHint& a, const KernelHint& b) {
    return std::tuple(!a.global, -a.percent) < std::tuple(!b.global, -b.percent);
  });
  double best = 0;
  for (const KernelHint& hint : facts.hints) {
    if (hint.global) best = std::max(best, hint.percent);
  }
  facts.is_estimated = best > 0;
  // Cap at 99 %: a kernel never vanishes.
  facts.ceiling = 1 / (1 - std::min(best, 99.0) / 100);
  facts.because = fmt::format("memory {} and compute {} of the peak, occupancy {}{}",
                              percent(facts.memory_percent), percent(facts.compute_percent),
                              percent(facts.occupancy_percent), facts.low_occupancy ? ", low" : "");
  if (best > 0) {
    facts.because +=
        fmt::format("; {} estimates {:.1f} % less time", facts.hints.front().rule, best);
  }
}

// Time of each kernel in the traces, by the last part of its name, and of all device work.
struct InTrace {
  std::map<std::string_view, Nanos> by_name;
  Nanos busy{};
};

InTrace trace_times(const model::Trace& trace) {
  InTrace found;
  std::map<std::uint32_t, Nanos> by_number;
  for (const model::DeviceEvent& event : trace.device_events) {
    if (event.kind == model::DeviceKind::kSync || event.kind == model::DeviceKind::kAnnotation) {
      continue;
    }
    found.busy += event.duration;
    if (event.kind == model::DeviceKind::kKernel) by_number[event.name] += event.duration;
  }
  for (const auto& [number, time] : by_number) {
    found.by_name[last_part(base_name(trace.names[number]))] += time;
  }
  return found;
}

void place(const InTrace& times, KernelFacts& facts) {
  const auto found = times.by_name.find(last_part(base_name(facts.kernel)));
  if (found == times.by_name.end() || times.busy <= Nanos::zero()) return;
  facts.in_trace = found->second;
  facts.share_of_busy = to_seconds(found->second) / to_seconds(times.busy);
  facts.job_ceiling = 1 / (1 - facts.share_of_busy * (1 - 1 / facts.ceiling));
  facts.because += fmt::format("; {} of device work", show_percent(facts.share_of_busy));
  if (facts.is_estimated) {
    facts.because +=
        fmt::format("; speed-up of all device work at most {:.2f}x", facts.job_ceiling);
  }
}

// Launches by kernel and number; the same number in two files is two launches.
using Launches = std::map<std::uint32_t, std::map<std::uint32_t, Launch>>;

// What else was counted, summed by kernel and metric.
using Counters = std::map<std::uint32_t, std::map<std::uint32_t, double>>;

Launches launches_of(const model::Trace& trace, Counters& others) {
  std::map<std::string_view, Fact> known;
  for (const MetricName& metric : kMetrics) known.emplace(metric.name, metric.fact);
  Launches launches;
  for (const model::KernelMetric& metric : trace.kernel_metrics) {
    Launch& launch = launches[metric.kernel][metric.launch];
    const auto fact = known.find(trace.names[metric.metric]);
    if (fact != known.end()) {
      take(launch, fact->second, trace.names[metric.unit], metric.value);
    } else {
      others[metric.kernel][metric.metric] += metric.value;
    }
  }
  for (const model::KernelAdvice& advice : trace.kernel_advice) {
    launches[advice.kernel][advice.launch];
  }
  return launches;
}

void average(const std::map<std::uint32_t, Launch>& launches, KernelFacts& facts) {
  Mean memory;
  Mean compute;
  Mean occupancy;
  double seconds = 0;
  double count = 0;
  for (const auto& [number, launch] : launches) {
    const double weight = launch.times * (launch.seconds > 0 ? launch.seconds : 1e-9);
    memory.add(launch.any_memory(), weight);
    compute.add(launch.compute, weight);
    occupancy.add(launch.occupancy, weight);
    seconds += launch.times * launch.seconds;
    count += launch.times;
  }
  facts.launches = static_cast<std::uint64_t>(std::min(count, 1e15));
  facts.time = from_seconds(std::min(seconds, 1e9));
  facts.memory_percent = memory.value();
  facts.compute_percent = compute.value();
  facts.occupancy_percent = occupancy.value();
}

// Without a bound: the two largest counters.
void name_counters(const model::Trace& trace, const std::map<std::uint32_t, double>& counters,
                   KernelFacts& facts) {
  const bool told = facts.memory_percent || facts.compute_percent || facts.occupancy_percent;
  if (told || !facts.hints.empty() || counters.empty()) return;
  std::vector<std::pair<double, std::string_view>> order;
  for (const auto& [metric, sum] : counters) order.emplace_back(sum, trace.names[metric]);
  std::ranges::sort(order, std::ranges::greater{});
  facts.because = fmt::format("bound unknown from {} counters, such as {} {}", order.size(),
                              order[0].second, show_number(order[0].first));
  if (order.size() > 1 && order[1].first > 0) {
    facts.because += fmt::format(", {} {}", order[1].second, show_number(order[1].first));
  }
}

}  // namespace

std::string_view name(KernelBound bound) {
  switch (bound) {
    case KernelBound::kMemory:
      return "memory";
    case KernelBound::kCompute:
      return "compute";
    case KernelBound::kBoth:
      return "both";
    case KernelBound::kLatency:
      return "latency";
    case KernelBound::kUnknown:
      break;
  }
  return "unknown";
}

std::vector<KernelFacts> kernel_facts(const model::Trace& trace) {
  std::map<std::uint32_t, std::set<std::tuple<std::uint32_t, std::uint32_t, double, bool>>> hints;
  for (const model::KernelAdvice& advice : trace.kernel_advice) {
    hints[advice.kernel].emplace(advice.rule, advice.text, advice.speedup_percent, advice.global);
  }
  const InTrace times = trace_times(trace);
  std::vector<KernelFacts> all;
  Counters others;
  for (const auto& [kernel, launches] : launches_of(trace, others)) {
    KernelFacts facts;
    facts.kernel = std::string(trace.names[kernel]);
    average(launches, facts);
    for (const auto& [rule, text, speedup, global] : hints[kernel]) {
      facts.hints.push_back(
          {std::string(trace.names[rule]), std::string(trace.names[text]), speedup, global});
    }
    conclude_kernel(facts);
    name_counters(trace, others[kernel], facts);
    place(times, facts);
    all.push_back(std::move(facts));
  }
  std::ranges::stable_sort(all, [](const KernelFacts& a, const KernelFacts& b) {
    return std::tuple(-a.in_trace, -a.time) < std::tuple(-b.in_trace, -b.time);
  });
  return all;
}

void join_measured(const std::vector<KernelFacts>& facts, KernelTable& table) {
  std::map<std::string_view, const KernelFacts*> by_name;
  for (const KernelFacts& one : facts) by_name.try_emplace(last_part(base_name(one.kernel)), &one);
  if (by_name.empty()) return;
  const auto share = [](std::optional<double> percent) {
    return percent ? std::optional<double>(*percent / 100) : std::nullopt;
  };
  for (KernelRow& row : table.kernels) {
    const auto found = by_name.find(last_part(base_name(row.name)));
    if (found == by_name.end()) continue;
    row.measured_compute = share(found->second->compute_percent);
    row.measured_memory = share(found->second->memory_percent);
    if (found->second->occupancy_percent) row.occupancy = share(found->second->occupancy_percent);
  }
}

}  // namespace amdahl::profile
