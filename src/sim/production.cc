#include "sim/production.h"

#include <cmath>
#include <vector>

#include "canary/canary.h"
#include "sim/random.h"

namespace amdahl::sim {
namespace {

constexpr std::uint64_t kProduction = 0x70726f64;  // "prod"
constexpr double kRun_s = 600;
constexpr double kProductionWork = 10;
constexpr double kLong = 0.2;  // ln; a run that is no longer than that does not straggle.

// Inputs vary from run to run; what is reported as work explains half of that.
constexpr double kUnexplained = 0.5;

class Production {
 public:
  Production(const Truth& truth, const Noise& noise, std::uint64_t seed)
      : truth_{truth}, noise_{noise}, stream_{seed, kProduction}, slots_{noise, stream_} {}

  model::Usage next(int slot, bool with) {
    model::Usage usage;
    usage.family = "f";
    usage.host = "n1";
    usage.canary.slot = slot;
    const double input = stream_.normal(0, kUnexplained * noise_.between_inputs);
    const double saved = effect();
    const double log_cost = slots_.next(stream_) + input - (with ? saved : 0);
    usage.start = std::chrono::hours(started_++);
    usage.end = usage.start + from_seconds(kRun_s * std::exp(log_cost));
    usage.work = kProductionWork;
    const double fails = with && truth_.kind == Kind::kFail ? 0.20 : noise_.fail;
    usage.failed = stream_.chance(fails);
    return usage;
  }

 private:
  // Of this run, in ln; what only the experiment made look like a win does nothing here.
  double effect() {
    const double luck = stream_.uniform();
    switch (truth_.kind) {
      case Kind::kHetero:
        return luck < 0.9 ? 0.06 : -0.55;
      case Kind::kSimpson:
        return luck < 0.3 ? 0.12 : -0.10;
      case Kind::kTimeOfDay:
        return luck < 0.5 ? 0.10 : -0.08;
      case Kind::kFail:
      case Kind::kSkip:
      case Kind::kQuality:
      case Kind::kCost:
        return row_of(truth_.kind).apparent;
      default:
        return production_effect(truth_);
    }
  }

  Truth truth_;
  Noise noise_;
  Stream stream_;
  Slots slots_;
  int started_ = 0;
};

model::Canary terms(const Truth& truth, double promised, std::uint64_t seed) {
  model::Canary canary;
  canary.hypothesis = "h-1";
  canary.family = "f";
  canary.seed = Stream(seed, kProduction, 1).hex(32);
  canary.promised = promised;
  canary.past_runs = truth.past_runs;
  return canary;
}

}  // namespace

model::CanaryResult watch(const Truth& truth, const Noise& noise, double promised,
                          std::uint64_t seed) {
  Production production(truth, noise, seed);
  model::Canary canary = terms(truth, promised, seed);
  std::vector<model::Usage> past;
  for (int i = 0; i < truth.past_runs; ++i) {
    model::Usage usage = production.next(i, false);
    canary.past_failed += usage.failed ? 1 : 0;
    past.push_back(std::move(usage));
  }
  canary.sigma = canary::noise_of(past).value_or(canary.sigma);
  if (const auto tail = canary::tail_of(past)) {
    canary.straggles_from = tail->straggles_from;
    canary.past_stragglers = tail->stragglers;
  }
  canary.opened = std::chrono::hours(truth.past_runs);
  std::vector<canary::Watched> runs;
  int with_change = 0;
  canary::SlotPair couple;
  for (int slot = 0;; ++slot) {
    if (slot % canary.one_in == 0) {
      couple = canary::slot_pair_of(canary, "n1", slot / canary.one_in);
    }
    const bool with = slot != couple.held_back();
    canary::Watched run{production.next(slot, with), canary::RunState::kEnded};
    (with ? run.usage.canary.changes.emplace_back() : run.usage.canary.held_back) =
        canary.hypothesis;
    with_change += with ? 1 : 0;
    const bool bad = run.usage.failed || to_seconds(run.usage.end - run.usage.start) >
                                             kRun_s * std::exp(kLong - truth.effect);
    runs.push_back(std::move(run));
    // Other runs cannot change the answer: a success outside a couple only lowers E.
    const bool counts = with && (with_change == canary.wanted_runs / 2 ||
                                 with_change == canary::kPatience * canary.wanted_runs);
    if (!bad && !counts && slot != couple.first + 1) continue;
    model::CanaryResult result = canary::peek(canary, runs);
    if (result.outcome != model::CanaryState::kOpen) return result;
  }
}

}  // namespace amdahl::sim
