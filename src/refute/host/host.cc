#include "refute/host/host.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/rank_sum.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::host {
namespace {

using model::ArmFact;
using model::PairFact;

constexpr std::size_t kAtLeast = 5;
constexpr double kShown = 0.10;
constexpr std::size_t kSplit = 2;  // Pairs that a host must have to be set against another.
constexpr double kBalancedCores = 0.25;
constexpr double kBalancedShare = 0.25;  // Of what others used beside the two arms.
constexpr double kStolen = 0.05;
constexpr double kTick_s = 0.03;       // Kernels count CPU time in ticks of 10 ms.
constexpr double kObservable_s = 0.2;  // Shorter arms end before neighbours can be told.

// How far the two arms' neighbours may differ before the pair is unfair. A host that is busy in
// the same way beside both arms is fair: the coin decided which came first.
double allowed_apart(const PairFact& pair, double around) {
  const double shorter = std::max(1e-3, std::min(pair.a.wall_s, pair.b.wall_s));
  return kBalancedCores + kBalancedShare * around + kTick_s / shorter;
}

bool same_host(const PairFact& pair) {
  return model::same(pair.a.host, pair.b.host).value_or(false);
}

// CPU cores that the variant left to others, if it does nothing else: whoever waits for a core takes
// them, to the variant's disadvantage. Any other change may have moved its work to those others.
double freed_cores(const PairFact& pair, bool only_fewer) {
  if (!only_fewer || pair.a.wall_s <= 0 || pair.b.wall_s <= 0) return 0;
  const double fewer = pair.a.cpu_s / pair.a.wall_s - pair.b.cpu_s / pair.b.wall_s;
  return std::clamp(fewer, 0.0, std::max(0.0, 1.0 * pair.a.accelerators - pair.b.accelerators));
}

// Arms that end sooner do so before their neighbours can be told: the coin alone balances them.
bool observable(const PairFact& pair) {
  return pair.a.wall_s >= kObservable_s && pair.b.wall_s >= kObservable_s;
}

// What was not observed is not clean.
bool is_clean(const PairFact& pair, bool only_fewer) {
  if (!same_host(pair)) return false;
  if (!observable(pair)) return true;
  const auto beside_a = refute::known(pair.a.foreign_cpu_cores);
  const auto beside_b = refute::known(pair.b.foreign_cpu_cores);
  const auto stolen_a = refute::known(pair.a.steal_share);
  const auto stolen_b = refute::known(pair.b.steal_share);
  if (!beside_a || !beside_b || !stolen_a || !stolen_b) return false;
  const double allowed = allowed_apart(pair, (*beside_a + *beside_b) / 2);
  return *beside_a - *beside_b <= allowed &&
         *beside_b - *beside_a <= allowed + freed_cores(pair, only_fewer) &&
         std::abs(*stolen_a - *stolen_b) <= kStolen;
}

bool known(const PairFact& pair) { return pair.a.host && pair.b.host; }

std::vector<double> only(std::span<const double> d, const std::vector<bool>& chosen) {
  std::vector<double> x;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (chosen[i]) x.push_back(d[i]);
  }
  return x;
}

std::size_t how_many(const std::vector<bool>& flags) {
  return static_cast<std::size_t>(std::ranges::count(flags, true));
}

// For each host, what is left without it; nothing where there is one host alone.
std::vector<OtherHosts> each_left_out(std::span<const double> d,
                                      std::span<const std::string> hosts) {
  const std::set<std::string> all(hosts.begin(), hosts.end());
  std::vector<OtherHosts> rests;
  if (all.size() < 2) return rests;
  for (const std::string& host : all) {
    std::vector<bool> others;
    for (const std::string& one : hosts) others.push_back(one != host);
    rests.push_back({host, only(d, others), 1});
  }
  return rests;
}

bool carried_by_one(const OtherHosts& rest, double theta) {
  return !rest.without.empty() && stats::hodges_lehmann(rest.d) < theta / 2 &&
         by_p(rest.p) != kAbstains;
}

bool unfair(const Imbalance& noise) { return noise.p <= 0.05 && noise.cores > kBalancedCores; }

}  // namespace

Ruling rule(std::span<const double> d, const std::vector<bool>& clean,
            const std::vector<bool>& same, double theta) {
  const Ruling ruling = three_rule(only(d, clean), theta, kAtLeast);
  if (ruling != kAbstains) return ruling;
  const bool mostly_apart = 2 * how_many(same) < same.size();
  return mostly_apart ? kDoubts : kAbstains;
}

Imbalance imbalance(std::span<const double> cores_a_minus_b) {
  if (cores_a_minus_b.empty()) return {};
  return {stats::hodges_lehmann(cores_a_minus_b), stats::wilcoxon_greater(cores_a_minus_b)};
}

OtherHosts elsewhere(std::span<const double> d, std::span<const std::string> hosts, double theta) {
  OtherHosts worst;
  const std::set<std::string> all(hosts.begin(), hosts.end());
  for (OtherHosts& rest : each_left_out(d, hosts)) {
    if (rest.d.size() < kAtLeast) continue;
    rest.p = stats::wilcoxon_less(rest.d, theta / 2) * static_cast<double>(all.size());
    rest.p = std::min(1.0, rest.p);
    if (worst.without.empty() || rest.p < worst.p) worst = std::move(rest);
  }
  return worst;
}

OtherHosts weaker_elsewhere(std::span<const double> d, std::span<const std::string> hosts,
                            double theta) {
  OtherHosts worst;
  const std::set<std::string> all(hosts.begin(), hosts.end());
  for (OtherHosts& rest : each_left_out(d, hosts)) {
    if (rest.d.size() < kSplit || stats::hodges_lehmann(rest.d) >= theta / 2) continue;
    std::vector<bool> here;
    for (const std::string& one : hosts) here.push_back(one == rest.without);
    rest.p = stats::rank_sum_less(rest.d, only(d, here)) * static_cast<double>(all.size());
    if (by_p(rest.p) == kAbstains) continue;
    if (worst.without.empty() || rest.p < worst.p) worst = std::move(rest);
  }
  return worst;
}

namespace {

// What a win that is there on one host alone comes to; nothing where no host stands out.
std::optional<model::Finding> carried(std::span<const double> d, std::span<const std::string> hosts,
                                      double theta) {
  const OtherHosts rest = elsewhere(d, hosts, theta);
  if (carried_by_one(rest, theta)) {
    return finding(
        by_p(rest.p),
        fmt::format("without host {} it {} over {}; at least half of {} is required (less: {}): "
                    "one host carries the win",
                    rest.without, show_effect(stats::hodges_lehmann(rest.d)),
                    count(rest.d.size(), "undisturbed pair"), show_saving(theta), show_p(rest.p)));
  }
  if (const OtherHosts weak = weaker_elsewhere(d, hosts, theta); !weak.without.empty()) {
    return finding(kDoubts,
                   fmt::format("without host {} it {} over {}; at least half of {} is required. "
                               "Host {} saves more than the others ({}): run more pairs on "
                               "other hosts",
                               weak.without, show_effect(stats::hodges_lehmann(weak.d)),
                               count(weak.d.size(), "undisturbed pair"), show_saving(theta),
                               weak.without, show_p(weak.p)));
  }
  return std::nullopt;
}

}  // namespace

model::Finding run(const Evidence& evidence) {
  Pairs pairs = pairs_for(evidence, "host");
  std::erase_if(pairs, [](const PairFact* pair) { return !known(*pair); });
  const std::size_t all = pairs_for(evidence, "host").size();
  if (pairs.empty()) return finding(kAbstains, "no pair recorded the hosts of its arms");
  if (!nearly_all(pairs.size(), all)) {
    return finding(kAbstains, fmt::format("only {} of {} recorded the hosts of their arms",
                                          pairs.size(), count(all, "pair")));
  }
  std::vector<bool> clean;
  std::vector<bool> same;
  std::vector<double> apart;
  for (const PairFact* pair : pairs) {
    clean.push_back(is_clean(*pair, evidence.only_fewer));
    same.push_back(same_host(*pair));
    const auto beside_a = refute::known(pair->a.foreign_cpu_cores);
    const auto beside_b = refute::known(pair->b.foreign_cpu_cores);
    if (beside_a && beside_b && observable(*pair)) apart.push_back(*beside_a - *beside_b);
  }
  const double theta = claimed(evidence);
  const std::vector<double> d = log_ratios(evidence, pairs);
  Ruling ruling = rule(d, clean, same, theta);
  // The fair pairs must show the win by themselves.
  if (ruling == kAgrees && stats::wilcoxon_greater(only(d, clean)) > kShown) ruling = kAbstains;
  const Imbalance noise = imbalance(apart);
  if (!ruling.decisive && unfair(noise)) {
    return finding(kDoubts, fmt::format("other processes used {:.2f} more cores while A ran than "
                                        "while B ran, over {} ({}): B looks faster than it is",
                                        noise.cores, count(apart.size(), "pair"), show_p(noise.p)));
  }
  const std::vector<double> clean_d = only(d, clean);
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (clean[i]) hosts.push_back(*pairs[i]->a.host);
  }
  if (!ruling.decisive) {
    if (std::optional<model::Finding> found = carried(clean_d, hosts, theta)) return *found;
  }
  return finding(ruling, fmt::format("{} of {} on one host, {} undisturbed: {}", how_many(same),
                                     count(pairs.size(), "pair"), how_many(clean),
                                     explain_three(clean_d, theta, "undisturbed pair", kAtLeast)));
}

bool pairs_help(const Evidence& evidence) {
  if (evidence.pairs.empty()) return true;
  // Where a whole round of targeted pairs was disturbed, the next would be, too.
  const Pairs bought = bought_for(evidence, "host");
  const bool all_disturbed =
      static_cast<int>(bought.size()) >= target_of("host").pairs &&
      std::ranges::none_of(bought, [&](const PairFact* pair) {
        return known(*pair) && is_clean(*pair, evidence.only_fewer);
      });
  return !all_disturbed && std::ranges::any_of(evidence.pairs, known);
}

}  // namespace amdahl::refute::host
