// sequence.h: sequences of log-ratios, and when judges decide on them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "sim/noise.h"
#include "sim/random.h"

namespace amdahl::sim {

inline constexpr int kSequenceCap = 40;  // Limit of pairs for a decision.

// Pairs of one job, in order, randomised by a fair coin.
class Sequence {
 public:
  Sequence(const Scenario& scenario, double pair_noise, std::uint64_t seed);

  double next(double effect);
  double sigma(int same_pairs);  // From A/A pairs, which it runs.

 private:
  Noise noise_;
  Stream stream_;
  Slots slots_;
};

struct Path {
  double highest = 0;                                 // ln E, over all looks.
  model::Answer answer = model::Answer::kCannotTell;  // At the first look with an answer,
  int pairs = kSequenceCap;                           // and the pairs by then.
};

// Looks after every pair up to `longest`; 2 % is the smallest effect that matters.
Path walk(Sequence& sequence, double effect, double sigma, int longest);
Path walk(const std::vector<double>& d, double sigma);

// A group-sequential t-test: five O'Brien-Fleming looks, one-sided 0.05, stopped for futility if
// the chance of success is below 10 %.
Path walk_in_groups(const std::vector<double>& d);

// Whether one paired t-test of the first n is significant, for n = 0, 1, … d.size().
std::vector<bool> t_tests(const std::vector<double>& d, double level = 0.05);

}  // namespace amdahl::sim
