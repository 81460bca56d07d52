// hta.h: the figures of Holistic Trace Analysis, by its own conventions, for comparison.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

// What HTA (github.com/facebookresearch/HolisticTraceAnalysis, f4d0062c) reports with default
// options. Its conventions differ from ours (breakdown.h); docs/guide/hta.md describes the
// effects:
// - times in microseconds; in files with nanoseconds, starts are rounded up and ends down;
// - the last of several steps is left out, with everything it launched;
// - cuda_sync events count as device work;
// - communication is what is named nccl*, hip*, hccl* or *ncclKernel*;
// - idle time is per stream, so it sums to a multiple of the device's idle time;
// - a kernel whose launch is not in the file counts as launched by the file's first event.
struct HtaOptions {
  bool round = true;  // False: as with HTA_DISABLE_NS_ROUNDING.
};

struct HtaTemporal {
  double idle_us = 0;
  double compute_us = 0;
  double non_compute_us = 0;
  double kernel_us = 0;  // From first start to last end.
  // Of kernel_us, with two decimals.
  double idle_percent = 0;
  double compute_percent = 0;
  double non_compute_percent = 0;
};

// How long kernels of each kind ran alone or concurrently: get_gpu_kernel_breakdown() with memory
// kernels. Fractions of a microsecond are dropped from each interval, as in HTA.
struct HtaKernelTypes {
  // Indexed by the sum of 1 for computation, 2 for communication and 4 for memory.
  std::array<std::int64_t, 8> us{};
};
// "COMPUTATION overlapping MEMORY".
std::string hta_kernel_type(std::size_t kinds);

// Like DataFrame.describe(), not rounded. Only `count` is valid if it is 0.
struct HtaSummary {
  std::uint64_t count = 0;
  double mean = 0;
  double deviation = 0;  // NaN for a single value.
  double least = 0;
  double quarter = 0;
  double median = 0;
  double three_quarters = 0;
  double most = 0;
};

struct HtaIdle {
  std::int64_t stream = 0;
  std::string_view category;  // "host_wait", "kernel_wait", "other".
  double idle_us = 0;
  double ratio = 0;  // Of the stream's idle time.
  HtaSummary intervals;
};

struct HtaLaunches {
  std::uint64_t count = 0;
  double host_us = 0;
  double device_us = 0;
  double delay_us = 0;
  std::vector<double> delays;  // Sorted; for hta_quantile().
  std::uint64_t shorter_than_launch = 0;
  std::uint64_t shorter_than_quick_launch = 0;  // Shorter than their launch of at most 50 us.
  std::uint64_t slow_launches = 0;              // Over 50 us.
  std::uint64_t late_starts = 0;                // Over 100 us after the launch.
};

struct HtaQueue {
  std::int64_t stream = 0;
  std::uint64_t count = 0;  // Changes of the queue length.
  double mean = 0;
  std::int64_t least = 0;
  double median = 0;
  std::int64_t most = 0;
};

struct HtaFigures {
  std::int32_t rank = 0;  // 0 if not in the file.
  HtaTemporal temporal;
  HtaKernelTypes kernel_types;
  std::optional<double>
      overlap_percent;  // Communication overlapped by computation; nothing without communication.
  std::vector<HtaIdle> idle;  // By stream in order of appearance, then by category.
  HtaLaunches launches;
  std::vector<HtaQueue> queues;  // By stream.
};

// Figures of one source. Pass rows in file order, as before TraceBuilder::finish(), to match HTA
// to the last digit: its sort is not stable, and the mean queue length depends on it. Nothing if
// the source has no device work.
std::optional<HtaFigures> hta_figures(const model::Trace& trace, std::uint32_t source,
                                      const HtaOptions& options = {});

// Linear interpolation as in numpy. `sorted` must not be empty.
double hta_quantile(const std::vector<double>& sorted, double q);

}  // namespace amdahl::profile
