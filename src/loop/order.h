// order.h: a pair that should run: everything but where and when.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/change.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::loop {

// What a run is for; the ledger's `purpose`. A top-up carries its check: "top-up:order".
std::string purpose_text(model::Purpose purpose, const std::string& target);
model::Purpose purpose_of(std::string_view text);
std::string target_in(std::string_view purpose_text);

// A further variant of the family that shares the baseline's run.
struct Mate {
  std::string experiment;
  std::string purpose;
  int index = 0;
  bool variant_second = false;
  model::Change change;  // On top of the spec, as PairOrder::b.
};

struct PairOrder {
  std::string family;
  std::string experiment;  // Empty for same, stack and profile.
  std::string purpose;
  int index = 0;
  bool variant_second = false;
  model::Change a;  // On top of the spec.
  model::Change b;
  bool profile = false;
  bool concurrent = false;  // Both arms at once.
  bool steps = false;       // Both arms in one process, step by step.
  bool contended = false;   // With neighbours on its slots.
  std::string stratum;
  std::vector<Mate> mates;
  std::vector<int> order;  // Of a block's arms: 0 is the baseline, 1 the variant, then the mates.
};

// What selects a class of inputs, as a change of both arms.
model::Change selecting(const model::Stratum& stratum);

// The class that is furthest behind its share, given how many pairs each has had; empty without
// any. Ties go to the first.
std::string next_stratum(const model::Spec& spec, const std::map<std::string, int>& dealt);

// Arms in a random order that anyone who knows the seed can check: uniform over all orders, so
// that each variant's place before or after the baseline is a fair coin.
std::vector<int> block_order(std::string_view seed, std::string_view label, int index, int arms);

}  // namespace amdahl::loop
