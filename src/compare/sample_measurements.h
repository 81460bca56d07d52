// sample_measurements.h: synthetic comparisons for this room's tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "compare/account.h"

namespace amdahl::compare {

inline model::PairFact sample_pair(int index, double cost_a, double cost_b) {
  model::PairFact pair;
  pair.index = index;
  pair.variant_second = (index * index / 3) % 2 == 0;  // Unlike the noise below.
  pair.a.cost = pair.a.wall_s = cost_a;
  pair.b.cost = pair.b.wall_s = cost_b;
  pair.a.work = pair.b.work = 1;
  pair.a.output_digest = pair.b.output_digest = "same";
  for (model::ArmFact* arm : {&pair.a, &pair.b}) arm->foreign_cpu_cores = arm->steal_share = 0;
  return pair;
}

// A takes about one second, B that times exp(-effect); deterministic noise of this size.
inline Measurements sample_tried(double effect, double noise, int pairs) {
  constexpr double kNoise[] = {0.3, -1.1, 0.8, -0.2, 1.6, -0.7, 0.1, -1.4, 0.5, -0.4, 1.2, -0.9};
  Measurements measured;
  measured.a = "./before.sh";
  measured.b = "./after.sh";
  measured.design = {.sigma = noise, .delta = std::max(0.01, noise / 2), .two_sided = true};
  measured.cpus = 2;
  measured.resume = "amdahl compare --resume /state/compare/c-1";
  for (int i = 0; i < 6; ++i) {
    measured.same.push_back(sample_pair(i + 1, 1, std::exp(-noise * kNoise[i])));
    measured.same.back().purpose = model::Purpose::kSame;
  }
  for (int i = 0; i < pairs; ++i) {
    const double a = 1 + 0.01 * (i % 3);
    measured.pairs.push_back(sample_pair(i + 1, a, a * std::exp(-effect - noise * kNoise[i % 12])));
  }
  return measured;
}

}  // namespace amdahl::compare
