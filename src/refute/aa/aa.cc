#include "refute/aa/aa.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/compare.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/rank_sum.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::aa {
namespace {

constexpr std::size_t kAtLeast = 6;
constexpr double kApart = 0.10;
constexpr double kWander = 0.08;     // Of a host from hour to hour, in ln: less tells nothing.
constexpr std::size_t kFewest = 4;   // Runs of a kind.
constexpr std::size_t kEnough = 12;  // Bought pairs that decide by themselves.
constexpr std::size_t kNear = 8;     // Pairs of the claim next to A/A pairs.
// By which a host hardly wanders from the last A/A pairs to the claim, in ln: if one follows the
// other, and if hours lie between.
constexpr double kJump = 0.12;
constexpr double kFarJump = 0.25;
constexpr double kSoon_s = 3600;

// Those bought for this check are A/A pairs too (see target_of()), and may be in both lists.
Pairs same_before(const Evidence& evidence, const Pairs& bought) {
  Pairs same;
  for (const model::PairFact& pair : evidence.same) {
    const auto is_this = [&](const model::PairFact* other) {
      return !pair.reservation.empty() && other->reservation == pair.reservation;
    };
    if (std::ranges::any_of(bought, is_this)) continue;
    if (compare::log_ratio(pair, *evidence.spec)) same.push_back(&pair);
  }
  return same;
}

// A run of the baseline, with what it can be compared by.
struct Run {
  double cost = 0;  // By the spec's metric, in ln.
  std::string stratum;
  std::string host;
};

double log_cost(const model::ArmFact& arm, const model::Spec& spec) {
  if (!rests_on_report(spec)) return std::log(arm.cost / arm.work.value_or(1));
  return (spec.lower_is_better ? 1 : -1) * std::log(arm.metric.value_or(1));
}

// What A cost in these pairs; with `both`, what B cost as well, which is A again.
std::vector<Run> runs_of_a(const Pairs& pairs, const model::Spec& spec, bool both) {
  std::vector<Run> runs;
  const auto add = [&](const model::PairFact& pair, double cost) {
    runs.push_back({cost, pair.stratum, pair.a.host.value_or("")});
  };
  for (const model::PairFact* pair : pairs) {
    if (pair->contended) continue;
    for (const model::StepPair& step : pair->steps) {
      add(*pair, std::log(step.a));
      if (both) add(*pair, std::log(step.b));
    }
    if (!pair->steps.empty()) continue;
    add(*pair, log_cost(pair->a, spec));
    if (both) add(*pair, log_cost(pair->b, spec));
  }
  return runs;
}

// What runs of the class of inputs cost, on the host or, with too few there, anywhere.
std::vector<double> costs_like(const Run& run, const std::vector<Run>& runs) {
  std::vector<double> anywhere;
  std::vector<double> on_host;
  for (const Run& other : runs) {
    if (run.stratum != other.stratum) continue;
    anywhere.push_back(other.cost);
    if (run.host == other.host) on_host.push_back(other.cost);
  }
  return on_host.size() >= kFewest ? on_host : anywhere;
}

// By how much the runs are dearer than others like them; nothing if too few compare. By the
// estimate that the claim is made with: what moves the claim in every other pair moves this as
// much.
std::optional<double> dearer(const std::vector<Run>& runs, const std::vector<Run>& than) {
  std::vector<double> differences;
  std::map<std::pair<std::string, std::string>, std::optional<double>> usual;
  for (const Run& run : runs) {
    const auto [known, is_new] = usual.try_emplace({run.stratum, run.host});
    if (is_new) {
      const std::vector<double> costs = costs_like(run, than);
      if (costs.size() >= kFewest) known->second = stats::hodges_lehmann(costs);
    }
    if (known->second) differences.push_back(run.cost - *known->second);
  }
  if (differences.size() < kFewest) return std::nullopt;
  return stats::hodges_lehmann(differences);
}

// A bias that chance gave does not come again: the pairs bought because of it decide. Without them,
// only a bias that can hardly be chance is final.
Ruling again(const Ruling& first, const Evidence& evidence, const Pairs& bought,
             std::span<const double> all) {
  if (bought.size() >= kEnough) return rule(log_ratios(evidence, bought), claimed(evidence));
  return stats::wilcoxon_two_sided(all) <= 0.001 ? first : kDoubts;
}

// A bias against B hides a part of the claim; if it is clear, something else is wrong.
bool only_hides(std::span<const double> same) {
  return same.size() >= kAtLeast && stats::hodges_lehmann(same) < 0 &&
         stats::wilcoxon_two_sided(same) > 0.05;
}

// The same for the last pairs of the claim, which the bought A/A pairs followed: a host that
// wanders went less far in that time. Only if the claim holds in these pairs alone, so that a
// variant that slows A in the others gains nothing.
double dearer_lately(const Evidence& evidence, const Pairs& bought) {
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (bought.size() < kAtLeast) return kUnknown;
  Pairs last = pairs_for(evidence, "");
  std::erase_if(last, [&](const auto* pair) { return pair->index > bought.front()->index; });
  if (last.size() <= kNear) return kUnknown;
  last.erase(last.begin(), last.end() - kNear);
  if (stats::hodges_lehmann(log_ratios(evidence, last)) < claimed(evidence) / 2) return kUnknown;
  const Pairs next(bought.begin(), bought.begin() + kAtLeast);
  const model::Spec& spec = *evidence.spec;
  return dearer(runs_of_a(last, spec, false), runs_of_a(next, spec, true)).value_or(kUnknown);
}

// A/A pairs of before the claim. In a block the variant may have slowed both arms of an A/A pair,
// too.
Pairs alone_before(const Evidence& evidence, const Pairs& bought) {
  Pairs alone = same_before(evidence, bought);
  std::erase_if(alone, [](const model::PairFact* pair) { return !pair->block.empty(); });
  return alone;
}

// Whether A became dear with the variant and stayed so. What the variant spoils for good (a cache,
// a file, a setting of the host) slows A/A pairs after it, too: they cannot excuse it. A host that
// wandered was not yet dear in the first pairs of the claim, or no longer in the last, and the
// claim holds in these alone.
bool dear_for_good(const Evidence& evidence, const Pairs& before, double dear) {
  const Pairs all = pairs_for(evidence, "");
  const Pairs after = bought_for(evidence, "aa");
  if (all.empty() || before.empty()) return false;
  const auto some = [](const Pairs& pairs, std::size_t most) {
    return std::min(static_cast<std::ptrdiff_t>(most), std::ssize(pairs));
  };
  const Pairs next_to(before.end() - some(before, kNear / 2), before.end());
  const double claim = claimed(evidence);
  const double apart = all.front()->a.started_s - next_to.back()->a.started_s;
  const double jump = std::max(claim / 2, std::abs(apart) < kSoon_s ? kJump : kFarJump);
  const model::Spec& spec = *evidence.spec;
  const std::vector<Run> usual = runs_of_a(next_to, spec, true);
  const auto excuse = [&](const Pairs& pairs) {
    if (stats::hodges_lehmann(log_ratios(evidence, pairs)) < claim / 2) return false;
    return dearer(runs_of_a(pairs, spec, false), usual).value_or(dear) < jump;
  };
  const auto dear_after = dearer(runs_of_a(all, spec, false), runs_of_a(after, spec, true));
  if (dear < jump || dear_after.value_or(jump) >= jump) return false;
  return !excuse({all.begin(), all.begin() + some(all, kNear)}) &&
         !excuse({all.end() - some(all, kNear), all.end()});
}

}  // namespace

std::optional<double> baseline_dearer(const Evidence& evidence) {
  const Pairs bought = bought_for(evidence, "aa");
  const model::Spec& spec = *evidence.spec;
  const std::vector<Run> runs = runs_of_a(pairs_for(evidence, ""), spec, false);
  const Pairs alone = alone_before(evidence, bought);
  const auto before = dearer(runs, runs_of_a(alone, spec, true));
  const auto after = dearer(runs, runs_of_a(bought, spec, true));
  if (before && dear_for_good(evidence, alone, *before)) return before;
  if (before && after) return std::min({*before, *after, dearer_lately(evidence, bought)});
  return before ? before : after;
}

Ruling rule(std::span<const double> same, double theta) {
  if (same.size() < kAtLeast) return kAbstains;
  const double bias = stats::hodges_lehmann(same);
  const double p = stats::wilcoxon_two_sided(same);
  if (p <= 0.05 && bias >= theta / 4) return bias >= theta / 2 && p <= 0.02 ? kVetoes : kDoubts;
  return std::abs(bias) < theta / 2 ? kAgrees : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  const double theta = claimed(evidence);
  const Pairs bought = bought_for(evidence, "aa");
  std::vector<double> same = log_ratios(evidence, bought);
  for (const double d : log_ratios(evidence, same_before(evidence, bought))) same.push_back(d);
  Ruling ruling = rule(same, theta);
  if (ruling.vote == model::Vote::kRefute) ruling = again(ruling, evidence, bought, same);
  if (ruling == kAbstains && only_hides(same)) ruling = kAgrees;
  // Few noisy A/A pairs miss a bias of the claim's size by chance: they must lie below the claim's.
  const double p = stats::rank_sum_less(same, log_ratios(evidence, pairs_for(evidence, "")));
  if (ruling == kAgrees && p > kApart) ruling = kAbstains;
  if (same.size() < kAtLeast) {
    return finding(ruling, too_few(same.size(), "A/A pair", kAtLeast));
  }
  const std::optional<double> dear = baseline_dearer(evidence);
  if (ruling == kAgrees && !dear) {
    return finding(kAbstains, "no A/A pair ran on the inputs that the claim's pairs ran on");
  }
  if (ruling == kAgrees && *dear >= std::max(theta / 2, kWander)) {
    const char* why = pairs_help(evidence)
                          ? "may slow the run after it"
                          : "may have spoiled for good what A uses (a cache, a file, a setting), "
                            "and more pairs will not help";
    return finding(kAbstains,
                   fmt::format("A costs {} more in the claim's pairs than in A/A pairs, and the "
                               "claim is {}: the variant {}",
                               show_percent(std::expm1(*dear)), show_saving(theta), why));
  }
  return finding(
      ruling, fmt::format("A against A {} over {} (bias: {}); the claim is {} (larger than "
                          "A against A: {})",
                          show_effect(stats::hodges_lehmann(same)), count(same.size(), "pair"),
                          show_p(stats::wilcoxon_two_sided(same)), show_saving(theta), show_p(p)));
}

bool pairs_help(const Evidence& evidence) {
  const Pairs before = alone_before(evidence, bought_for(evidence, "aa"));
  const model::Spec& spec = *evidence.spec;
  const auto dear =
      dearer(runs_of_a(pairs_for(evidence, ""), spec, false), runs_of_a(before, spec, true));
  return !dear || !dear_for_good(evidence, before, *dear);
}

}  // namespace amdahl::refute::aa
