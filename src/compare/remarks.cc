#include "compare/remarks.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/words.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::compare {
namespace {

using model::ArmFact;
using model::PairFact;

constexpr double kNotable = 0.05;  // Chance below which a remark is made.

std::string show_chance(double p) { return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.2g}", p); }

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

// Cores that neither arm used: at once, each is foreign to the other.
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
  const bool concurrent = std::ranges::any_of(account.tried.pairs, &PairFact::concurrent);
  if (concurrent) {
    remarks.push_back(
        fmt::format("One half of the CPUs is {} slower than the other ({}); the coin "
                    "swaps them, so it adds noise, not bias.",
                    size, show_chance(order.chance)));
    return;
  }
  remarks.push_back(
      fmt::format("Whoever runs {} is {} better off ({}). The coin evens it out; {}.",
                  order.effect > 0 ? "second" : "first", size, show_chance(order.chance),
                  order.effect > 0 ? "a longer warm-up would make pairs quieter: --warm-up 3"
                                   : "a machine that heats up or throttles does this"));
}

void remark_on_bias(const Account& account, std::vector<std::string>& remarks) {
  const Noise& noise = account.noise;
  if (noise.same < 6 || noise.bias_chance > kNotable) return;
  if (std::abs(noise.bias) < account.tried.design.delta / 2) return;
  remarks.push_back(fmt::format(
      "A differs from itself by {} ({}). By chance that happens once in twenty times; if it comes "
      "again, the harness favours a label, and no effect of that size can be trusted.",
      show_saving(std::abs(noise.bias)), show_chance(noise.bias_chance)));
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
                                     show_percent(share_of(*row.d, account.tried.speech))));
    }
  }
  if (outliers.empty()) return;
  const bool one = outliers.size() == 1;
  if (outliers.size() > 4) {
    const auto more = outliers.size() - 3;
    outliers.resize(3);
    outliers.push_back(fmt::format("and {} more", more));
  }
  remarks.push_back(fmt::format("Far from the rest: pair{} {}. {} the estimate hardly at all.",
                                one ? "" : "s", join(outliers, ", "),
                                one ? "It moves" : "They move"));
}

// The typical pair may gain what rare slow runs lose again.
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
      "The typical pair saves {}, but all together save {}: B has rare slow runs that eat the win.",
      show_percent(typical), show_percent(average)));
}

void remark_on_failures(const Account& account, std::vector<std::string>& remarks) {
  const auto count = [&](ArmFact PairFact::*arm) {
    return static_cast<int>(std::ranges::count_if(
        account.tried.pairs, [&](const PairFact& pair) { return (pair.*arm).failed; }));
  };
  const int a = count(&PairFact::a);
  const int b = count(&PairFact::b);
  if (a + b == 0) return;
  remarks.push_back(fmt::format(
      "A failed in {} and B in {} of {} runs each; a pair with a failure does not count.", a, b,
      account.tried.pairs.size()));
}

void remark_on_work(const Account& account, std::vector<std::string>& remarks) {
  const auto work = [](const PairFact&, const ArmFact& arm) {
    return arm.work.value_or(std::nan(""));
  };
  const auto a = mean_of(account.tried.pairs, &PairFact::a, work);
  const auto b = mean_of(account.tried.pairs, &PairFact::b, work);
  if (!a || !b || std::abs(*b - *a) <= 0.005 * *a) return;
  remarks.push_back(
      fmt::format("The work differs: {} a run for A, {} for B. Costs are per unit of work; make "
                  "sure that B leaves nothing out.",
                  show_number(*a), show_number(*b)));
}

void remark_on_length(const Account& account, std::vector<std::string>& remarks) {
  constexpr double kShort = 0.02;
  const auto wall = [](const PairFact&, const ArmFact& arm) { return arm.wall_s; };
  const auto a = mean_of(account.tried.pairs, &PairFact::a, wall);
  if (!a || *a > kShort) return;
  remarks.push_back(
      fmt::format("A run takes {}: much of that is the start of a process. Do more in one run to "
                  "compare what it does.",
                  show_duration(from_seconds(*a))));
}

void remark_on_host(const Account& account, std::vector<std::string>& remarks) {
  const auto steal = [](const PairFact&, const ArmFact& arm) {
    return arm.steal_share.value_or(std::nan(""));
  };
  const std::vector<PairFact>& pairs = account.tried.pairs;
  const auto others_a = mean_of(pairs, &PairFact::a, others);
  const auto others_b = mean_of(pairs, &PairFact::b, others);
  const auto stolen = mean_of(pairs, &PairFact::a, steal);
  if (stolen && *stolen > 0.02) {
    remarks.push_back(
        fmt::format("The hypervisor took {} of the CPU time away.", show_percent(*stolen)));
  }
  if (!others_a || !others_b) return;
  if (std::max(*others_a, *others_b) >= 0.25 * account.tried.cpus) {
    remarks.push_back(fmt::format(
        "The machine was busy with other work: {:.1f} of {} cores while A ran, {:.1f} while B ran. "
        "A quieter machine would need fewer pairs.",
        *others_a, account.tried.cpus, *others_b));
  } else if (std::abs(*others_a - *others_b) > 0.1 * account.tried.cpus) {
    remarks.push_back(
        fmt::format("Others used {:.1f} cores while A ran and {:.1f} while B ran: the "
                    "arms did not meet the same neighbours.",
                    *others_a, *others_b));
  }
}

}  // namespace

OrderEffect order_effect(const Tried& tried, double effect) {
  std::vector<double> second_gains;
  const auto add = [&](const std::vector<PairFact>& pairs, double less) {
    for (const PairFact& pair : pairs) {
      const auto d = log_ratio(pair, tried.spec);
      if (d) second_gains.push_back(pair.variant_second ? *d - less : less - *d);
    }
  };
  add(tried.same, 0);
  add(tried.pairs, effect);
  if (second_gains.empty()) return {};
  return {stats::hodges_lehmann(second_gains), stats::wilcoxon_two_sided(second_gains),
          static_cast<int>(second_gains.size())};
}

bool outputs_differ(const Tried& tried) {
  std::set<std::string> a;
  std::set<std::string> b;
  bool differ = false;
  for (const PairFact& pair : tried.pairs) {
    if (pair.voided) continue;
    const auto equal = model::same(pair.a.output_digest, pair.b.output_digest);
    differ |= !equal.value_or(!pair.a.output_digest && !pair.b.output_digest);
    if (!equal) continue;
    a.insert(*pair.a.output_digest);
    b.insert(*pair.b.output_digest);
  }
  return tried.outputs_named ? differ : a.size() == 1 && b.size() == 1 && a != b;
}

std::vector<std::string> remarks_on(const Account& account) {
  std::vector<std::string> remarks;
  if (account.outputs_differ) {
    remarks.push_back(account.tried.outputs_named
                          ? "The outputs of A and B differ."
                          : "A always prints one thing and B another: do they do the same work?");
  }
  remark_on_failures(account, remarks);
  remark_on_work(account, remarks);
  remark_on_bias(account, remarks);
  remark_on_mean(account, remarks);
  remark_on_order(account, remarks);
  remark_on_outliers(account, remarks);
  remark_on_host(account, remarks);
  remark_on_length(account, remarks);
  return remarks;
}

std::string host_line(const Tried& tried) {
  const auto a = mean_of(tried.pairs, &PairFact::a, others);
  const auto b = mean_of(tried.pairs, &PairFact::b, others);
  if (!a || !b) return "";
  return fmt::format("others used {:.2f} of {} cores while A ran, {:.2f} while B ran", *a,
                     tried.cpus, *b);
}

}  // namespace amdahl::compare
