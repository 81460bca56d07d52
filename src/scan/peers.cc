#include "scan/peers.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace amdahl::scan {
namespace {

constexpr std::size_t kLeastPeers = 4;
constexpr double kNearlyAll = 0.9;
constexpr std::string_view kByPeers =
    "if jobs waste no more than the middle, or the better quarter, of their own family, where a "
    "few "
    "lines fix that (600 of 706 such causes, ICSE 2024)";
constexpr std::string_view kByBoth =
    "if jobs waste no more than the middle, or the better quarter, of their own family, where a "
    "few "
    "lines fix that (600 of 706 such causes, ICSE 2024); for families of fewer than four jobs as "
    "published (22 to 71 % of the ceiling reached where fixed, kineto samples)";

struct Back {
  double lower = 0;
  double upper = 0;
};

// One part of the jobs of one family, by measure; `others` observed jobs have no such waste.
Back of_family(std::span<const PeerWaste> jobs, std::size_t others) {
  const auto measure_at = [&](double quantile) -> double {
    const std::size_t n = jobs.size() + others;
    const auto at = static_cast<std::size_t>(quantile * static_cast<double>(n - 1));
    return at < others ? 0 : jobs[at - others].measure;
  };
  const double middle = measure_at(0.5);
  const double better = measure_at(0.25);
  Back back;
  for (const PeerWaste& job : jobs) {
    if (job.measure > middle) back.lower += job.wasted * (1 - middle / job.measure);
    if (job.measure > better) back.upper += job.wasted * (1 - better / job.measure);
  }
  return back;
}

}  // namespace

BaseRate peer_rate(std::vector<PeerWaste> jobs, const std::vector<std::uint32_t>& observed) {
  std::ranges::sort(jobs, [](const PeerWaste& a, const PeerWaste& b) {
    return std::tie(a.family, a.part, a.measure) < std::tie(b.family, b.part, b.measure);
  });
  Back back;
  double judged = 0;
  double all = 0;
  for (std::size_t from = 0; from < jobs.size();) {
    std::size_t to = from;
    double wasted = 0;
    const auto is_here = [&](const PeerWaste& job) {
      return job.family == jobs[from].family && job.part == jobs[from].part;
    };
    while (to < jobs.size() && is_here(jobs[to])) wasted += jobs[to++].wasted;
    const std::size_t peers = std::max<std::size_t>(observed[jobs[from].family], to - from);
    all += wasted;
    if (peers >= kLeastPeers) {
      const Back more = of_family(std::span(jobs).subspan(from, to - from), peers - (to - from));
      back.lower += more.lower;
      back.upper += more.upper;
      judged += wasted;
    }
    from = to;
  }
  const BaseRate known = published_rate();
  if (judged <= 0 || all <= 0) return known;
  const double rest = all - judged;
  const BaseRate fixed = fixed_rate();  // That others do better does not say that all can.
  return {.mean = (fixed.mean * (back.lower + back.upper) / 2 + rest * known.mean) / all,
          .lower = (fixed.lower * back.lower + rest * known.lower) / all,
          .upper = (fixed.upper * back.upper + rest * known.upper) / all,
          .source = judged >= kNearlyAll * all ? kByPeers
                    : rest >= kNearlyAll * all ? known.source
                                               : kByBoth};
}

}  // namespace amdahl::scan
