// roofline.h: how close kernels come to what their device can do, where their work is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace.h"
#include "profile/device_peaks.h"
#include "profile/kernel_kinds.h"
#include "profile/op_work.h"

namespace amdahl::profile {

// Sums over kernels and copies whose FLOPs or bytes are known. Bytes are the least that had to be
// moved; what comes from a cache may exceed the bandwidth of the memory.
struct Roofline {
  Nanos time{};
  double flops = 0;
  double bytes = 0;
  double compute_s = 0;           // For the FLOPs at the device's peak for their precision.
  double memory_s = 0;            // For the bytes at the peak bandwidth of its memory.
  bool has_peaks = true;          // All of them ran where the peaks are known.
  std::uint64_t implausible = 0;  // Faster than the peak: the shapes cannot be right, not summed.

  void add(const Roofline& other);
  bool is_known() const { return time > Nanos{}; }
  double flops_per_s() const { return is_known() ? flops / to_seconds(time) : 0; }
  double bytes_per_s() const { return is_known() ? bytes / to_seconds(time) : 0; }
  // Shares of the peaks; nothing if unknown.
  std::optional<double> of_peak() const;
  std::optional<double> of_bandwidth() const;
  // The limit that is nearer: "compute" or "memory"; empty if unknown.
  std::string_view side() const;
};

// Knows the work of each kernel of a trace. FLOPs of an operator are divided among its kernels by
// their time, without those that only convert or copy.
class KernelWork {
 public:
  explicit KernelWork(const model::Trace& trace);  // Keeps a reference.

  // Of one event; time is 0 if its work is unknown.
  Roofline of(const model::DeviceEvent& event, KernelKind kind) const;

  // How a kernel multiplies, by its name, or by the types that its operator was given and its
  // speed.
  std::optional<Precision> precision(const model::DeviceEvent& event, KernelKind kind) const;

 private:
  std::optional<OpWorks::Around> around(const model::DeviceEvent& event, KernelKind kind) const;
  // Of the work of its operator.
  double part_of(const model::DeviceEvent& event, const OpWorks::Around& around) const;
  Roofline of_copy(const model::DeviceEvent& event, const DevicePeaks& peaks) const;
  Roofline against_peaks(Roofline sum, double peak, double saves, const DevicePeaks& peaks) const;
  bool is_of_graph(const model::DeviceEvent& event) const;
  void learn_twins(const std::unordered_map<std::uint32_t, KernelKind>& kinds);

  // A kernel of a graph does what the same kernel did outside of graphs, where that was always the
  // same work.
  struct Twin {
    double flops = 0;
    double bytes = 0;
    double saves = 1;
    std::optional<Precision> precision;
    bool is_one = true;
  };

  const model::Trace& trace_;
  OpWorks works_;
  std::vector<DevicePeaks> peaks_;                 // By device.
  std::unordered_map<std::uint32_t, Nanos> time_;  // Of the kernels of each operator.
  std::unordered_map<std::uint32_t, Twin> twins_;  // By name of the kernel.
};

}  // namespace amdahl::profile
