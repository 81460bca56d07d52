// fake_production.h: simulated production runs of a family with a known effect, for tests.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "canary/canary.h"

namespace amdahl::canary {

struct Truth {
  double effect = 0;     // ln(cost without / cost with); below 0 the change is slower.
  double noise = 0.035;  // Of ln cost of one run; 5 % for a pair.
  double fails = 0.04;
  double fails_with = 0.04;
  double hurts_share = 0;  // Share of runs that the change slows down,
  double hurts = 0;        // by this much, in ln.
};

inline model::Canary terms() {
  model::Canary canary;
  canary.hypothesis = "h-1";
  canary.family = "f";
  canary.seed = "seed";
  canary.promised = 0.10;
  canary.past_runs = 100;
  canary.past_failed = 4;
  return canary;
}

// Runs jobs one after the other, each as the canary's coin says. Costs drift in a random walk, and
// one run in 30 is much slower for other reasons.
class FakeProduction {
 public:
  FakeProduction(std::vector<model::Canary> canaries, Truth truth, unsigned seed)
      : canaries_{std::move(canaries)}, truth_{truth}, luck_{seed} {}

  const std::vector<Watched>& next() {
    Watched run;
    model::Usage& usage = run.usage;
    usage.family = "f";
    usage.host = "vm";
    usage.canary.slot = static_cast<int>(runs_.size());
    usage.canary.held_back = held_back(canaries_, usage.host, usage.canary.slot).value_or("");
    for (const model::Canary& canary : canaries_) {
      if (canary.hypothesis != usage.canary.held_back) {
        usage.canary.changes.push_back(canary.hypothesis);
      }
    }
    const bool with = usage.canary.held_back != canaries_.front().hypothesis;
    drift_ += 0.25 * truth_.noise * normal_(luck_);
    const double saved = even_(luck_) < truth_.hurts_share ? -truth_.hurts : truth_.effect;
    double log_cost = drift_ + truth_.noise * normal_(luck_) - (with ? saved : 0);
    if (even_(luck_) < 1.0 / 30) log_cost += 0.5 * even_(luck_);
    slow_ = log_cost - drift_ > 0.2;
    usage.start = std::chrono::hours(usage.canary.slot);
    usage.end = usage.start + from_seconds(600 * std::exp(log_cost));
    usage.work = 10;
    usage.failed = even_(luck_) < (with ? truth_.fails_with : truth_.fails);
    runs_.push_back(std::move(run));
    return runs_;
  }

  // Judges after every run that can change the answer, until decided. Equivalent to judging after
  // every run: a success outside a pair only lowers E.
  model::CanaryResult watch() {
    const model::Canary& canary = canaries_.front();
    for (int slot = 0;; ++slot) {
      const model::Usage& usage = next().back().usage;
      with_ += usage.canary.held_back == canary.hypothesis ? 0 : 1;
      const bool counts =
          with_ == canary.wanted_runs / 2 || with_ == kPatience * canary.wanted_runs;
      const SlotPair couple = slot_pair_of(canary, usage.host, slot / canary.one_in);
      if (!usage.failed && !slow_ && !counts && slot != couple.first + 1) continue;
      const model::CanaryResult result = peek(canary, runs_);
      if (result.outcome != model::CanaryState::kOpen) return judge(canary, runs_);
    }
  }

  std::vector<Watched>& runs() { return runs_; }

 private:
  std::vector<model::Canary> canaries_;
  Truth truth_;
  std::mt19937_64 luck_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> even_;
  double drift_ = 0;
  bool slow_ = false;  // The last run may be a straggler.
  int with_ = 0;       // Runs with the change so far.
  std::vector<Watched> runs_;
};

}  // namespace amdahl::canary
