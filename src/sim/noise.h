// noise.h: what a cluster does to the time of a run, slot after slot.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/random.h"

namespace amdahl::sim {

// All in ln of the run's time, unless said otherwise.
struct Noise {
  double run = 0.035;     // Deviation of a run by itself; a pair's is the square root of 2 more.
  double drift = 0.0125;  // Deviation of the random walk from slot to slot.
  double trend = 0;       // A slot's drift that has a direction.
  double outlier_share = 0.03;   // Of runs that are far slower,
  double outlier_least = 0.05;   // by this
  double outlier_more = 0.25;    // and exponentially more, on average so much.
  double burst_enter = 0.02;     // Chance, each slot, that neighbours get busy,
  double burst_leave = 0.25;     // and that they rest again;
  double burst = 0.15;           // a run is then so much slower on average.
  double second = 0;             // The second run of a pair is so much slower.
  double fail = 0.04;            // Share of runs that fail.
  bool wild = false;             // Tails of Student's t with 1.2 degrees instead of a normal's.
  double between_hosts = 0.08;   // Deviations that a pair on one host with one input does not
  double between_inputs = 0.10;  // have.
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

  double next(Stream& stream);  // What the next run there is slowed by.

 private:
  Noise noise_;
  double drifted_ = 0;
  bool busy_ = false;
};

}  // namespace amdahl::sim
