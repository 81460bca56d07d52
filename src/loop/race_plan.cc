#include "loop/race_plan.h"

#include "loop/race.h"

namespace amdahl::loop {

std::optional<std::vector<Intent>> settle_race(
    const Race& race, std::span<const std::pair<double, const Queued*>> waiting,
    const Queued& queued) {
  std::vector<const Lane*> lanes;
  std::vector<const Queued*> racing;
  for (const auto& [worth, other] : waiting) {
    if (queued.lane.setting.empty() || other->lane.setting != queued.lane.setting) continue;
    lanes.push_back(&other->lane);
    racing.push_back(other);
  }
  if (!is_race(lanes)) return std::nullopt;
  const Heat heat = next_heat(lanes, race.noise, race.most);
  std::vector<Intent> intents;
  for (const Lost& lost : heat.lost) {
    intents.push_back(Drop{racing[lost.lane]->hypothesis, 0, lost.reason});
  }
  RunRace block{race.family, {}};
  for (const std::size_t lane : heat.run) block.hypotheses.push_back(racing[lane]->hypothesis);
  if (race.may_run && !block.hypotheses.empty()) intents.push_back(std::move(block));
  return intents;
}

}  // namespace amdahl::loop
