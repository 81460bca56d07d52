#include "observe/watcher.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include <sys/stat.h>

namespace amdahl::observe {
namespace {

constexpr std::size_t kMaxGrowth = 100'000;

}  // namespace

Nanos own_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + Nanos(time.tv_nsec);
}

void SamplingInterval::note(Nanos elapsed, Nanos own_cpu) {
  const Nanos window = elapsed - last_elapsed_;
  if (window < std::chrono::seconds(1)) return;
  const double share = to_seconds(own_cpu - last_cpu_) / to_seconds(window);
  if (share > 0.005) interval_ = std::min(interval_ * 2, Nanos(std::chrono::seconds(1)));
  if (share < 0.001) interval_ = std::max(interval_ / 2, first_);
  last_elapsed_ = elapsed;
  last_cpu_ = own_cpu;
}

Watcher::Watcher(Tree& tree, const Nvml& nvml, std::vector<int> gpus, int accelerators,
                 std::string report_path)
    : tree_{tree},
      nvml_{nvml},
      gpus_{std::move(gpus)},
      report_path_{std::move(report_path)},
      accelerators_(static_cast<std::size_t>(std::max(0, accelerators))) {}

void Watcher::tick(Nanos elapsed, Nanos reaped) {
  last_ = tree_.sample();
  peak_resident_ = std::max(peak_resident_, last_.resident_bytes);
  peak_threads_ = std::max(peak_threads_, last_.threads);
  add(elapsed, last_.cpu + reaped);
  note_report(elapsed);
  if (elapsed >= next_noise_) {
    noise_.sample();
    next_noise_ = elapsed + std::chrono::seconds(1);
  }
}

void Watcher::finish(Nanos wall, Nanos total) {
  if (wall > last_elapsed_) add(wall, total);
  note_report(wall);
}

void Watcher::add(Nanos elapsed, Nanos total_cpu) {
  if (elapsed <= last_elapsed_) return;
  // The time of a child that nobody waited for is lost: the sum may shrink.
  const Nanos used = std::max(Nanos{0}, total_cpu - last_cpu_);
  const double cores = to_seconds(used) / to_seconds(elapsed - last_elapsed_);
  for (std::size_t k = 0; k < accelerators_.size(); ++k) {
    double busy = std::clamp(cores - static_cast<double>(k), 0.0, 1.0);
    if (!gpus_.empty()) {
      const auto gpu = k < gpus_.size() ? nvml_.utilisation(gpus_[k]) : std::nullopt;
      busy = gpu.value_or(std::numeric_limits<double>::quiet_NaN());
    }
    accelerators_[k].add({last_elapsed_, elapsed, busy});
  }
  last_elapsed_ = elapsed;
  last_cpu_ = std::max(last_cpu_, total_cpu);
}

void Watcher::note_report(Nanos elapsed) {
  struct stat info {};
  if (::stat(report_path_.c_str(), &info) != 0) return;
  const auto bytes = static_cast<std::size_t>(info.st_size);
  const std::size_t before = growth_.empty() ? 0 : growth_.back().bytes;
  if (bytes > before && growth_.size() < kMaxGrowth) growth_.push_back({bytes, elapsed});
}

model::Utilisation Watcher::utilisation(Nanos wall, Nanos at_least,
                                        const std::vector<BusySpan>& reported) const {
  model::Utilisation result;
  result.interval = interval_for(wall, at_least);
  result.metric = gpus_.empty() ? "CPU slot" : "NVML GPU_UTIL";
  if (!reported.empty()) result.metric = "reported device busy";
  for (std::size_t k = 0; k < accelerators_.size(); ++k) {
    std::vector<BusySegment> told;
    for (const BusySpan& span : reported) {
      if (span.accelerator == static_cast<int>(k)) told.push_back({span.from, span.to, span.busy});
    }
    result.accelerators.push_back(
        on_grid(told.empty() ? accelerators_[k].segments() : std::span<const BusySegment>(told),
                result.interval, wall));
  }
  return result;
}

std::string Watcher::accelerator_kind(const std::vector<BusySpan>& reported) const {
  if (!gpus_.empty()) return "gpu";
  return reported.empty() ? "cpu slot" : "device";
}

}  // namespace amdahl::observe
