// order.h: which class of inputs a pair gets, and the order of a block's arms.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/change.h"
#include "model/spec.h"

namespace amdahl::loop {

// The change of both arms that selects a class of inputs.
model::Change selecting(const model::Stratum& stratum);

// The class that is furthest below its share, given the pairs each has had; empty without classes.
// Ties go to the first.
std::string next_stratum(const model::Spec& spec, const std::map<std::string, int>& dealt);

// The class of the pair with this index, if all are dealt in turn from the first on.
std::string stratum_at(const model::Spec& spec, int index);

// The class of the smallest inputs by the spec's `size`; empty without any. Ties go to the first.
std::string smallest_stratum(const model::Spec& spec);

// Arms in a random order that anyone who knows the seed can check: uniform over all orders, so
// that each variant's place before or after the baseline is a fair coin.
std::vector<int> block_order(std::string_view seed, std::string_view label, int index, int arms);

}  // namespace amdahl::loop
