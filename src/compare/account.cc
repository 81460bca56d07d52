#include "compare/account.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/text.h"
#include "compare/explain.h"
#include "compare/judge.h"
#include "compare/power.h"
#include "compare/remarks.h"
#include "compare/settle.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::compare {
namespace {

using model::Answer;
using model::ArmFact;
using model::PairFact;

constexpr int kEnoughSame = 6;  // A/A pairs for a scale: stats::sigma_of_same.
constexpr std::size_t kMostPeeks = 200;

std::vector<double> all_ratios(const std::vector<PairFact>& pairs, const model::Spec& spec) {
  std::vector<double> d;
  for (const PairFact& pair : pairs) {
    const std::vector<double> more = log_ratios(pair, spec);
    d.insert(d.end(), more.begin(), more.end());
  }
  return d;
}

Noise noise_of(const Measurements& measured) {
  Noise noise;
  const std::vector<double> same = all_ratios(measured.same, measured.spec);
  const std::vector<double> pairs = all_ratios(measured.pairs, measured.spec);
  noise.same = static_cast<int>(same.size());
  if (!same.empty()) {
    noise.bias = stats::hodges_lehmann(same);
    noise.bias_chance = stats::wilcoxon_two_sided(same);
  }
  if (noise.same >= kEnoughSame) {
    noise.sigma = stats::sigma_of_same(same);
    noise.from = fmt::format("measured by {} of A against A", show_count(noise.same, "pair"));
  } else if (pairs.size() >= kEnoughSame) {
    noise.sigma = stats::mad(pairs);
    noise.from = fmt::format("measured by the spread of the {}",
                             show_count(static_cast<int>(pairs.size()), "pair"));
  } else {
    noise.sigma = measured.design.sigma;
    noise.from = measured.noise_given ? "given with --noise" : "assumed";
  }
  return noise;
}

std::optional<double> number_of(const PairFact& pair, const ArmFact& arm, bool is_a) {
  if (!pair.steps.empty()) {
    std::vector<double> values;
    for (const model::StepPair& step : pair.steps) values.push_back(is_a ? step.a : step.b);
    return stats::median(values);
  }
  if (arm.metric) return arm.metric.seen();
  if (arm.failed || !arm.work || !(*arm.work > 0)) return std::nullopt;
  return arm.cost / *arm.work;
}

// The estimate after each pair; `last` is the one over all pairs.
std::vector<Row> rows_of(const Measurements& measured, model::Comparison& last) {
  Judge judge(measured.design);
  std::vector<Row> rows;
  // Bounds take a millisecond and more: of a very long comparison not every peek is worked out.
  const std::size_t stride = 1 + measured.pairs.size() / kMostPeeks;
  last = judge.comparison();
  for (const PairFact& pair : measured.pairs) {
    Row row;
    row.fact = pair;
    row.a = number_of(pair, pair.a, true);
    row.b = number_of(pair, pair.b, false);
    if (!pair.voided) row.d = log_ratio(pair, measured.spec);
    if (row.d) {
      for (const double d : log_ratios(pair, measured.spec)) judge.fold(d);
      const bool is_last = &pair == &measured.pairs.back();
      if (is_last || rows.size() % stride == 0) last = judge.comparison();
    }
    row.effect = last.effect;
    row.lower = last.lower;
    row.upper = last.upper;
    rows.push_back(std::move(row));
  }
  if (last.pairs != judge.pairs()) last = judge.comparison();  // The last pair is void.
  last.voided = static_cast<int>(
      std::ranges::count_if(rows, [](const Row& row) { return !row.d.has_value(); }));
  return rows;
}

std::optional<double> median_of(const std::vector<Row>& rows, std::optional<double> Row::*arm) {
  std::vector<double> values;
  for (const Row& row : rows) {
    if (row.d && row.*arm) values.push_back(*(row.*arm));
  }
  if (values.empty()) return std::nullopt;
  return stats::median(values);
}

// "saves 8.1 % (5.9 % to 10 %, 95 % each side)"; a loss is shown as such, with its bounds swapped.
std::string show_estimate(const model::Comparison& c, const Measurements& measured) {
  const MetricText& metric_text = measured.metric_text;
  const bool loss = c.effect < 0;
  const auto size = [&](double effect) {
    const double share = loss ? -share_of(effect, metric_text) : share_of(effect, metric_text);
    return show_percent(std::abs(share) < 0.0005 ? 0 : share);
  };
  const std::string typical = size(c.effect);
  const std::string words =
      loss ? (metric_text.lower_is_better ? fmt::format("costs {} more", typical)
                                          : fmt::format("loses {}", typical))
           : fmt::format("{} {}", metric_text.lower_is_better ? "saves" : "gains", typical);
  const double least = loss ? c.upper : c.lower;
  const double most = loss ? c.lower : c.upper;
  const std::string sure = show_sureness(measured.design.bound_level);
  if (std::isfinite(least) && std::isfinite(most)) {
    return fmt::format("{} ({} to {}, {} confidence each side)", words, size(least), size(most),
                       sure);
  }
  if (std::isfinite(least)) return fmt::format("{} (at least {}, {})", words, size(least), sure);
  if (std::isfinite(most)) return fmt::format("{} (at most {}, {})", words, size(most), sure);
  return words + " (too few pairs for an interval)";
}

std::string verdict_of(const Account& account) {
  const model::Comparison& c = account.comparison;
  const MetricText& metric_text = account.measured.metric_text;
  if (c.pairs == 0) return "Cannot tell: no pair was completed.";
  const std::string seen =
      fmt::format("{} over {}", show_estimate(c, account.measured), show_count(c.pairs, "pair"));
  switch (c.answer) {
    case Answer::kBetter:
      return fmt::format("B {}: {}.", metric_text.better, seen);
    case Answer::kWorse:
      return fmt::format("B {}: {}.", metric_text.worse, seen);
    case Answer::kSame:
      return fmt::format(
          "No difference that matters: B {}; less than {} either way does not count.", seen,
          show_saving(account.measured.design.delta));
    case Answer::kCannotTell:
      break;
  }
  return fmt::format("Cannot tell yet: B {}.", seen);
}

std::string visible_line(const Account& account) {
  const auto part = [](const std::optional<double>& effect, int pairs) {
    return effect ? fmt::format("effects of {} or more in {}", show_saving(*effect),
                                show_count(pairs, "pair"))
                  : fmt::format("nothing in {}", show_count(pairs, "pair"));
  };
  std::string text = part(account.visible, account.comparison.pairs);
  const int cap = account.measured.design.cap;
  if (cap > account.comparison.pairs) text += ", " + part(account.visible_at_cap, cap);
  return text;
}

std::string matters_line(const Measurements& measured) {
  const double delta = measured.design.delta;
  std::string because = "the smallest effect looked for";
  if (measured.claim / 2 >= delta) because = "half the claim";
  if (measured.design.sigma / 2 >= delta) {
    because = fmt::format("half the planned noise of {}", show_percent(measured.design.sigma));
  }
  return fmt::format("{} or more: {}", show_saving(delta), because);
}

std::string evidence_line(const Judge& judge, const Design& design) {
  const double same = design.two_sided ? std::min(judge.log_e_futile(), judge.log_e_not_worse())
                                       : judge.log_e_futile();
  return fmt::format(
      "E for better {}, for worse {} (threshold {}), for no difference {} (threshold {})",
      show_e(judge.log_e_win()), show_e(judge.log_e_worse()), show_size(design.win_threshold),
      show_e(same), show_size(1 / design.beta));
}

std::vector<Line> lines_of(const Account& account, const Judge& judge) {
  const Noise& noise = account.noise;
  std::vector<Line> lines;
  std::string floor = fmt::format("{} a pair, {}", show_percent(noise.sigma), noise.from);
  if (noise.same < kEnoughSame) floor += "; to measure it first: --same 6";
  lines.push_back({"Noise", floor});
  if (noise.same >= kEnoughSame) {
    lines.push_back(
        {"A against A", fmt::format("differs by {} ({})", show_percent(std::abs(noise.bias)),
                                    show_p(noise.bias_chance))});
  }
  lines.push_back({"Detects", visible_line(account)});
  lines.push_back({"Matters", matters_line(account.measured)});
  if (judge.pairs() > 0)
    lines.push_back({"Evidence", evidence_line(judge, account.measured.design)});
  const std::string host = host_line(account.measured);
  if (!host.empty()) lines.push_back({"Host", host});
  if (account.comparison.voided > 0) {
    const auto last = std::find_if(account.rows.rbegin(), account.rows.rend(),
                                   [](const Row& row) { return !row.d; });
    lines.push_back({"Void", fmt::format("{} of {}; the last one: {}", account.comparison.voided,
                                         show_count(static_cast<int>(account.rows.size()), "pair"),
                                         last->fact.void_reason)});
  }
  return lines;
}

}  // namespace

Account account_of(const Measurements& measured) {
  Account account;
  account.measured = measured;
  account.noise = noise_of(measured);
  account.rows = rows_of(measured, account.comparison);
  account.median_a = median_of(account.rows, &Row::a);
  account.median_b = median_of(account.rows, &Row::b);
  account.order = order_effect(measured, account.comparison.effect);
  account.outputs_differ = outputs_differ(measured);
  const Outlook outlook{account.noise.sigma, measured.design};
  account.visible = smallest_shown(account.comparison.pairs, outlook);
  account.visible_at_cap = smallest_shown(measured.design.cap, outlook);
  Judge judge(measured.design);
  for (const double d : all_ratios(measured.pairs, measured.spec)) judge.fold(d);
  account.pairs_to_settle = pairs_to_settle(judge, outlook);
  account.verdict = verdict_of(account);
  account.lines = lines_of(account, judge);
  account.remarks = remarks_on(account);
  account.settle = what_settles(account);
  return account;
}

std::string show_value(double value, const MetricText& metric_text) {
  // Finer than show_duration(): two arms often differ in the third digit.
  if (metric_text.unit == "s" && value >= 1e-3 && value < 1)
    return fmt::format("{:.1f} ms", 1e3 * value);
  if (metric_text.unit == "s" && value >= 1 && value < 100) return fmt::format("{:.3f} s", value);
  if (metric_text.unit == "s") return show_duration(from_seconds(value));
  const std::string number = show_number(value);
  return metric_text.unit.empty() ? number : fmt::format("{} {}", number, metric_text.unit);
}

double share_of(double effect, const MetricText& metric_text) {
  return metric_text.lower_is_better ? -std::expm1(-effect) : std::expm1(effect);
}

double effect_of(double share, const MetricText& metric_text) {
  return metric_text.lower_is_better ? -std::log1p(-share) : std::log1p(share);
}

}  // namespace amdahl::compare
