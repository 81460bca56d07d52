// operation.h: what a playbook entry does to a knob, a resource or a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace amdahl::hypothesize {

struct Operation {
  enum class Kind : std::uint8_t {
    kMultiply,      // "x4"
    kDivide,        // "/2": integers are rounded down, at least the minimum or 1.
    kAdd,           // "+2"
    kSubtract,      // "-1": at least the minimum or 0.
    kSet,           // "=passive"
    kAccelerators,  // "=accelerators": the arm's number after the change.
    kCpus,          // "=cpus": the arm's CPU slots after the change.
    kOn,            // "on": the spec's value for on.
    kOff,           // "off"
  };

  Kind kind = Kind::kSet;
  double number = 0;  // For the first four.
  std::string text;   // For kSet.
};

// kBadInput lists what is allowed.
Result<Operation> parse_operation(std::string_view text);

struct Bounds {
  std::optional<double> min;
  std::optional<double> max;
};

// Applies one of the first four to `present` within the bounds; nothing if a bound prevents any
// change in that direction. Integers stay integers.
std::optional<double> calculate(const Operation& operation, double present, const Bounds& bounds);

// "32" for 32, "0.5" for 0.5: how numbers are written into a change.
std::string spell(double number);

}  // namespace amdahl::hypothesize
