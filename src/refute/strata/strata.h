// strata.h: whether the win holds over the classes of inputs that the fleet runs.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute::strata {

using Weights = std::map<std::string, double>;  // Group to its share of the fleet.

// The typical effects of the groups, weighted by their share of the fleet, must reach half of the
// claim. A loss on a fifth of the fleet is decisive. `group` is the group of each value of `d`.
Ruling rule(std::span<const double> d, std::span<const std::string> group, const Weights& weights,
            double theta);

// The same, but a loss that may be chance, in one of several groups, only buys targeted pairs. Once
// `asked`, it abstains unless one group hardly keeps half of the claim by chance.
Ruling lasting(std::span<const double> d, std::span<const std::string> group,
               const Weights& weights, double theta, bool asked);

// The same in words; `what` is what a group is called: "input class".
std::string explain(std::span<const double> d, std::span<const std::string> group,
                    const Weights& weights, double theta, std::string_view what);

model::Finding run(const Evidence& evidence);

// A single class needs no weighting.
bool applies(const Evidence& evidence);

// The class with the fewest pairs for its share; empty if there are no classes.
std::string thinnest(const Evidence& evidence);

}  // namespace amdahl::refute::strata
