#include "app/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "ledger/ledger.h"

namespace amdahl::app {
namespace {

std::string label_of(const model::Hypothesis& h) {
  if (h.origin.kind == "playbook" && !h.change.inject.empty()) return "injection";
  return h.origin.kind == "agent" ? "agent " + h.origin.ref : h.origin.kind;
}

struct Sums {
  CalibrationRow row;
  double chance = 0;
  double squares = 0;
  double predicted = 0;
  double measured = 0;
  double error = 0;
};

void count_in(const ledger::HypothesisRow& row, const std::optional<model::Verdict>& verdict,
              Sums& sums) {
  ++sums.row.proposed;
  // An empty memory takes what teaches, and nothing else.
  hypothesize::Priors one(row.since, "");
  one.learn(row.hypothesis, row.state, row.since);
  if (one.cells().empty()) return;
  ++sums.row.tested;
  const bool won = row.state == "promoted";
  sums.row.promoted += won ? 1 : 0;
  sums.chance += row.hypothesis.prior;
  sums.squares += std::pow(row.hypothesis.prior - (won ? 1 : 0), 2);
  if (!verdict || !verdict->comparison || verdict->comparison->pairs == 0) return;
  const double gain = 1 - std::exp(-verdict->comparison->effect);
  if (!std::isfinite(gain)) return;
  ++sums.row.measured;
  sums.predicted += row.hypothesis.predicted_gain;
  sums.measured += gain;
  sums.error += std::abs(gain - row.hypothesis.predicted_gain);
}

CalibrationRow finished(Sums sums) {
  CalibrationRow row = std::move(sums.row);
  if (row.tested > 0) {
    row.chance = sums.chance / row.tested;
    row.frequency = static_cast<double>(row.promoted) / row.tested;
    row.brier = sums.squares / row.tested;
  }
  if (row.measured > 0) {
    row.predicted_gain = sums.predicted / row.measured;
    row.measured_gain = sums.measured / row.measured;
    row.gain_error = sums.error / row.measured;
  }
  return row;
}

}  // namespace

Result<hypothesize::Priors> learnt_priors(Context& context) {
  hypothesize::Priors priors(context.clock->unix_time(), context.hardware);
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", ""))) {
    priors.learn(row.hypothesis, row.state, row.since);
  }
  return priors;
}

Result<Calibration> calibrate(Context& context) {
  std::map<std::string, Sums> by_origin;
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses("", ""))) {
    Sums& sums = by_origin[label_of(row.hypothesis)];
    sums.row.origin = label_of(row.hypothesis);
    count_in(row, TRY(context.ledger->verdict(row.hypothesis.id)), sums);
  }
  Calibration answer{{}, TRY(learnt_priors(context))};
  for (auto& [origin, sums] : by_origin) answer.origins.push_back(finished(std::move(sums)));
  std::ranges::stable_sort(answer.origins, std::ranges::greater{}, [](const CalibrationRow& row) {
    return std::tuple(row.promoted, row.tested);
  });
  return answer;
}

}  // namespace amdahl::app
