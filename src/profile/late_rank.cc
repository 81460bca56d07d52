#include "profile/late_rank.h"

#include <algorithm>
#include <map>

#include "profile/offcpu.h"

namespace amdahl::profile {
namespace {

constexpr double kMostOfTheWait = 0.3;  // Of what the others waited longer.

struct Rank {
  double collective_s = 0;
  std::map<StackLine, double> lines;  // Innermost of the job's own; seconds, collectives aside.
};

void add_waits(const model::BpfSummary& summary, std::map<std::int64_t, Rank>& ranks) {
  const bool exchanges = exchanges_gradients(summary);
  for (const model::WaitSite& site : summary.sites) {
    const auto rank = ranks.find(site.tid);
    if (rank == ranks.end()) continue;
    const auto line = own_line(lines_of(site));
    if (is_collective(site) || (exchanges && is_backward(site))) {
      rank->second.collective_s += to_seconds(site.time);
    } else if (line) {
      rank->second.lines[*line] += to_seconds(site.time);
    }
  }
}

}  // namespace

std::optional<LateLine> late_line(const model::BpfSummary& summary) {
  const auto steps = running_of(summary, Role::kStep);
  if (steps.size() < 2) return std::nullopt;
  std::map<std::int64_t, Rank> ranks;
  for (const auto& [tid, seconds] : steps) ranks[tid];
  add_waits(summary, ranks);
  for (const RanAt& place : ran_at(summary, steps)) {
    if (const auto line = own_line(place.lines)) ranks[place.tid].lines[*line] += place.seconds;
  }
  const auto late =
      std::ranges::min_element(ranks, {}, [](const auto& row) { return row.second.collective_s; });
  const auto others = static_cast<double>(ranks.size() - 1);
  double longer = -late->second.collective_s;
  for (const auto& [tid, rank] : ranks) {
    if (tid != late->first) longer += rank.collective_s / others;
  }
  LateLine most;
  for (const auto& [line, seconds] : late->second.lines) {
    double beyond = seconds;
    for (const auto& [tid, rank] : ranks) {
      const auto same = rank.lines.find(line);
      if (tid != late->first && same != rank.lines.end()) beyond -= same->second / others;
    }
    if (beyond > most.seconds) most = {line, beyond};
  }
  const bool explains = longer > 0 && most.seconds >= kMostOfTheWait * longer;
  return explains ? std::optional(most) : std::nullopt;
}

}  // namespace amdahl::profile
