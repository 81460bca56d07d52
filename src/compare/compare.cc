#include "compare/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "stats/campaign.h"
#include "stats/eprocess.h"
#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

using model::Answer;
using model::ArmFact;
using model::Comparison;
using model::PairFact;
using model::Purpose;

constexpr std::string_view kCostMetric = "accelerator_seconds_per_work";
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

// What keeps the arm's number from being one; empty if nothing does.
std::string fault(std::string_view name, const ArmFact& arm, const Measure& measure) {
  if (measure.reported) {
    if (!arm.metric) return fmt::format("{} reports no {}", name, measure.metric);
    if (counts(*arm.metric)) return {};
    return fmt::format("{} reports a {} of {}", name, measure.metric, *arm.metric);
  }
  if (!arm.work) return fmt::format("{} reports no work", name);
  if (!counts(*arm.work)) return fmt::format("{} reports {} units of work", name, *arm.work);
  if (!counts(arm.cost)) return fmt::format("{} cost {} accelerator-seconds", name, arm.cost);
  return {};
}

std::string fault(const PairFact& pair, const Measure& measure) {
  if (pair.voided) return pair.void_reason.empty() ? "void" : pair.void_reason;
  std::vector<std::string> faults;
  const auto add_failure = [&](std::string_view name, const ArmFact& arm) {
    if (!arm.failed) return;
    faults.push_back(fmt::format("{}: {}", name, arm.failure.empty() ? "failed" : arm.failure));
  };
  add_failure("A", pair.a);
  add_failure("B", pair.b);
  if (faults.empty()) {
    faults = {fault("A", pair.a, measure), fault("B", pair.b, measure)};
    std::erase(faults, "");
  }
  return join(faults, "; ");
}

double log_of(const ArmFact& arm, const Measure& measure) {
  return measure.reported ? std::log(*arm.metric) : std::log(arm.cost / *arm.work);
}

std::optional<double> ratio(const PairFact& pair, const Measure& measure) {
  if (!fault(pair, measure).empty()) return std::nullopt;
  const double d = log_of(pair.a, measure) - log_of(pair.b, measure);
  // The cost is always better low; the direction is that of a reported metric.
  return measure.reported && !measure.lower_is_better ? -d : d;
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
    if (const auto value = log_ratio(*pair, how)) d.push_back(*value);
  }
  return d;
}

double log_e(std::span<const double> d, const stats::Wager& wager) {
  stats::EProcess process(wager);
  for (const double value : d) process.fold(value);
  return process.log_e();
}

// The words. A saving is a share of the cost: 1 - exp(-effect).
std::string show_saving(double effect) {
  const double share = -std::expm1(-effect);
  return show_percent(std::abs(share) < 0.0005 ? 0 : share);  // Never "-0.0 %".
}

std::string show_e(double log_e) {
  if (log_e > std::log(1e6)) return fmt::format("10^{:.0f}", log_e / std::log(10.0));
  return show_number(std::exp(log_e));
}

std::string show_level(double level) { return fmt::format("{:.4g}", level); }

std::string show_effect(double effect) {
  if (effect < 0) return fmt::format("costs {} more", show_percent(std::expm1(-effect)));
  return fmt::format("saves {}", show_saving(effect));
}

std::string show_interval(const Comparison& c) {
  const bool below = std::isfinite(c.lower);
  const bool above = std::isfinite(c.upper);
  if (below && above) {
    return fmt::format("{} to {} saved, 95 % each side", show_saving(c.lower),
                       show_saving(c.upper));
  }
  if (below) return fmt::format("at least {} saved at 95 %", show_saving(c.lower));
  if (above) return fmt::format("at most {} saved at 95 %", show_saving(c.upper));
  return "no bound yet";
}

std::string count(int n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string what_is_missing(const Comparison& c, const Design& design) {
  if (c.pairs < design.cap) {
    return fmt::format("about {} may tell",
                       count(pairs_still_needed(c, design), c.pairs == 0 ? "pair" : "more pair"));
  }
  if (!std::isfinite(c.smallest_visible)) {
    return fmt::format("the cap of {} is reached and they bound nothing",
                       count(design.cap, "pair"));
  }
  return fmt::format("the cap of {} is reached, and an effect below {} cannot be seen with them",
                     count(design.cap, "pair"), show_saving(c.smallest_visible));
}

std::string explain(const Comparison& c, const Design& design) {
  const std::string levels = fmt::format("E is {} of {} for better and {} of {} for no effect",
                                         show_e(c.log_e_win), show_level(design.win_threshold),
                                         show_e(c.log_e_futile), show_level(1 / design.beta));
  if (c.pairs == 0) return fmt::format("no pair counts yet: {}", what_is_missing(c, design));
  const std::string seen = fmt::format("{} ({}) over {}", show_effect(c.effect), show_interval(c),
                                       count(c.pairs, "pair"));
  switch (c.answer) {
    case Answer::kBetter:
      return fmt::format("{}: E {} for better reaches {}", seen, show_e(c.log_e_win),
                         show_level(design.win_threshold));
    case Answer::kWorse:
      return fmt::format("{}: E {} for worse reaches {}", seen, show_e(c.log_e_worse),
                         show_level(design.win_threshold));
    case Answer::kSame:
      return fmt::format("{}: E {} that it saves less than {} reaches {}", seen,
                         show_e(c.log_e_futile), show_saving(design.delta),
                         show_level(1 / design.beta));
    case Answer::kCannotTell:
      break;
  }
  return fmt::format("{}: {}; {}", seen, levels, what_is_missing(c, design));
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

std::string why_void(const PairFact& pair) { return fault(pair, measure_of(pair, true)); }

std::string why_void(const PairFact& pair, const model::Spec& spec) {
  return fault(pair, measure_of(spec));
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
  Comparison c;
  c.pairs = static_cast<int>(d.size());
  c.sigma = design.sigma;
  c.delta = design.delta;
  c.log_e_win = log_e(d, {.sigma = design.sigma});
  c.log_e_worse = log_e(d, {.sigma = design.sigma, .side = stats::Side::kBelow});
  c.log_e_futile =
      log_e(d, {.sigma = design.sigma, .margin = design.delta, .side = stats::Side::kBelow});
  c.lower = -kInfinity;
  c.upper = kInfinity;
  if (!d.empty()) {
    const stats::Bounds bounds = stats::anytime_bounds(d, design.sigma);
    c.lower = bounds.lower;
    c.upper = bounds.upper;
    c.effect = stats::hodges_lehmann(d);
    c.shrunk = stats::shrink(d);
  }
  c.smallest_visible = 0.5 * (c.upper - c.lower);
  c.answer = answer_of(c, design);
  c.because = explain(c, design);
  return c;
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
