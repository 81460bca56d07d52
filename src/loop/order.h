// order.h: which class of inputs a pair gets, and in which order the arms of a block run.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/change.h"
#include "model/spec.h"

namespace amdahl::loop {

// What selects a class of inputs, as a change of both arms.
model::Change selecting(const model::Stratum& stratum);

// The class that is furthest behind its share, given how many pairs each has had; empty without
// any. Ties go to the first.
std::string next_stratum(const model::Spec& spec, const std::map<std::string, int>& dealt);

// Arms in a random order that anyone who knows the seed can check: uniform over all orders, so
// that each variant's place before or after the baseline is a fair coin.
std::vector<int> block_order(std::string_view seed, std::string_view label, int index, int arms);

}  // namespace amdahl::loop
