#include "fleet/clocks.h"

#include <algorithm>

namespace amdahl::fleet {
namespace {

// No accelerator was sampled before; what is older counts from another moment.
constexpr Nanos kLeastTrue = std::chrono::seconds{946'684'800};  // 2000-01-01.
constexpr Nanos kOneDay = std::chrono::hours{24};
constexpr std::uint64_t kFew = 100;  // A hundredth of all samples.

}  // namespace

void add_sample(std::vector<SampleRun>& runs, Nanos at, Nanos apart) {
  for (SampleRun& run : runs) {
    if (at < run.first - apart || at > run.last + apart) continue;
    run.first = std::min(run.first, at);
    run.last = std::max(run.last, at);
    ++run.samples;
    return;
  }
  runs.push_back({at, at, 1});
}

std::vector<SampleRun> joined(std::vector<SampleRun> runs, Nanos apart) {
  std::ranges::sort(runs, {}, &SampleRun::first);
  std::vector<SampleRun> all;
  for (const SampleRun& run : runs) {
    if (all.empty() || run.first - all.back().last > apart) {
      all.push_back(run);
      continue;
    }
    SampleRun& last = all.back();
    last.last = std::max(last.last, run.last);
    last.samples += run.samples;
    last.has_job = last.has_job || run.has_job;
  }
  return all;
}

std::optional<TrueTimes> true_times(std::vector<SampleRun> runs, Nanos now) {
  const std::vector<SampleRun> clusters = joined(std::move(runs), kFarApart);
  if (clusters.size() < 2) return std::nullopt;
  std::uint64_t all = 0;
  for (const SampleRun& cluster : clusters) all += cluster.samples;
  const SampleRun most = *std::ranges::max_element(clusters, {}, &SampleRun::samples);
  const auto is_far = [&](const SampleRun& cluster) {
    if (cluster.has_job || cluster.first == most.first) return false;
    const bool is_unset = cluster.last < kLeastTrue && most.first >= kLeastTrue;
    const bool is_to_come =
        now > Nanos{} && cluster.first > now + kOneDay && most.first <= now + kOneDay;
    return is_unset || is_to_come || cluster.samples * kFew < all;
  };
  // Only at the ends: one in the middle does no harm, and may be true.
  std::size_t first = 0;
  std::size_t last = clusters.size();
  while (is_far(clusters[first])) ++first;
  while (is_far(clusters[last - 1])) --last;
  if (first == 0 && last == clusters.size()) return std::nullopt;
  TrueTimes times{clusters[first].first, clusters[last - 1].last + Nanos{1}};
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (i < first || i >= last) times.far += clusters[i].samples;
  }
  return times;
}

}  // namespace amdahl::fleet
