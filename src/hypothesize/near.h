// near.h: whether two hypotheses are nearly the same idea, and in what.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/hypothesis.h"

namespace amdahl::hypothesize {

enum class Nearness : std::uint8_t {
  kNone,
  kSameMechanism,  // The same playbook entry, or words that mostly agree.
  kSameSetting,    // A variable, flag, key, fix or number of accelerators with another value.
  kSameLines,      // Patches that remove or replace some of the same lines.
  kSameChange,     // Every setting with the same value; of patches, the same lines in the end.
};
std::string_view describe(Nearness nearness);  // "same setting, other value".

// The nearest that holds. Keys are not compared: they know more (paths, trees) and come first.
Nearness near(const model::Hypothesis& a, const model::Hypothesis& b);

}  // namespace amdahl::hypothesize
