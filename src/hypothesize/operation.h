// operation.h: what a playbook entry does to a knob or a resource, and to a number.
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
    kDivide,        // "/2": whole numbers are rounded down, at least the minimum or 1.
    kAdd,           // "+2"
    kSubtract,      // "-1": at least the minimum or 0.
    kSet,           // "=passive"
    kAccelerators,  // "=accelerators": as many as the arm is given after the change.
    kCpus,          // "=cpus": CPU slots of the arm after the change.
    kOn,            // "on": what the spec says the switch is turned on with.
    kOff,           // "off"
  };

  Kind kind = Kind::kSet;
  double number = 0;  // Of the first four.
  std::string text;   // Of kSet.
};

// kBadInput with what can be written instead.
Result<Operation> parse_operation(std::string_view text);

struct Bounds {
  std::optional<double> min;
  std::optional<double> max;
};

// One of the first four applied to `present` and kept within the bounds; nothing if a bound leaves
// no way in the operation's direction. Whole numbers stay whole.
std::optional<double> calculate(const Operation& operation, double present, const Bounds& bounds);

// "32" for 32, "0.5" for 0.5: the one spelling in which we write numbers into a change.
std::string spell(double number);

}  // namespace amdahl::hypothesize
