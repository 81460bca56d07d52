// What was sampled beside utilisation: power, and whether an idle accelerator had memory in use.
#include <algorithm>
#include <map>
#include <span>

#include "fleet/metrics.h"
#include "scan/finish.h"

namespace amdahl::scan {
namespace {

// How long some spells and others overlap; both in time order, apart from each other.
Nanos overlap_of(std::span<const IdleSpell> some, const std::vector<IdleSpell>& others) {
  Nanos sum{};
  std::size_t at = 0;
  for (const IdleSpell& one : some) {
    while (at < others.size() && others[at].last < one.first) ++at;
    for (std::size_t i = at; i < others.size() && others[i].first <= one.last; ++i) {
      sum += std::min(one.last, others[i].last) - std::max(one.first, others[i].first);
    }
  }
  return sum;
}

}  // namespace

// Lanes stand in the order of their candidates. Of several series the one with most samples counts.
void Finisher::tell_beside() {
  std::map<std::pair<JobIndex, SpotId>, std::size_t> lanes;
  std::map<std::pair<std::size_t, fleet::Beside>, std::uint32_t> best;
  for (std::size_t i = 0; i < accumulator_.lanes_.size() && !stop_(i); ++i) {
    const LaneSum& sum = accumulator_.lanes_[i];
    const Track& track = accumulator_.tracks_[sum.track];
    if (!track.is_beside || sum.samples == 0 || !is_valid_[i]) continue;
    if (lanes.empty()) {
      for (std::size_t at = 0; at < candidates_.size(); ++at) {
        lanes.emplace(std::pair(candidates_[at].job, candidates_[at].spot), at);
      }
    }
    const auto lane = lanes.find({sum.job, track.spot});
    if (lane == lanes.end()) continue;
    const fleet::BesideMetric* metric =
        fleet::find_beside_metric(accumulator_.words_[track.metric]);
    const auto number = static_cast<std::uint32_t>(i);
    std::uint32_t& kept = best.emplace(std::pair(lane->second, metric->of), number).first->second;
    if (accumulator_.lanes_[kept].samples < sum.samples) kept = number;
  }
  for (const auto& [key, number] : best) {
    Lane& lane = usage_.lanes[key.first];
    const LaneSum& sum = accumulator_.lanes_[number];
    if (key.second == fleet::Beside::kMemory) {
      usage_.knows_memory = true;
      tell_memory(lane, number);
      continue;
    }
    lane.watts = sum.sum / sum.samples * kMostWatts;
    lane.powered = std::clamp(Nanos{sum.last - sum.first + cadence_of(sum) - sum.excess}, Nanos{},
                              lane.allocated);
  }
}

// Spells of memory are those without any in use. What of the idle spells lies within its samples
// and in none of these had some.
void Finisher::tell_memory(Lane& lane, std::uint32_t number) {
  const LaneSum& sum = accumulator_.lanes_[number];
  std::vector<IdleSpell> empty;
  for (const LaneSpell& one :
       std::ranges::equal_range(accumulator_.spells_, number, {}, &LaneSpell::lane)) {
    empty.push_back(one.spell);
  }
  const std::span<const IdleSpell> idle =
      std::span(usage_.idle_spells).subspan(lane.spell, lane.spells);
  lane.idle_empty = overlap_of(idle, empty);
  const IdleSpell seen{.first = Nanos{sum.first}, .last = Nanos{sum.last}};
  lane.idle_loaded = overlap_of(idle, {seen}) - lane.idle_empty;
}

}  // namespace amdahl::scan
