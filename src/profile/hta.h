// hta.h: the figures of Holistic Trace Analysis, by its own conventions, for who compares with it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"

namespace amdahl::profile {

// What HTA (github.com/facebookresearch/HolisticTraceAnalysis, f4d0062c) answers with its default
// options. Its conventions are not ours (breakdown.h), and docs/guide/hta.md says what they cost:
// - times in microseconds; in files with nanoseconds a start is rounded up and an end down;
// - where a trace has several steps, the last is left out, and so is all that it launched;
// - cuda_sync events count as work of the device;
// - communication is what is called nccl*, hip*, hccl* or *ncclKernel*;
// - idle time is per stream, so that it sums to many times that of the device;
// - a kernel whose launch is not in the file counts as launched by the file's first event.
struct HtaOptions {
  bool round = true;  // As without HTA_DISABLE_NS_ROUNDING.
};

struct HtaTemporal {
  double idle_us = 0;
  double compute_us = 0;
  double non_compute_us = 0;
  double kernel_us = 0;  // First start to last end.
  // Of that, with two decimals.
  double idle_percent = 0;
  double compute_percent = 0;
  double non_compute_percent = 0;
};

// How long kernels of each kind ran alone or side by side: get_gpu_kernel_breakdown() with memory
// kernels. Parts of a microsecond are dropped from each stretch, as HTA does.
struct HtaKernelTypes {
  // By the sum of 1 for computation, 2 for communication and 4 for memory.
  std::array<std::int64_t, 8> us{};
};
// "COMPUTATION overlapping MEMORY".
std::string hta_kernel_type(std::size_t kinds);

// As DataFrame.describe(), not rounded. All but `count` mean nothing if that is 0.
struct HtaSummary {
  std::uint64_t count = 0;
  double mean = 0;
  double deviation = 0;  // Not a number for a single value.
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
  std::vector<double> delays;  // Sorted; for quantiles (hta_quantile()).
  std::uint64_t shorter_than_launch = 0;
  std::uint64_t shorter_than_quick_launch = 0;  // One of at most 50 us.
  std::uint64_t slow_launches = 0;              // Over 50 us.
  std::uint64_t late_starts = 0;                // Over 100 us after the launch.
};

struct HtaQueue {
  std::int64_t stream = 0;
  std::uint64_t count = 0;  // Changes of the length.
  double mean = 0;
  std::int64_t least = 0;
  double median = 0;
  std::int64_t most = 0;
};

struct HtaFigures {
  std::int32_t rank = 0;  // 0 where the file does not say.
  HtaTemporal temporal;
  HtaKernelTypes kernel_types;
  std::optional<double>
      overlap_percent;        // Of communication by computation; none: no communication.
  std::vector<HtaIdle> idle;  // By stream in order of appearance, then by category.
  HtaLaunches launches;
  std::vector<HtaQueue> queues;  // By stream.
};

// Of one source. Rows in the order of the file, as they are before TraceBuilder::finish(), give its
// answers to the last digit: HTA's sort does not keep the order of equal times, and the mean of the
// queue depends on it. Nothing for a source whose devices did nothing.
std::optional<HtaFigures> hta_figures(const model::Trace& trace, std::uint32_t source,
                                      const HtaOptions& options = {});

// Linear between the two nearest, as numpy. `sorted` must not be empty.
double hta_quantile(const std::vector<double>& sorted, double q);

}  // namespace amdahl::profile
