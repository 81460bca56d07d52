// Which samples are of clocks that were not set, told from when all the others and the jobs were.
#include <algorithm>

#include "scan/fold.h"

namespace amdahl::scan {
namespace {

// No accelerator was sampled before; what is older counts from another moment.
constexpr Time kLeastTrue = Time{946'684'800} * 1'000'000'000;  // 2000-01-01.
constexpr Time kDay = Time{86'400} * 1'000'000'000;
constexpr std::uint64_t kFew = 100;  // A hundredth of all samples.

// Samples with no long gap between them, of all series.
struct Cluster {
  Run run;
  bool has_job = false;
};

std::vector<Cluster> clusters_of(std::vector<Run> runs) {
  std::ranges::sort(runs, {}, &Run::first);
  std::vector<Cluster> clusters;
  for (const Run& run : runs) {
    if (clusters.empty() || run.first > clusters.back().run.last + kFar) {
      clusters.push_back({run});
      continue;
    }
    Run& last = clusters.back().run;
    last.last = std::max(last.last, run.last);
    last.samples += run.samples;
  }
  return clusters;
}

}  // namespace

std::optional<Fold::Clocks> Fold::clocks() const {
  const bool is_open = asked_.start == Nanos{kBeginning} || asked_.end == Nanos{kForever};
  if (!is_open || options_.clocks) return std::nullopt;
  std::vector<Run> runs;
  for (std::size_t i = 0; i < tracks_.size(); ++i) {
    if (!tracks_[i].is_used) continue;
    runs.insert(runs.end(), tracks_[i].runs.begin(), tracks_[i].runs.end());
    if (cursors_[i].last != kBeginning) runs.push_back(tracks_[i].current(cursors_[i]));
  }
  std::vector<Cluster> clusters = clusters_of(std::move(runs));
  if (clusters.size() < 2) return std::nullopt;
  for (JobIndex job = 0; job < jobs_.size(); ++job) {
    const Time start = jobs_.rows().start(job).count();
    const Time end = jobs_.rows().end(job).count();
    for (Cluster& cluster : clusters) {
      if (start <= cluster.run.last && end >= cluster.run.first) cluster.has_job = true;
    }
  }
  std::uint64_t all = 0;
  Run most;
  for (const Cluster& cluster : clusters) {
    all += cluster.run.samples;
    if (cluster.run.samples > most.samples) most = cluster.run;
  }
  const auto is_far = [&](const Cluster& cluster) {
    if (cluster.has_job || cluster.run.first == most.first) return false;
    const Time soon = options_.now > Nanos{} ? options_.now.count() + kDay : kForever;
    const bool is_unset = cluster.run.last < kLeastTrue && most.first >= kLeastTrue;
    const bool is_to_come = cluster.run.first > soon && most.first <= soon;
    return is_unset || is_to_come || cluster.run.samples * kFew < all;
  };
  // Only at the ends: one in the middle does no harm, and may be true.
  std::size_t first = 0;
  std::size_t last = clusters.size();
  while (is_far(clusters[first])) ++first;
  while (is_far(clusters[last - 1])) --last;
  if (first == 0 && last == clusters.size()) return std::nullopt;
  Clocks clocks{{Nanos{clusters[first].run.first}, Nanos{clusters[last - 1].run.last + 1}}};
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (i < first || i >= last) clocks.far += clusters[i].run.samples;
  }
  return clocks;
}

}  // namespace amdahl::scan
