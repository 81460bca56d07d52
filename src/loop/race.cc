#include "loop/race.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/core.h>

#include "base/count.h"
#include "base/text.h"

namespace amdahl::loop {
namespace {

constexpr std::size_t kFrom = 3;    // Values. Two share a baseline as tests of their own.
constexpr std::size_t kBlocks = 3;  // At most, for each value.
constexpr int kVoids = 2;           // Allowed.
constexpr double kBehind = 2;       // Deviations.

double mean(const Lane& lane) {
  return std::accumulate(lane.ratios.begin(), lane.ratios.end(), 0.0) /
         static_cast<double>(lane.ratios.size());
}

std::string saves(const Lane& lane) {
  return fmt::format("{} over {}", show_percent(1 - std::exp(-mean(lane))),
                     counted(static_cast<int>(lane.ratios.size()), "block"));
}

// The one that saves most, of those that have run.
std::optional<std::size_t> leader_of(std::span<const Lane* const> lanes) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i]->ratios.empty()) continue;
    if (!best || mean(*lanes[i]) > mean(*lanes[*best])) best = i;
  }
  return best;
}

double margin(double noise, const Lane& a, const Lane& b) {
  return kBehind * noise /
         std::sqrt(static_cast<double>(std::min(a.ratios.size(), b.ratios.size())));
}

}  // namespace

bool is_race(std::span<const Lane* const> lanes) {
  const bool began = std::ranges::any_of(
      lanes, [](const Lane* lane) { return !lane->ratios.empty() || lane->in_flight > 0; });
  return lanes.size() >= kFrom || (began && lanes.size() > 1);
}

Heat next_heat(std::span<const Lane* const> lanes, double noise, int most) {
  Heat heat;
  if (std::ranges::any_of(lanes, [](const Lane* lane) { return lane->in_flight > 0; })) {
    heat.waits = true;
    return heat;
  }
  const std::optional<std::size_t> first = leader_of(lanes);
  const bool over = std::ranges::all_of(lanes, [](const Lane* lane) {
    return lane->ratios.size() >= kBlocks || lane->voids >= kVoids || !lane->never_runs.empty();
  });
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = *lanes[i];
    if (!lane.never_runs.empty()) {
      heat.lost.push_back({i, lane.never_runs});
    } else if (lane.voids >= kVoids && lane.ratios.size() < kBlocks) {
      heat.lost.push_back(
          {i, fmt::format("{} of its race were void", counted(lane.voids, "pair"))});
    } else if (over && first == i && mean(lane) < -margin(noise, lane, lane)) {
      heat.lost.push_back({i, fmt::format("no value of {} saves anything: this one, the best, {}",
                                          lane.setting, saves(lane))});
    } else if (first && i != *first && !lane.ratios.empty()) {
      const Lane& best = *lanes[*first];
      if (!over && mean(lane) + margin(noise, lane, best) >= mean(best)) continue;
      heat.lost.push_back({i, fmt::format("another value of {} saves more: {}, against {}",
                                          lane.setting, saves(best), saves(lane))});
    }
  }
  if (!heat.lost.empty()) return heat;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i]->ratios.size() < kBlocks) heat.run.push_back(i);
  }
  // Those that have run least; of these, in the order given.
  std::ranges::stable_sort(heat.run, {}, [&](std::size_t i) { return lanes[i]->ratios.size(); });
  if (heat.run.size() > static_cast<std::size_t>(most))
    heat.run.resize(static_cast<std::size_t>(most));
  return heat;
}

}  // namespace amdahl::loop
