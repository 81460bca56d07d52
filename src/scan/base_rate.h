// base_rate.h: how often such changes work and how much they recover: published or counted.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::scan {

// The share of a lever's ceiling to expect back, before anything was tried here.
struct BaseRate {
  double mean = 0;
  double lower = 0;  // 95 % interval.
  double upper = 0;
  std::string_view source = "";  // For people.
};

// For changes to code and settings. Published: 600 of 706 causes of low utilisation could be fixed
// with a few changed lines (Gao et al., ICSE 2024, doi 10.1145/3597503.3639232). Such fixes
// reached 22 % to 71 % of their ceiling, 51 % on average, in the two before/after pairs of
// pytorch/kineto's samples, by mean and by median step.
BaseRate published_rate();
// The first of the two alone: how often such a cause can be fixed.
BaseRate fixed_rate();

// 95 % Wilson interval of won / tried; 0 to 1 if nothing was tried.
BaseRate counted_rate(std::uint64_t won, std::uint64_t tried, std::string_view source);

}  // namespace amdahl::scan
