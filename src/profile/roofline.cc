#include "profile/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::kNone;

// Above the peak by clocks and rounding, but not by more.
constexpr double kTolerated = 1.05;

struct NamedPrecision {
  std::string_view part;  // Of a kernel's name in lower case.
  Precision precision;
};

// The first that fits counts.
constexpr auto kPrecisions = std::to_array<NamedPrecision>({
    {"tf32", Precision::kTensor32},
    {"e4m3", Precision::kEighth},
    {"e5m2", Precision::kEighth},
    {"bf16", Precision::kHalf},
    {"fp16", Precision::kHalf},
    {"s16816", Precision::kHalf},
    {"h16816", Precision::kHalf},
    {"h1688", Precision::kHalf},
    {"f16_s", Precision::kHalf},
    {"s1688gemm", Precision::kTensor32},
    {"h884", Precision::kHalf},
    {"s884", Precision::kHalf},
    {"hgemm", Precision::kHalf},
    {"dgemm", Precision::kDouble},
    {"sgemm", Precision::kSingle},
    {"scudnn", Precision::kSingle},
});

std::optional<Precision> precision_in(std::string_view kernel) {
  const std::string low = lower(kernel);
  for (const NamedPrecision& row : kPrecisions) {
    if (contains(low, row.part)) return row.precision;
  }
  return std::nullopt;
}

// Whether a kernel of this kind does what its operator is for.
bool multiplies(KernelKind kind) {
  switch (kind) {
    case KernelKind::kGemm:
    case KernelKind::kAttention:
    case KernelKind::kConvolution:
    case KernelKind::kMoe:
    case KernelKind::kReduction:
    case KernelKind::kOther:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Roofline::add(const Roofline& other) {
  time += other.time;
  flops += other.flops;
  bytes += other.bytes;
  compute_s += other.compute_s;
  memory_s += other.memory_s;
  has_peaks = has_peaks && other.has_peaks;
  implausible += other.implausible;
}

std::optional<double> Roofline::of_peak() const {
  if (!is_known() || !has_peaks || flops <= 0) return std::nullopt;
  return compute_s / to_seconds(time);
}

std::optional<double> Roofline::of_bandwidth() const {
  if (!is_known() || !has_peaks || bytes <= 0) return std::nullopt;
  return memory_s / to_seconds(time);
}

std::string_view Roofline::side() const {
  if (!is_known() || !has_peaks || bytes <= 0) return "";
  return compute_s > memory_s ? "compute" : "memory";
}

KernelWork::KernelWork(const model::Trace& trace) : trace_{trace}, works_{trace} {
  for (const model::TraceDevice& device : trace.devices) {
    peaks_.push_back(device_peaks(trace, device));
  }
  std::unordered_map<std::uint32_t, KernelKind> kinds;  // By name.
  if (works_.empty()) return;
  for (const DeviceEvent& event : trace.device_events) {
    if (event.kind != model::DeviceKind::kKernel || event.launch == kNone) continue;
    const auto [kind, added] = kinds.try_emplace(event.name, KernelKind::kOther);
    if (added) kind->second = kernel_kind(trace.name(event));
    if (const auto found = around(event, kind->second)) time_[found->op] += event.duration;
  }
  learn_twins(kinds);
}

bool KernelWork::is_of_graph(const DeviceEvent& event) const {
  return event.detail != kNone && trace_.details[event.detail].graph_node != 0;
}

void KernelWork::learn_twins(const std::unordered_map<std::uint32_t, KernelKind>& kinds) {
  constexpr double kSame = 0.01;
  for (const DeviceEvent& event : trace_.device_events) {
    const auto kind = kinds.find(event.name);
    if (event.kind != model::DeviceKind::kKernel || kind == kinds.end()) continue;
    const auto found = around(event, kind->second);
    if (!found) continue;
    const double part = part_of(event, *found);
    const Twin seen{.flops = found->work->flops * part,
                    .bytes = found->work->bytes * part,
                    .saves = found->work->saves,
                    .precision = precision(event, kind->second)};
    const auto [twin, added] = twins_.try_emplace(event.name, seen);
    if (added) continue;
    const bool is_same = std::abs(twin->second.flops - seen.flops) <= kSame * seen.flops &&
                         std::abs(twin->second.bytes - seen.bytes) <= kSame * seen.bytes;
    twin->second.is_one = twin->second.is_one && is_same;
  }
}

std::optional<OpWorks::Around> KernelWork::around(const DeviceEvent& event, KernelKind kind) const {
  if (works_.empty() || event.kind != model::DeviceKind::kKernel) return std::nullopt;
  // A graph's kernels were recorded elsewhere: what surrounds its launch did not give the shapes.
  if (is_of_graph(event)) return std::nullopt;
  const auto found = works_.around(event.launch);
  if (found && found->work->flops > 0 && !multiplies(kind)) return std::nullopt;
  return found;
}

double KernelWork::part_of(const DeviceEvent& event, const OpWorks::Around& around) const {
  const Nanos whole = time_.at(around.op);
  return whole > Nanos{} ? to_seconds(event.duration) / to_seconds(whole) : 0;
}

std::optional<Precision> KernelWork::precision(const DeviceEvent& event, KernelKind kind) const {
  if (const auto named = precision_in(trace_.name(event))) return named;
  const auto found = around(event, kind);
  if (!found || !found->work->is_precision_known) return std::nullopt;
  if (found->work->precision != Precision::kSingle) return found->work->precision;
  // Types say no more than single precision where TF32 is allowed; the speed does.
  const DevicePeaks& peaks = peaks_[trace_.device_of(event)];
  const double flops = found->work->flops * part_of(event, *found);
  const bool is_faster =
      found->work->saves == 1 &&
      flops > kTolerated * peaks.of(Precision::kSingle) * to_seconds(event.duration);
  return is_faster && peaks.of(Precision::kTensor32) > 0 ? Precision::kTensor32
                                                         : Precision::kSingle;
}

Roofline KernelWork::of(const DeviceEvent& event, KernelKind kind) const {
  if (event.duration <= Nanos{} || event.stream == kNone) return {};
  const DevicePeaks& peaks = peaks_[trace_.device_of(event)];
  if (event.kind != model::DeviceKind::kKernel) return of_copy(event, peaks);
  Roofline sum;
  sum.time = event.duration;
  if (is_of_graph(event)) {
    const auto twin = twins_.find(event.name);
    if (twin == twins_.end() || !twin->second.is_one) return {};
    sum.flops = twin->second.flops;
    sum.bytes = twin->second.bytes;
    const Precision how = twin->second.precision.value_or(Precision::kSingle);
    return against_peaks(sum, peaks.of(how), twin->second.saves, peaks);
  }
  const auto found = around(event, kind);
  if (!found) return {};
  const double part = part_of(event, *found);
  sum.flops = found->work->flops * part;
  sum.bytes = found->work->bytes * part;
  const double peak = peaks.of(precision(event, kind).value_or(Precision::kSingle));
  return against_peaks(sum, peak, found->work->saves, peaks);
}

// Refused if it were faster than the device can be.
Roofline KernelWork::against_peaks(Roofline sum, double peak, double saves,
                                   const DevicePeaks& peaks) const {
  sum.has_peaks = peaks.bytes > 0 && (sum.flops <= 0 || peak > 0);
  if (!sum.has_peaks) return sum;
  if (peak > 0) sum.compute_s = sum.flops / peak;
  sum.memory_s = sum.bytes / peaks.bytes;
  if (sum.compute_s <= kTolerated * saves * to_seconds(sum.time)) return sum;
  Roofline refused;
  refused.implausible = 1;
  return refused;
}

Roofline KernelWork::of_copy(const DeviceEvent& event, const DevicePeaks& peaks) const {
  Roofline sum;
  const std::uint64_t bytes = event.detail == kNone ? 0 : trace_.details[event.detail].bytes;
  if (bytes == 0) return sum;
  const bool within = event.copy == model::CopyKind::kDeviceToDevice;
  sum.time = event.duration;
  sum.bytes = static_cast<double>(bytes) * (within ? 2 : 1);  // Read and written.
  sum.has_peaks = peaks.bytes > 0 && (within || event.kind == model::DeviceKind::kSet);
  if (sum.has_peaks) sum.memory_s = sum.bytes / peaks.bytes;
  return sum;
}

}  // namespace amdahl::profile
