// race.h: which of several values of one setting is tested: a few shared blocks choose it, and no
// pair of them is evidence.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace amdahl::loop {

// One value in its race.
struct Lane {
  std::string setting{};         // What races: "inject loader-workers". Empty: no race.
  std::vector<double> ratios{};  // Log-ratios against the baseline of its blocks.
  int in_flight = 0;
  int voids = 0;
  std::string never_runs{};  // Why the value cannot run at all; empty if it can.
};

struct Lost {
  std::size_t lane = 0;
  std::string reason;
};

// What to do about a race, given its lanes: run a block of these, or drop those. Neither while
// blocks are in flight, and once one lane is left: that one is to be tested.
struct Heat {
  std::vector<std::size_t> run;
  std::vector<Lost> lost;
  bool waits = false;
};

// Whether so many values are worth a race; fewer are better tested side by side.
bool is_race(std::span<const Lane* const> lanes);

// `noise`: deviation of a pair. `most`: lanes that one block holds.
Heat next_heat(std::span<const Lane* const> lanes, double noise, int most);

}  // namespace amdahl::loop
