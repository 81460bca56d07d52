#include "observe/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace amdahl::observe {
namespace {

constexpr std::size_t kFull = 1 << 15;
constexpr std::int64_t kMaxIntervals = 2000;

BusySegment merge(const BusySegment& a, const BusySegment& b) {
  const double first = to_seconds(a.to - a.from);
  const double second = to_seconds(b.to - b.from);
  const double both = first + second;
  return {a.from, b.to, both > 0 ? (a.busy * first + b.busy * second) / both : a.busy};
}

}  // namespace

void Timeline::add(BusySegment segment) {
  if (segments_.size() >= kFull) {
    for (std::size_t i = 0; i < kFull / 2; ++i) {
      segments_[i] = merge(segments_[2 * i], segments_[2 * i + 1]);
    }
    segments_.resize(kFull / 2);
  }
  segments_.push_back(segment);
}

Nanos interval_for(Nanos wall, Nanos at_least) {
  Nanos interval = std::max(at_least, Nanos(std::chrono::milliseconds(1)));
  while (wall / interval >= kMaxIntervals) interval *= 2;
  return interval;
}

std::vector<float> on_grid(std::span<const BusySegment> segments, Nanos interval, Nanos wall) {
  const auto count = static_cast<std::size_t>(
      std::max<std::int64_t>(1, (wall.count() + interval.count() - 1) / interval.count()));
  std::vector<double> busy(count, 0);
  std::vector<double> covered(count, 0);
  for (const BusySegment& segment : segments) {
    if (std::isnan(segment.busy)) continue;
    const Nanos end = std::min(segment.to, wall);
    for (Nanos at = std::max(segment.from, Nanos{0}); at < end;) {
      const auto bin = static_cast<std::size_t>(at / interval);
      const Nanos stop = std::min(end, interval * static_cast<std::int64_t>(bin + 1));
      const double seconds = to_seconds(stop - at);
      busy[bin] += segment.busy * seconds;
      covered[bin] += seconds;
      at = stop;
    }
  }
  std::vector<float> series(count, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 0; i < count; ++i) {
    if (covered[i] > 0) series[i] = static_cast<float>(busy[i] / covered[i]);
  }
  return series;
}

}  // namespace amdahl::observe
