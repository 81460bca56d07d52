#include "profile/late_rank.h"

#include <algorithm>
#include <map>
#include <vector>

#include "profile/offcpu.h"
#include "profile/roles.h"

namespace amdahl::profile {
namespace {

constexpr double kGoodPart = 0.3;  // Of what the others waited longer.

struct Rank {
  double collective_s = 0;
  double running_s = 0;
  double samples = 0;
  std::map<StackLine, double> lines;  // Innermost of the job's own; seconds, collectives aside.
};

std::map<std::int64_t, Rank> ranks_of(const model::BpfSummary& summary) {
  const std::vector<Role> roles = roles_of(summary);
  std::map<std::int64_t, Rank> ranks;
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] != Role::kStep) continue;
    ranks[summary.tasks[i].tid].running_s = to_seconds(summary.tasks[i].running);
  }
  return ranks;
}

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

void add_running(const model::BpfSummary& summary, std::map<std::int64_t, Rank>& ranks) {
  for (const model::RunSite& site : summary.running) {
    const auto rank = ranks.find(site.tid);
    if (rank != ranks.end()) rank->second.samples += static_cast<double>(site.samples);
  }
  for (const model::RunSite& site : summary.running) {
    const auto rank = ranks.find(site.tid);
    if (rank == ranks.end() || rank->second.samples <= 0) continue;
    const auto line = own_line(lines_of(site));
    const double share = static_cast<double>(site.samples) / rank->second.samples;
    if (line) rank->second.lines[*line] += share * rank->second.running_s;
  }
}

}  // namespace

std::optional<LateLine> late_line(const model::BpfSummary& summary) {
  std::map<std::int64_t, Rank> ranks = ranks_of(summary);
  if (ranks.size() < 2) return std::nullopt;
  add_waits(summary, ranks);
  add_running(summary, ranks);
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
  const bool explains = longer > 0 && most.seconds >= kGoodPart * longer;
  return explains ? std::optional(most) : std::nullopt;
}

}  // namespace amdahl::profile
