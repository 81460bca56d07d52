#include "profile/hta.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "profile/hta_rows.h"

namespace amdahl::profile {
namespace {

constexpr double kConsecutiveDelay = 30;  // Microseconds: consecutive_kernel_delay.
constexpr double kSlowLaunch = 50;        // runtime_cutoff.
constexpr double kLateStart = 100;        // launch_delay_cutoff.

using Rows = std::vector<const HtaRow*>;

struct BusySpan {
  double from = 0;
  double to = 0;
};

template <class Keep>
Rows pick(const std::vector<HtaRow>& rows, Keep keep) {
  Rows picked;
  for (const HtaRow& row : rows) {
    if (keep(row)) picked.push_back(&row);
  }
  return picked;
}

Rows by_time(const Rows& rows) {
  std::vector<double> keys;
  for (const HtaRow* row : rows) keys.push_back(row->ts);
  Rows sorted;
  for (const std::size_t at : numpy_order(keys)) sorted.push_back(rows[at]);
  return sorted;
}

// merge_kernel_intervals(). Rounding can make durations negative, and those count as they are.
std::vector<BusySpan> merged_rows(const Rows& rows) {
  std::vector<BusySpan> stretches;
  double farthest = -std::numeric_limits<double>::infinity();
  for (const HtaRow* row : by_time(rows)) {
    if (stretches.empty() || row->ts > farthest) {
      stretches.push_back({row->ts, row->end()});
    } else {
      stretches.back().to = std::max(stretches.back().to, row->end());
    }
    farthest = std::max(farthest, row->end());
  }
  return stretches;
}

double length(const std::vector<BusySpan>& stretches) {
  double sum = 0;
  for (const BusySpan& stretch : stretches) sum += stretch.to - stretch.from;
  return sum;
}

HtaTemporal temporal(const Rows& device, const std::vector<BusySpan>& compute) {
  const std::vector<BusySpan> all = merged_rows(device);
  HtaTemporal out;
  out.kernel_us = all.back().to - all.front().from;
  out.idle_us = out.kernel_us - length(all);
  out.compute_us = length(compute);
  out.non_compute_us = out.kernel_us - out.compute_us - out.idle_us;
  const auto percent = [&](double part) {
    return out.kernel_us > 0 ? std::round(1e4 * part / out.kernel_us) / 100 : 0;
  };
  out.idle_percent = percent(out.idle_us);
  out.compute_percent = percent(out.compute_us);
  out.non_compute_percent = percent(out.non_compute_us);
  return out;
}

// _get_gpu_kernel_type_time().
HtaKernelTypes kernel_types(const std::array<std::vector<BusySpan>, 3>& kinds) {
  std::vector<double> times;
  std::vector<int> changes;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    for (const BusySpan& stretch : kinds[kind]) {
      times.insert(times.end(), {stretch.from, stretch.to});
      changes.insert(changes.end(), {1 << kind, -(1 << kind)});
    }
  }
  const std::vector<std::size_t> order = numpy_order(times);
  HtaKernelTypes out;
  int running = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    running += changes[order[i]];
    if (running <= 0 || running > 7) continue;
    const double time = times[order[i + 1]] - times[order[i]];
    out.us[static_cast<std::size_t>(running)] += static_cast<std::int64_t>(time);
  }
  return out;
}

// get_comm_comp_overlap(): both run where the running sum of +-1 and +-2 is 3.
std::optional<double> overlap_percent(const std::vector<BusySpan>& communication,
                                      const std::vector<BusySpan>& compute) {
  if (communication.empty()) return {};
  std::vector<double> times;
  std::vector<int> changes;
  const auto melt = [&](const std::vector<BusySpan>& stretches, int by) {
    for (const BusySpan& stretch : stretches) times.push_back(stretch.from);
    for (const BusySpan& stretch : stretches) times.push_back(stretch.to);
    changes.insert(changes.end(), stretches.size(), by);
    changes.insert(changes.end(), stretches.size(), -by);
  };
  melt(communication, 1);
  melt(compute, 2);
  const std::vector<std::size_t> order = numpy_order(times);
  int running = 0;
  double both = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    running += changes[order[i]];
    if (running == 3 && i + 1 < order.size()) both += times[order[i + 1]] - times[order[i]];
  }
  return 100 * both / length(communication);
}

HtaSummary summary_of(std::vector<double> values) {
  HtaSummary out;
  out.count = values.size();
  if (values.empty()) return out;
  double sum = 0;
  for (const double value : values) sum += value;
  out.mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1))
                                    : std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  out.least = values.front();
  out.quarter = hta_quantile(values, 0.25);
  out.median = hta_quantile(values, 0.5);
  out.three_quarters = hta_quantile(values, 0.75);
  out.most = values.back();
  return out;
}

// _analyze_idle_time_for_stream().
void idle_of_stream(const Rows& rows, std::vector<HtaIdle>& out) {
  constexpr std::array<std::string_view, 3> kNames = {"host_wait", "kernel_wait", "other"};
  std::array<std::vector<double>, 3> gaps;
  std::array<bool, 3> seen{};
  const HtaRow* before = nullptr;
  for (const HtaRow* row : by_time(rows)) {
    std::size_t category = 2;
    if (before != nullptr) {
      const double gap = row->ts - before->end();
      const bool late = row->launched && *row->launched > before->end();
      category = late ? 0 : gap < kConsecutiveDelay ? 1 : 2;
      gaps[category].push_back(gap);
    }
    seen[category] = true;
    before = row;
  }
  double total = 0;
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (const double gap : gaps[i]) sums[i] += gap;
    total += sums[i];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (!seen[i]) continue;
    out.push_back({rows.front()->stream, kNames[i], sums[i], sums[i] / total,
                   summary_of(std::move(gaps[i]))});
  }
}

std::vector<HtaIdle> idle(const Rows& device) {
  std::vector<std::int64_t> streams;
  std::map<std::int64_t, Rows> by_stream;
  for (const HtaRow* row : device) {
    if (!row->works) continue;
    Rows& rows = by_stream[row->stream];
    if (rows.empty()) streams.push_back(row->stream);
    rows.push_back(row);
  }
  std::vector<HtaIdle> out;
  for (const std::int64_t stream : streams) idle_of_stream(by_stream[stream], out);
  return out;
}

using ByCorrelation = std::unordered_map<std::int64_t, Rows>;

ByCorrelation by_correlation(const Rows& device) {
  ByCorrelation map;
  for (const HtaRow* row : device) map[row->correlation].push_back(row);
  return map;
}

bool counts_as_launch(std::string_view name) {
  constexpr std::string_view kNames[] = {"cudaLaunchKernel", "cudaLaunchKernelExC",
                                         "cudaMemcpyAsync", "cudaMemsetAsync",
                                         "runFunction - job_prep_and_submit_for_execution"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

bool queues(std::string_view name) {
  constexpr std::string_view kNames[] = {
      "cuLaunchKernel",           "cuLaunchKernelEx", "hipLaunchKernel",    "hipMemsetAsync",
      "hipExtModuleLaunchKernel", "hipMemcpyAsync",   "hipMemcpyWithStream"};
  return counts_as_launch(name) || std::ranges::find(kNames, name) != std::end(kNames);
}

// get_cuda_kernel_launch_stats().
HtaLaunches launches(const std::vector<HtaRow>& rows, const ByCorrelation& device) {
  HtaLaunches out;
  std::unordered_map<std::int64_t, bool> launched;
  for (const HtaRow& row : rows) {
    if (counts_as_launch(row.name)) launched[row.correlation] = true;
  }
  for (const HtaRow& call : rows) {
    if (call.stream != -1 || !launched.contains(call.correlation)) continue;
    const auto found = device.find(call.correlation);
    if (found == device.end()) continue;
    for (const HtaRow* work : found->second) {
      const double delay = std::max(0.0, work->ts - call.ts - call.dur);
      ++out.count;
      out.host_us += call.dur;
      out.device_us += work->dur;
      out.delay_us += delay;
      out.delays.push_back(delay);
      if (work->dur < call.dur) ++out.shorter_than_launch;
      if (work->dur < call.dur && call.dur <= kSlowLaunch) ++out.shorter_than_quick_launch;
      if (call.dur > kSlowLaunch) ++out.slow_launches;
      if (delay > kLateStart) ++out.late_starts;
    }
  }
  std::ranges::sort(out.delays);
  return out;
}

HtaQueue queue_of(std::int64_t stream, const std::vector<int>& changes) {
  HtaQueue out{.stream = stream, .count = changes.size(), .least = INT64_MAX, .most = INT64_MIN};
  std::vector<double> lengths;
  std::int64_t length = 0;
  double sum = 0;
  for (const int change : changes) {
    length += change;
    out.least = std::min(out.least, length);
    out.most = std::max(out.most, length);
    sum += static_cast<double>(length);
    lengths.push_back(static_cast<double>(length));
  }
  out.mean = sum / static_cast<double>(changes.size());
  std::ranges::sort(lengths);
  out.median = hta_quantile(lengths, 0.5);
  return out;
}

// _get_queue_length_time_series_for_rank().
std::vector<HtaQueue> queues_of(const std::vector<HtaRow>& rows, const Rows& device,
                                const ByCorrelation& by_id) {
  std::vector<double> times;
  std::vector<std::pair<std::int64_t, int>> changes;  // Stream, and by how much.
  std::unordered_map<std::int64_t, bool> launched;
  for (const HtaRow& call : rows) {
    if (!queues(call.name) || !call.has_peer) continue;
    launched[call.correlation] = true;
    const auto found = by_id.find(call.correlation);
    if (found == by_id.end()) continue;
    for (const HtaRow* work : found->second) {
      times.push_back(call.ts);
      changes.emplace_back(work->stream, 1);
    }
  }
  for (const HtaRow* work : device) {
    if (!launched.contains(work->correlation)) continue;
    times.push_back(work->ts);
    changes.emplace_back(work->stream, -1);
  }
  std::map<std::int64_t, std::vector<int>> by_stream;
  for (const std::size_t at : numpy_order(times)) {
    by_stream[changes[at].first].push_back(changes[at].second);
  }
  std::vector<HtaQueue> out;
  for (const auto& [stream, lengths] : by_stream) out.push_back(queue_of(stream, lengths));
  return out;
}

}  // namespace

std::string hta_kernel_type(std::size_t kinds) {
  constexpr std::array<std::string_view, 3> kNames = {"COMPUTATION", "COMMUNICATION", "MEMORY"};
  std::string text;
  for (std::size_t kind = 0; kind < kNames.size(); ++kind) {
    if ((kinds >> kind & 1) == 0) continue;
    text += text.empty() ? "" : " overlapping ";
    text += kNames[kind];
  }
  return text;
}

double hta_quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - static_cast<double>(low));
}

std::optional<HtaFigures> hta_figures(const model::Trace& trace, std::uint32_t source,
                                      const HtaOptions& options) {
  const std::vector<HtaRow> rows = hta_rows(trace, source, options);
  const Rows device = pick(rows, [](const HtaRow& row) { return row.stream != -1; });
  if (device.empty()) return {};
  const auto of_kind = [&](HtaKind kind) {
    return merged_rows(
        pick(rows, [&](const HtaRow& row) { return row.stream != -1 && row.kind == kind; }));
  };
  const std::vector<BusySpan> compute = of_kind(HtaKind::kComputation);
  const ByCorrelation by_id = by_correlation(device);
  HtaFigures out;
  out.rank = std::max(trace.sources[source].rank, 0);
  out.temporal = temporal(device, compute);
  const std::vector<BusySpan> communication = of_kind(HtaKind::kCommunication);
  out.kernel_types = kernel_types({compute, communication, of_kind(HtaKind::kMemory)});
  out.overlap_percent = overlap_percent(communication, compute);
  out.idle = idle(device);
  out.launches = launches(rows, by_id);
  out.queues = queues_of(rows, device, by_id);
  return out;
}

}  // namespace amdahl::profile
