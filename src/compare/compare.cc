#include "compare/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/judge.h"
#include "stats/campaign.h"
#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

using model::Answer;
using model::ArmFact;
using model::Comparison;
using model::PairFact;
using model::Purpose;

constexpr std::string_view kCostMetric = "accelerator_seconds_per_work";

// What an arm's number is: the reported metric, or accelerator-seconds per unit of work.
struct Measure {
  bool reported = false;
  std::string_view metric = "metric";
  bool lower_is_better = true;
};

Measure measure_of(const PairFact& pair, bool lower_is_better) {
  return {.reported = pair.a.metric || pair.b.metric, .lower_is_better = lower_is_better};
}

Measure measure_of(const model::Spec& spec) {
  if (spec.metric.empty() || spec.metric == kCostMetric) return {};
  return {.reported = true, .metric = spec.metric, .lower_is_better = spec.lower_is_better};
}

bool counts(double value) { return std::isfinite(value) && value > 0; }

// Why the arm has no usable number; empty if it has one.
std::string number_fault(const ArmFact& arm, const Measure& measure) {
  if (measure.reported) {
    if (!arm.metric) return fmt::format("reports no {}", measure.metric);
    if (counts(*arm.metric)) return {};
    return fmt::format("reports a {} of {}", measure.metric, *arm.metric);
  }
  if (!arm.work) return "reports no work";
  if (!counts(*arm.work)) return fmt::format("reports {} units of work", *arm.work);
  if (!counts(arm.cost)) return fmt::format("cost {} accelerator-seconds", arm.cost);
  return {};
}

// A step without a valid number voids the whole pair: dropping single steps would bias the rest.
std::string step_fault(const PairFact& pair, double model::StepPair::*arm) {
  for (std::size_t i = 0; i < pair.steps.size(); ++i) {
    if (!counts(pair.steps[i].*arm)) {
      return fmt::format("step {} is {}", i + 1, pair.steps[i].*arm);
    }
  }
  return {};
}

std::string failure_of(const ArmFact& arm) { return arm.failure.empty() ? "failed" : arm.failure; }

std::string fault(const PairFact& pair, const Measure& measure) {
  if (pair.voided) return pair.void_reason.empty() ? "void" : pair.void_reason;
  std::vector<std::string> faults;
  if (pair.a.failed) faults.push_back("A: " + failure_of(pair.a));
  if (pair.b.failed) faults.push_back("B: " + failure_of(pair.b));
  if (!faults.empty()) return join(faults, "; ");
  const auto add = [&](std::string_view arm, const std::string& what) {
    if (!what.empty()) faults.push_back(fmt::format("{}{}", arm, what));
  };
  if (pair.steps.empty()) {
    add("A ", number_fault(pair.a, measure));
    add("B ", number_fault(pair.b, measure));
  } else {
    add("A's ", step_fault(pair, &model::StepPair::a));
    add("B's ", step_fault(pair, &model::StepPair::b));
  }
  return join(faults, "; ");
}

double log_of(const ArmFact& arm, const Measure& measure) {
  return measure.reported ? std::log(*arm.metric) : std::log(arm.cost / *arm.work);
}

std::vector<double> ratios(const PairFact& pair, const Measure& measure) {
  if (!fault(pair, measure).empty()) return {};
  std::vector<double> d;
  for (const model::StepPair& step : pair.steps) d.push_back(std::log(step.a) - std::log(step.b));
  if (d.empty()) d.push_back(log_of(pair.a, measure) - log_of(pair.b, measure));
  // The cost is always better low; the direction is that of a reported metric.
  if (measure.reported && !measure.lower_is_better) {
    for (double& value : d) value = -value;
  }
  return d;
}

std::optional<double> ratio(const PairFact& pair, const Measure& measure) {
  const std::vector<double> d = ratios(pair, measure);
  if (d.empty()) return std::nullopt;
  return d.size() == 1 ? d.front() : stats::hodges_lehmann(d);
}

template <class How>
std::vector<double> prefix(std::span<const PairFact> pairs, std::span<const int> open,
                           const How& how) {
  const int end = open.empty() ? std::numeric_limits<int>::max() : std::ranges::min(open);
  std::vector<const PairFact*> feeding;
  for (const PairFact& pair : pairs) {
    const bool feeds = pair.purpose == Purpose::kCompare || pair.purpose == Purpose::kReplicate;
    if (feeds && pair.index < end) feeding.push_back(&pair);
  }
  std::ranges::stable_sort(feeding, {}, &PairFact::index);
  std::vector<double> d;
  for (const PairFact* pair : feeding) {
    const std::vector<double> more = log_ratios(*pair, how);
    d.insert(d.end(), more.begin(), more.end());
  }
  return d;
}

Answer answer_of(const Comparison& c, const Design& design) {
  const double level = std::log(design.win_threshold);
  if (c.log_e_win >= level) return Answer::kBetter;
  if (c.log_e_worse >= level) return Answer::kWorse;
  if (c.log_e_futile >= std::log(1 / design.beta)) return Answer::kSame;
  return Answer::kCannotTell;
}

}  // namespace

Design design_of(const model::Experiment& experiment) {
  return {.sigma = experiment.sigma,
          .delta = experiment.delta,
          .beta = experiment.beta,
          .cap = experiment.cap};
}

std::optional<double> log_ratio(const PairFact& pair, bool lower_is_better) {
  return ratio(pair, measure_of(pair, lower_is_better));
}

std::optional<double> log_ratio(const PairFact& pair, const model::Spec& spec) {
  return ratio(pair, measure_of(spec));
}

std::vector<double> log_ratios(const PairFact& pair, bool lower_is_better) {
  return ratios(pair, measure_of(pair, lower_is_better));
}

std::vector<double> log_ratios(const PairFact& pair, const model::Spec& spec) {
  return ratios(pair, measure_of(spec));
}

std::string why_void(const PairFact& pair) { return fault(pair, measure_of(pair, true)); }

std::string why_void(const PairFact& pair, const model::Spec& spec) {
  return fault(pair, measure_of(spec));
}

ArmFaults arm_faults(const PairFact& pair, const model::Spec& spec) {
  const Measure measure = measure_of(spec);
  const auto of = [&](const ArmFact& arm, double model::StepPair::*step) {
    if (arm.failed) return failure_of(arm);
    return pair.steps.empty() ? number_fault(arm, measure) : step_fault(pair, step);
  };
  return {of(pair.a, &model::StepPair::a), of(pair.b, &model::StepPair::b)};
}

std::vector<double> resolved_prefix(std::span<const PairFact> pairs, std::span<const int> open,
                                    bool lower_is_better) {
  return prefix(pairs, open, lower_is_better);
}

std::vector<double> resolved_prefix(std::span<const PairFact> pairs, std::span<const int> open,
                                    const model::Spec& spec) {
  return prefix(pairs, open, spec);
}

Comparison judge(std::span<const double> d, const Design& design) {
  Judge judge(design);
  for (const double value : d) judge.fold(value);
  return judge.comparison();
}

double sigma_from_same(std::span<const double> same) { return stats::sigma_of_same(same); }

int pairs_still_needed(const Comparison& c, const Design& design) {
  if (answer_of(c, design) != Answer::kCannotTell || c.pairs >= design.cap) return 0;
  const double win = stats::pairs_to_win(c.log_e_win, c.pairs, std::log(design.win_threshold));
  const double futile = stats::pairs_to_win(c.log_e_futile, c.pairs, std::log(1 / design.beta));
  const int needed = static_cast<int>(std::ceil(std::min(win, futile)));
  return std::clamp(needed, 1, design.cap - c.pairs);
}

}  // namespace amdahl::compare
