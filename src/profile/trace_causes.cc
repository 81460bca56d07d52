#include "profile/trace_causes.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/advice.h"
#include "profile/causes.h"
#include "profile/readings.h"
#include "profile/serving.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using model::Cause;
using model::kNone;

// Idle time inside CUDA graphs above this share of all makes a conclusion impossible.
constexpr double kHiddenInGraphs = 0.2;
// From here on of the time that devices compute, no cause names the class.
constexpr double kFullOfWork = 0.9;
// Nor from here on, if the largest cause has less than a tenth of that.
constexpr double kMostlyWork = 0.8;
constexpr double kOverCause = 10;

// Accelerator time by reason: idle time by its causes, and what keeps a device busy in vain.
std::array<Nanos, kWhys> wasted(const TraceReport& report) {
  std::array<Nanos, kWhys> times{};
  Nanos waited{};
  for (const RankFacts& rank : report.ranks.ranks) {
    waited += std::min(rank.waited, rank.exposed - std::min(rank.unseen, rank.exposed));
  }
  for (const DeviceRow& row : report.devices) {
    for (std::size_t i = 0; i < kWhys; ++i) times[i] += row.gaps.by_why[i];
    times[at(Why::kComm)] += row.split.exposed_communication;
    times[at(Why::kCopy)] += row.split.exposed_memory;
  }
  times[at(Why::kStraggler)] += waited;
  times[at(Why::kComm)] -= std::min(waited + unseen_of(report), times[at(Why::kComm)]);
  return times;
}

const GapPlace* top_place(const TraceReport& report, Why why) {
  const GapPlace* best = nullptr;
  for (const DeviceRow& row : report.devices) {
    for (const GapPlace& place : row.gaps.places) {
      if (place.why == why && (best == nullptr || place.time > best->time)) best = &place;
    }
  }
  return best;
}

// A frame of Python says its line itself; other names are clipped.
std::string most_at(std::string_view what, std::string_view line) {
  if (!line.empty() && contains(what, ".py(")) return fmt::format(", most at {}", line);
  const bool is_place = what.starts_with("between ") || what.starts_with("before ");
  std::string text = fmt::format(", most {}{}", is_place ? "" : "in ", clip(what, 80));
  if (!line.empty()) text += fmt::format(" at {}", line);
  return text;
}

std::string because(const TraceReport& report, Why why, Nanos time, Nanos allocated) {
  std::string text = fmt::format("{} of {} on {} device{}", show_span(time), show_span(allocated),
                                 report.devices.size(), report.devices.size() == 1 ? "" : "s");
  if (why == Why::kStraggler && report.ranks.straggler != kNone) {
    const RankFacts& rank = report.ranks.ranks[report.ranks.straggler];
    text += fmt::format(", rank {} arrived last {} times and made others wait {}", rank.rank,
                        rank.last, show_span(rank.made_wait));
  }
  // Copies are mostly device time, which has no source line.
  const GapPlace* place = top_place(report, why);
  if (place != nullptr && place->time * 10 >= time) {
    text += most_at(place->what, place->line);
    text += fmt::format(" ({})", show_span(place->time));
  }
  return text;
}

// The job's speed-up without this reason, as the what-ifs compute it. For a reason that no what-if
// removes, Amdahl's law on the device with the most idle time of that reason. No speed-up is
// claimed for unexplained time: nobody knows whether it can be removed.
double ceiling_of(const TraceReport& report, Why why) {
  if (why == Why::kUnknown) return 1;
  for (const Gain& gain : report.gains.alone) {
    if (gain.first == why) return gain.ceiling;
  }
  Nanos most{};
  for (const DeviceRow& row : report.devices) most = std::max(most, row.gaps.by_why[at(why)]);
  if (report.wall <= most) return std::numeric_limits<double>::infinity();
  return to_seconds(report.wall) / to_seconds(report.wall - most);
}

// The same for steps, along the critical path.
std::string because_of_steps(const TraceReport& report, Why why, Nanos time, Nanos allocated) {
  std::string text = fmt::format("{} of {} of the steps", show_span(time), show_span(allocated));
  const auto most = std::ranges::find(report.path.shares, why, &PathShare::why);
  if (most == report.path.shares.end()) return text;
  text += most_at(most->what, most->line);
  return text + fmt::format(" ({})", show_span(most->time));
}

// Copies and memsets within a device are memory work: no data is late.
bool copies_stay(const model::Trace& trace) {
  Nanos within{};
  Nanos others{};
  for (const model::DeviceEvent& event : trace.device_events) {
    const bool copies = event.kind == model::DeviceKind::kCopy;
    if (!copies && event.kind != model::DeviceKind::kSet) continue;
    const bool stays = !copies || event.copy == model::CopyKind::kDeviceToDevice;
    (stays ? within : others) += event.duration;
  }
  return within > others;
}

void add_causes(const Prepared& in, TraceReport& report, const std::array<Nanos, kWhys>& times,
                Nanos allocated, bool on_devices) {
  for (const WhyRow& row : whys()) {
    if (row.why == Why::kKernel || times[at(row.why)] <= Nanos{}) continue;
    Cause cause;
    cause.share = to_seconds(times[at(row.why)]) / to_seconds(allocated);
    if (cause.share < kSmallestCause) continue;
    set_kind(cause, row.cause);
    cause.bottleneck =
        row.why == Why::kCopy && copies_stay(in.trace) ? Bottleneck::kCompute : row.bottleneck;
    cause.accelerator_seconds = to_seconds(times[at(row.why)]);
    cause.ceiling = ceiling_of(report, row.why);
    cause.because = on_devices ? because(report, row.why, times[at(row.why)], allocated)
                               : because_of_steps(report, row.why, times[at(row.why)], allocated);
    report.profile.causes.push_back(std::move(cause));
  }
  std::ranges::stable_sort(report.profile.causes, std::ranges::greater{}, &Cause::share);
}

// None in a job of PyTorch, which may have a library that uses it.
double opencl_calls(const Prepared& in) {
  double calls = 0;
  for (const model::HostEvent& event : in.trace.host_events) {
    if (in.names.kind(event) == model::HostKind::kOp) return 0;
    const bool is_call = event.kind == model::HostKind::kRuntime;
    if (is_call && in.trace.names[event.name].starts_with("clEnqueue")) ++calls;
  }
  return calls;
}

// Whether the job is compiled, or knows no PyTorch at all.
void add_framework(const Prepared& in, std::map<std::string, double>& evidence) {
  double compiled = 0;
  double steps = 0;
  Nanos in_compiled{};
  Nanos in_ops{};  // Outermost operators.
  // Other files come from PyTorch's own profiler.
  bool is_torch = std::ranges::any_of(in.trace.sources, [](const model::TraceSource& source) {
    return source.format != "nsys" && source.format != "rocpd";
  });
  for (const model::HostEvent& event : in.trace.host_events) {
    const std::string_view name = in.trace.name(event);
    is_torch = is_torch || event.kind == model::HostKind::kPython || name.starts_with("aten::") ||
               in.names.kind(event) == model::HostKind::kOp;
    if (event.kind == model::HostKind::kAnnotation && serving_step(name)) ++steps;
    const bool is_inner = event.parent != kNone &&
                          in.names.kind(in.trace.host_events[event.parent]) == model::HostKind::kOp;
    if (in.names.kind(event) == model::HostKind::kOp && !is_inner) in_ops += event.duration;
    if (name.starts_with("CompiledFunction") || name.starts_with("Torch-Compiled Region")) {
      ++compiled;
      in_compiled += event.duration;
    }
  }
  if (4 * in_compiled > in_ops) evidence[kCompiledCalls] = compiled;
  if (steps > 0) evidence[kServerSteps] = steps;
  const auto of_jax = std::ranges::count(in.trace.sources, "xplane", &model::TraceSource::format);
  if (of_jax > 0) evidence[kJaxSources] = static_cast<double>(of_jax);
  double kernels = 0;
  for (const model::DeviceEvent& event : in.trace.device_events) {
    if (is_torch || event.kind != model::DeviceKind::kKernel) continue;
    is_torch = contains(in.trace.name(event), "at::native");
    ++kernels;
  }
  if (!is_torch && kernels > 0) evidence[kNativeKernels] = kernels;
}

// "input" is in the evidence as trace.input_share.
void add_evidence(const Prepared& in, TraceReport& report, const std::array<Nanos, kWhys>& times,
                  Nanos allocated) {
  auto& evidence = report.profile.evidence;
  evidence["trace.wall_s"] = to_seconds(report.wall);
  evidence["trace.devices"] = static_cast<double>(report.devices.size());
  evidence["trace.sources"] = static_cast<double>(report.sources.size());
  const double all = to_seconds(allocated);
  if (all > 0) {
    Nanos busy{};
    Nanos compute{};
    std::uint64_t kernels = 0;
    std::uint64_t short_kernels = 0;
    for (const DeviceRow& row : report.devices) {
      busy += row.split.busy;
      compute += row.split.compute;
      kernels += row.split.kernels;
      short_kernels += row.split.short_kernels;
    }
    if (!report.devices.empty()) {
      evidence["trace.busy_share"] = to_seconds(busy - unseen_of(report)) / all;
      evidence["trace.compute_share"] = to_seconds(compute) / all;
    }
    if (kernels > 0) {
      evidence["trace.short_kernel_share"] =
          static_cast<double>(short_kernels) / static_cast<double>(kernels);
      evidence["trace.graph_kernel_share"] =
          static_cast<double>(report.ranks.graph_kernels) / static_cast<double>(kernels);
    }
    for (const WhyRow& row : whys()) {
      if (row.why == Why::kKernel || row.why == Why::kProfiler) continue;
      evidence[fmt::format("trace.{}_share", row.name)] = to_seconds(times[at(row.why)]) / all;
    }
  }
  if (const double calls = opencl_calls(in); calls > 0) evidence[kOpenClCalls] = calls;
  add_framework(in, evidence);
  if (report.wall > Nanos{}) {
    evidence["trace.path_device_share"] =
        to_seconds(device_time(report.path.by_why)) / to_seconds(report.wall);
  }
  if (report.steps.empty()) return;
  std::vector<Nanos> walls;
  Nanos sum{};
  for (const StepRow& step : report.steps) {
    walls.push_back(step.wall);
    sum += step.wall;
  }
  std::ranges::sort(walls);
  evidence["trace.steps"] = static_cast<double>(walls.size());
  evidence["trace.step_ms"] = to_seconds(sum) * 1e3 / static_cast<double>(walls.size());
  evidence["trace.step_p50_ms"] = to_seconds(walls[walls.size() / 2]) * 1e3;
  evidence["trace.step_p95_ms"] = to_seconds(walls[(walls.size() - 1) * 95 / 100]) * 1e3;
}

// A busy device and a path of host work contradict each other, unless nobody waits for the device.
void add_unseen_waits(const Prepared& in, TraceReport& report) {
  const auto busy = report.profile.evidence.find("trace.busy_share");
  const auto path = report.profile.evidence.find("trace.path_device_share");
  if (busy == report.profile.evidence.end() || path == report.profile.evidence.end()) return;
  if (busy->second < kComputeAtLeast || path->second > busy->second / 2) return;
  const bool waits = std::ranges::any_of(in.trace.host_events, [&](const model::HostEvent& event) {
    const Api api = in.names.api(event);
    return api == Api::kSync || api == Api::kBlockingCopy;
  });
  if (waits) return;
  report.profile.missing.push_back(fmt::format(
      "waits: devices are busy {} of the time, but the trace has no call that waits for a device, "
      "so the critical path follows the host; if the host does wait, the device is critical",
      show_percent(busy->second)));
}

void add_missing(const Prepared& in, TraceReport& report) {
  auto& missing = report.profile.missing;
  // Kernel reports, samples and waits need not contain device events.
  const bool is_timeline = !in.trace.host_events.empty() || !in.trace.device_events.empty();
  const bool has_other = !report.kernels.empty() || !report.waits.empty() || !report.hot.empty();
  if (!is_timeline && has_other) {
    missing.emplace_back(
        "timeline: no file has devices and launches over time; add a trace of the PyTorch Profiler "
        "or of Nsight Systems");
    return;
  }
  const auto all_from = [&](std::string_view tool) {
    return std::ranges::all_of(report.sources,
                               [&](const SourceRow& source) { return source.format == tool; });
  };
  const bool nsight = all_from("nsys");
  if (report.devices.empty()) {
    missing.push_back(fmt::format(
        "devices: the trace has no device events, so accelerator use is unknown; record with "
        "{}",
        nsight ? "nsys profile --trace=cuda,nvtx,osrt, on a machine with access to the GPU driver"
               : "ProfilerActivity.CUDA, or as root where counters are restricted"));
  }
  if (in.trace.host_events.empty()) {
    missing.emplace_back("host: the trace has no host events, so no gap can be explained");
  }
  if (in.trace.steps.empty()) {
    missing.push_back(fmt::format(
        "steps: none are marked; {}",
        all_from("rocpd")
            ? "put each iteration into a ROCTx range named ProfilerStep#1, ProfilerStep#2, ..."
        : nsight || report.profile.evidence.contains(kOpenClCalls)
            ? "put each iteration into an NVTX range named ProfilerStep#1, ProfilerStep#2, ..."
        : report.profile.evidence.contains(kJaxSources)
            ? "wrap each iteration in jax.profiler.StepTraceAnnotation(\"train\", step_num=i)"
            : "call prof.step() once per iteration"));
  }
  std::int32_t world = 0;
  for (const SourceRow& source : report.sources) world = std::max(world, source.world_size);
  const auto given = static_cast<std::int32_t>(report.ranks.ranks.size());
  if (world > 1 && given > 0 && given < world) {
    missing.push_back(fmt::format(
        "ranks: {} of {} given; give the traces of all of them to see which rank is late", given,
        world));
  }
  std::set<std::int32_t> seen;
  for (const RankFacts& rank : report.ranks.ranks) {
    if (rank.rank >= 0 && !seen.insert(rank.rank).second) {
      missing.push_back(fmt::format("ranks: more than one file claims to be rank {}", rank.rank));
    }
  }
}

std::string trace_line_of(const Cause& cause) {
  return fmt::format("{} {}, speed-up {}", cause.name, show_percent(cause.share),
                     is_unexplained(cause) ? "unknown"
                     : cause.ceiling < 100 ? fmt::format("at most {:.2f}x", cause.ceiling)
                                           : "unbounded");
}

// The share of idle time that may in fact be kernels inside CUDA graphs.
double hidden_share(const TraceReport& report, Nanos allocated) {
  Nanos hidden{};
  for (const DeviceRow& row : report.devices) hidden += row.gaps.in_graphs;
  return allocated > Nanos{} ? to_seconds(hidden) / to_seconds(allocated) : 0;
}

// The longest time from the first to the last event of a device. If it is short, the device is
// hardly used, and its idle reasons do not explain the job.
Nanos longest_span(const TraceReport& report) {
  Nanos longest{};
  for (const DeviceRow& row : report.devices) longest = std::max(longest, row.split.span);
  return longest;
}

bool is_brief(const TraceReport& report) {
  return !report.devices.empty() && longest_span(report) < (report.wall + Nanos{1}) / 2;
}

Nanos time_in_steps(const TraceReport& report) {
  Nanos sum{};
  for (const StepRow& step : report.steps) sum += step.wall;
  return sum;
}

// If steps cover most of the time, they also explain the time before the first device event.
bool steps_tell(const TraceReport& report) {
  return is_brief(report) && report.wall - time_in_steps(report) <= report.wall / 5;
}

// Empty if devices are used, or if steps explain the time.
std::string brief_devices(const TraceReport& report) {
  if (!is_brief(report) || steps_tell(report)) return "";
  std::string path;
  if (!report.path.shares.empty()) {
    const PathShare& most = report.path.shares.front();
    path = fmt::format("; most of the critical path ({}) is {}: {}",
                       show_percent(to_seconds(most.time) / to_seconds(report.wall)),
                       name(most.why), clip(most.what, 80));
  }
  return fmt::format(
      "unknown: all device events lie within {} of {}; record whole steps in steady state{}",
      show_span(longest_span(report)), show_span(report.wall), path);
}

bool is_cut_short(const model::Trace& trace) {
  return std::ranges::any_of(trace.losses, [](const model::Loss& loss) {
    return loss.kind == model::LossKind::kTruncated || loss.kind == model::LossKind::kBudget;
  });
}

// What bounds the most expensive kernel that Nsight Compute measured; empty if there is none.
std::string kernel_line(const TraceReport& report) {
  if (report.kernels.empty()) return "";
  const KernelFacts& most = report.kernels.front();
  if (most.bound == KernelBound::kUnknown) return "";
  return fmt::format("; kernel {} is bound by {} ({})", clip(most.kernel, 60),
                     most.bound == KernelBound::kBoth ? "memory and compute" : name(most.bound),
                     most.because);
}

void classify_trace(const Prepared& in, TraceReport& report, Nanos allocated) {
  model::Profile& profile = report.profile;
  const Cause* largest = profile.causes.empty() ? nullptr : &profile.causes.front();
  profile.bottleneck = Bottleneck::kUnknown;
  if (allocated <= Nanos{}) {
    const std::string kernels = kernel_line(report);
    profile.rule = kernels.empty() ? "unknown: the trace has neither device events nor steps"
                                   : "unknown: no file has a timeline of the job" + kernels;
    return;
  }
  if (report.devices.empty() && is_cut_short(in.trace)) {
    profile.rule = "unknown: a file is cut short before its first device event";
    return;
  }
  if (const double hidden = hidden_share(report, allocated); hidden > kHiddenInGraphs) {
    profile.rule = fmt::format(
        "unknown: {} of the time is inside CUDA graphs; the trace does not record their kernels",
        show_percent(hidden));
    return;
  }
  if (const std::string brief = brief_devices(report); !brief.empty()) {
    profile.rule = brief;
    return;
  }
  const auto compute = profile.evidence.find("trace.compute_share");
  const bool is_full =
      compute != profile.evidence.end() && largest != nullptr &&
      compute->second >= std::min(kFullOfWork, std::max(kMostlyWork, kOverCause * largest->share));
  if (is_full && largest != nullptr && largest->share >= kCauseThatCounts) {
    profile.bottleneck = Bottleneck::kCompute;
    profile.rule =
        fmt::format("trace.compute_share is {}, beside which {} is small{}",
                    show_percent(compute->second), trace_line_of(*largest), kernel_line(report));
    return;
  }
  if (largest != nullptr && largest->share >= kCauseThatCounts) {
    profile.bottleneck = largest->bottleneck;
    profile.rule =
        profile.bottleneck == Bottleneck::kUnknown
            ? fmt::format("unknown: the largest cause is {} ({})", trace_line_of(*largest),
                          largest->because)
            : fmt::format("largest cause: {} ({})", trace_line_of(*largest), largest->because);
    return;
  }
  const std::string none = fmt::format("no cause reaches {}", show_percent(kCauseThatCounts));
  const auto busy = profile.evidence.find("trace.busy_share");
  if (busy == profile.evidence.end()) {
    profile.rule = fmt::format("unknown: {}, and there are no device events", none);
    return;
  }
  const bool computes = busy->second >= kComputeAtLeast;
  if (computes) profile.bottleneck = Bottleneck::kCompute;
  profile.rule = fmt::format("{}trace.busy_share is {} ({} {}) and {}",
                             computes ? "" : "unknown: ", show_percent(busy->second),
                             computes ? "at least" : "below", show_percent(kComputeAtLeast), none);
  if (computes) profile.rule += kernel_line(report);
}

// Without devices: from the thread that marks the steps.
std::array<Nanos, kWhys> of_steps(const TraceReport& report) {
  std::array<Nanos, kWhys> times{};
  for (const Why why : {Why::kInput, Why::kLogging, Why::kCheckpoint, Why::kGc, Why::kComm}) {
    for (const StepRow& step : report.steps) times[at(why)] += step.path[at(why)];
  }
  return times;
}

// What the path of the steps went through beside the work of devices.
std::array<Nanos, kWhys> of_paths(const TraceReport& report) {
  std::array<Nanos, kWhys> times{};
  for (const StepRow& step : report.steps) {
    for (std::size_t i = 0; i < kWhys; ++i) times[i] += step.path[i];
  }
  times[at(Why::kKernel)] = {};
  return times;
}

}  // namespace

void conclude(const Prepared& prepared, TraceReport& report) {
  const bool in_steps = report.devices.empty() || steps_tell(report);
  const std::array<Nanos, kWhys> times = !in_steps                ? wasted(report)
                                         : report.devices.empty() ? of_steps(report)
                                                                  : of_paths(report);
  const Nanos allocated = in_steps ? time_in_steps(report) : allocated_of(report);
  report.is_told_by_steps = in_steps;
  report.profile.wall = report.wall;
  report.profile.accelerators = static_cast<int>(report.devices.size());
  add_evidence(prepared, report, times, allocated);
  add_readings(prepared, report);
  add_missing(prepared, report);
  add_unseen_waits(prepared, report);
  if (allocated > Nanos{}) add_causes(prepared, report, times, allocated, !in_steps);
  classify_trace(prepared, report, allocated);
}

}  // namespace amdahl::profile
