// near.h: whether two hypotheses are nearly the same idea, and in what way.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/hypothesis.h"

namespace amdahl::hypothesize {

enum class Nearness : std::uint8_t {
  kNone,
  kSameMechanism,  // Same playbook entry, or mostly the same words.
  kSameSetting,    // A variable, flag, key, fix or number of accelerators with another value.
  kSameLines,      // Patches that remove or replace some of the same lines.
  kSameChange,     // Same settings with the same values; for patches, the same resulting lines.
};
std::string_view describe(Nearness nearness);  // "same setting, other value".

// The closest relation that holds. Keys are not compared: they know more (paths, trees) and are
// checked first.
Nearness near(const model::Hypothesis& a, const model::Hypothesis& b);

}  // namespace amdahl::hypothesize
