// testing.h: effects and facts for this folder's tests.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loop/effects.h"
#include "model/pair.h"

namespace amdahl::loop {

// Effects that remember in memory and can be told to fail.
class RecordedEffects : public Effects {
 public:
  Result<> remember(std::string_view, std::span<const LoopEvent> together) override {
    if (fails) return external("the disk is full");
    happened.insert(happened.end(), together.begin(), together.end());
    return Ok{};
  }
  void say(const std::string& sentence) override { said.push_back(sentence); }
  Nanos now() override { return Nanos{7}; }
  std::string fresh_seed() override { return "00112233445566778899aabbccddeeff"; }

  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const LoopEvent& h : happened) {
      if (const auto* it = std::get_if<Kind>(&h)) found.push_back(*it);
    }
    return found;
  }

  bool fails = false;
  std::vector<LoopEvent> happened;
  std::vector<std::string> said;
};

inline model::PairFact fact_of(const model::Pair& order, double d) {
  model::PairFact pair;
  pair.reservation = "r-" + order.experiment + "-" + std::to_string(order.index);
  pair.index = order.index;
  pair.purpose = order.aim.purpose;
  pair.target = order.aim.target;
  pair.ran_variant_second = pair.variant_second = order.variant_second;
  pair.stratum = order.stratum;
  pair.a.cost = pair.a.wall_s = 100;
  pair.a.cpu_s = 100;
  pair.a.work = 10;
  pair.a.output_digest = "0d";
  pair.a.input_fingerprint = "1f";
  pair.a.input_bytes = 1000;
  pair.a.host = "n1";
  pair.a.foreign_cpu_cores = pair.a.steal_share = 0;
  pair.a.started_s = 1000.0 + order.index;
  pair.b = pair.a;
  pair.b.cost = pair.b.wall_s = pair.b.cpu_s = pair.a.cost / std::exp(d);
  return pair;
}

inline model::Pair ended(model::Pair pair, std::optional<model::PairFact> fact) {
  pair.fact = std::move(fact);
  return pair;
}

}  // namespace amdahl::loop
