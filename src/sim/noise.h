// noise.h: how a simulated cluster disturbs run times, slot after slot.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/random.h"

namespace amdahl::sim {

// All in ln of the run time unless stated.
struct Noise {
  double run = 0.035;            // Deviation of a single run; a pair has sqrt(2) times that.
  double drift = 0.0125;         // Deviation of the random walk between slots.
  double trend = 0;              // Systematic drift per slot.
  double outlier_share = 0.03;   // Share of runs that are far slower,
  double outlier_least = 0.05;   // by at least this
  double outlier_more = 0.25;    // plus an exponential with this mean.
  double burst_enter = 0.02;     // Chance per slot that neighbours become busy,
  double burst_leave = 0.25;     // and that they stop;
  double burst = 0.15;           // meanwhile a run is slower by this on average.
  double second = 0;             // Extra time of the second run of a pair.
  double fail = 0.04;            // Share of runs that fail.
  bool wild = false;             // Student's t with 1.2 degrees of freedom instead of normal tails.
  double between_inputs = 0.10;  // Deviation that cancels in a pair with one input.
};

struct Scenario {
  std::string_view name;
  std::string_view says;
  Noise (*noise)(double pair_deviation);
};

std::span<const Scenario> scenarios();
const Scenario* find_scenario(std::string_view name);

// The slots of one place, in order.
class Slots {
 public:
  Slots(const Noise& noise, Stream& stream);

  double next(Stream& stream);  // Slow-down of the next run there.

 private:
  Noise noise_;
  double drifted_ = 0;
  bool busy_ = false;
};

}  // namespace amdahl::sim
