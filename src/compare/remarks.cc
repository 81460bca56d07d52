#include "compare/remarks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/explain.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::compare {
namespace {

using model::ArmFact;
using model::PairFact;

constexpr double kNotable = 0.05;  // Remarks are made for p below this.

// Mean over the arms of one side; nothing if none was observed.
template <class Get>
std::optional<double> mean_of(const std::vector<PairFact>& pairs, ArmFact PairFact::*arm,
                              const Get& get) {
  std::vector<double> values;
  for (const PairFact& pair : pairs) {
    const double value = get(pair, pair.*arm);
    if (!pair.voided && std::isfinite(value)) values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  return stats::mean(values);
}

// Cores used by other processes. Concurrent arms count each other as foreign, so the partner's
// share is subtracted.
double others(const PairFact& pair, const ArmFact& arm) {
  const double foreign = arm.foreign_cpu_cores.value_or(std::nan(""));
  if (!pair.concurrent) return foreign;
  const ArmFact& partner = &arm == &pair.a ? pair.b : pair.a;
  const double together = std::min(arm.wall_s, partner.wall_s) / std::max(arm.wall_s, 1e-9);
  const double used = partner.cpu_s / std::max(partner.wall_s, 1e-9) * together;
  return std::isnan(foreign) ? foreign : std::max(0.0, foreign - used);
}

void remark_on_order(const Account& account, std::vector<std::string>& remarks) {
  const OrderEffect& order = account.order;
  if (order.pairs < 6 || order.chance > kNotable) return;
  if (std::abs(order.effect) < account.noise.sigma / 4) return;
  const std::string size = show_saving(std::abs(order.effect));
  const bool concurrent = std::ranges::any_of(account.measured.pairs, &PairFact::concurrent);
  if (concurrent) {
    remarks.push_back(
        fmt::format("One half of the CPUs is {} slower than the other ({}). The coin swaps the "
                    "halves, so this adds noise, not bias.",
                    size, show_p(order.chance)));
    return;
  }
  remarks.push_back(
      fmt::format("The arm that runs {} is {} better ({}). The coin balances the order; {}.",
                  order.effect > 0 ? "second" : "first", size, show_p(order.chance),
                  order.effect > 0 ? "for less noise use a longer warm-up: --warm-up 3"
                                   : "the machine may heat up or throttle"));
}

void remark_on_bias(const Account& account, std::vector<std::string>& remarks) {
  const Noise& noise = account.noise;
  if (noise.same < 6 || noise.bias_chance > kNotable) return;
  if (std::abs(noise.bias) < account.measured.design.delta / 2) return;
  remarks.push_back(fmt::format(
      "A differs from itself by {} ({}). Chance alone does this in one comparison of twenty. If it "
      "happens again, the harness is biased: do not trust effects of that size.",
      show_saving(std::abs(noise.bias)), show_p(noise.bias_chance)));
}

void remark_on_outliers(const Account& account, std::vector<std::string>& remarks) {
  std::vector<double> d;
  for (const Row& row : account.rows) {
    if (row.d) d.push_back(*row.d);
  }
  if (d.size() < 5) return;
  const double far = 5 * std::max(stats::mad(d), account.noise.sigma / 2);
  std::vector<std::string> outliers;
  for (const Row& row : account.rows) {
    if (row.d && std::abs(*row.d - account.comparison.effect) > far) {
      outliers.push_back(fmt::format("{} ({})", row.fact.index,
                                     show_percent(share_of(*row.d, account.measured.metric_text))));
    }
  }
  if (outliers.empty()) return;
  const bool one = outliers.size() == 1;
  if (outliers.size() > 4) {
    const auto more = outliers.size() - 3;
    outliers.resize(3);
    outliers.push_back(fmt::format("and {} more", more));
  }
  remarks.push_back(fmt::format("Outlier{}: pair{} {}. {} little effect on the estimate.",
                                one ? "" : "s", one ? "" : "s", join(outliers, ", "),
                                one ? "It has" : "They have"));
}

// A few slow runs of B may cost more than the typical pair saves.
void remark_on_mean(const Account& account, std::vector<std::string>& remarks) {
  std::vector<double> costs;
  for (const Row& row : account.rows) {
    if (row.d) costs.push_back(std::exp(-*row.d));
  }
  const double typical = -std::expm1(-account.comparison.effect);
  if (costs.size() < 8 || account.comparison.answer != model::Answer::kBetter) return;
  const double average = 1 - stats::mean(costs);
  if (average >= typical / 2) return;
  remarks.push_back(fmt::format(
      "The typical pair saves {}, but the mean saving is {}: rare slow runs of B cancel the win.",
      show_percent(typical), show_percent(average)));
}

// The bets of stats::EProcess fall where a pair differs by far more than noise or usual effects.
void remark_on_size(const Account& account, std::vector<std::string>& remarks) {
  constexpr double kHuge = 1.1;  // A factor of 3.
  if (std::abs(account.comparison.effect) < kHuge || account.comparison.pairs == 0) return;
  remarks.push_back(
      "Each difference is so large that it might be an outlier, so each pair counts little: a "
      "difference of more than a factor of 3 takes more pairs to prove than one of 30 %.");
}

void remark_on_failures(const Account& account, std::vector<std::string>& remarks) {
  const auto count = [&](ArmFact PairFact::*arm) {
    return static_cast<int>(std::ranges::count_if(
        account.measured.pairs, [&](const PairFact& pair) { return (pair.*arm).failed; }));
  };
  const int a = count(&PairFact::a);
  const int b = count(&PairFact::b);
  if (a + b == 0) return;
  remarks.push_back(
      fmt::format("A failed in {} and B in {} of {} runs each. Pairs with a failure do not count.",
                  a, b, account.measured.pairs.size()));
}

void remark_on_work(const Account& account, std::vector<std::string>& remarks) {
  const auto work = [](const PairFact&, const ArmFact& arm) {
    return arm.work.value_or(std::nan(""));
  };
  const auto a = mean_of(account.measured.pairs, &PairFact::a, work);
  const auto b = mean_of(account.measured.pairs, &PairFact::b, work);
  if (!a || !b || std::abs(*b - *a) <= 0.005 * *a) return;
  remarks.push_back(
      fmt::format("The work per run differs: {} for A, {} for B. Costs are per unit of work; check "
                  "that B skips nothing.",
                  show_number(*a), show_number(*b)));
}

void remark_on_length(const Account& account, std::vector<std::string>& remarks) {
  constexpr double kShort = 0.02;
  const auto wall = [](const PairFact&, const ArmFact& arm) { return arm.wall_s; };
  const auto a = mean_of(account.measured.pairs, &PairFact::a, wall);
  if (!a || *a > kShort) return;
  remarks.push_back(
      fmt::format("A run takes only {}, mostly process start-up. Do more work in one run.",
                  show_duration(from_seconds(*a))));
}

void remark_on_host(const Account& account, std::vector<std::string>& remarks) {
  const auto steal = [](const PairFact&, const ArmFact& arm) {
    return arm.steal_share.value_or(std::nan(""));
  };
  const std::vector<PairFact>& pairs = account.measured.pairs;
  const auto others_a = mean_of(pairs, &PairFact::a, others);
  const auto others_b = mean_of(pairs, &PairFact::b, others);
  const auto stolen = mean_of(pairs, &PairFact::a, steal);
  if (stolen && *stolen > 0.02) {
    remarks.push_back(
        fmt::format("The hypervisor took {} of the CPU time (steal).", show_percent(*stolen)));
  }
  if (!others_a || !others_b) return;
  if (std::max(*others_a, *others_b) >= 0.25 * account.measured.cpus) {
    remarks.push_back(
        fmt::format("Other processes kept {:.1f} of {} cores busy while A ran, {:.1f} while B ran. "
                    "A quieter machine needs fewer pairs.",
                    *others_a, account.measured.cpus, *others_b));
  } else if (std::abs(*others_a - *others_b) > 0.1 * account.measured.cpus) {
    remarks.push_back(
        fmt::format("Other processes used {:.1f} cores while A ran and {:.1f} while B ran: the "
                    "arms ran under different load.",
                    *others_a, *others_b));
  }
}

}  // namespace

OrderEffect order_effect(const Measurements& measured, double effect) {
  std::vector<double> second_gains;
  const auto add = [&](const std::vector<PairFact>& pairs, double less) {
    for (const PairFact& pair : pairs) {
      const auto d = log_ratio(pair, measured.spec);
      if (d) second_gains.push_back(pair.variant_second ? *d - less : less - *d);
    }
  };
  add(measured.same, 0);
  add(measured.pairs, effect);
  if (second_gains.empty()) return {};
  return {stats::hodges_lehmann(second_gains), stats::wilcoxon_two_sided(second_gains),
          static_cast<int>(second_gains.size())};
}

bool outputs_differ(const Measurements& measured) {
  std::set<std::string> a;
  std::set<std::string> b;
  bool differ = false;
  for (const PairFact& pair : measured.pairs) {
    if (pair.voided) continue;
    const auto equal = model::same(pair.a.output_digest, pair.b.output_digest);
    differ |= !equal.value_or(!pair.a.output_digest && !pair.b.output_digest);
    if (!equal) continue;
    a.insert(*pair.a.output_digest);
    b.insert(*pair.b.output_digest);
  }
  return measured.outputs_named ? differ : a.size() == 1 && b.size() == 1 && a != b;
}

std::vector<std::string> remarks_on(const Account& account) {
  std::vector<std::string> remarks;
  if (account.outputs_differ) {
    remarks.push_back(account.measured.outputs_named
                          ? "The outputs of A and B differ."
                          : "A and B print different output every time: do they do the same work?");
  }
  remark_on_failures(account, remarks);
  remark_on_work(account, remarks);
  remark_on_bias(account, remarks);
  remark_on_mean(account, remarks);
  remark_on_size(account, remarks);
  remark_on_order(account, remarks);
  remark_on_outliers(account, remarks);
  remark_on_host(account, remarks);
  remark_on_length(account, remarks);
  return remarks;
}

std::string host_line(const Measurements& measured) {
  const auto a = mean_of(measured.pairs, &PairFact::a, others);
  const auto b = mean_of(measured.pairs, &PairFact::b, others);
  if (!a || !b) return "";
  return fmt::format("other processes used {:.2f} of {} cores while A ran, {:.2f} while B ran", *a,
                     measured.cpus, *b);
}

}  // namespace amdahl::compare
