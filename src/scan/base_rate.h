// base_rate.h: how often such changes work, and how far: by what was published, or by counting.
#pragma once

#include <cstdint>
#include <string_view>

namespace amdahl::scan {

// Before anything was tried here: the share of a lever's ceiling to expect back.
struct BaseRate {
  double mean = 0;
  double lower = 0;  // 95 % interval.
  double upper = 0;
  std::string_view source = "";  // Who says so, for people.
};

// Of changes to code and settings. Published: 600 of 706 causes of low utilisation could be fixed
// with a few changed lines (Gao et al., ICSE 2024, doi 10.1145/3597503.3639232); what such a fix
// reached of its ceiling in the two before/after pairs of pytorch/kineto's samples, by mean and by
// median step: 22 % to 71 %, 51 % on average.
BaseRate published_rate();

// 95 % interval of won / tried (Wilson); 0 to 1 where nothing was tried.
BaseRate counted_rate(std::uint64_t won, std::uint64_t tried, std::string_view source);

}  // namespace amdahl::scan
