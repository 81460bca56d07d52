#include "refute/strata/strata.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::strata {
namespace {

constexpr std::size_t kAtLeast = 3;
constexpr double kCovered = 0.7;
constexpr double kMatters = 0.2;   // A group of this share may not lose.
constexpr double kCertain = 0.05;  // p of a loss; above it, targeted pairs decide.
constexpr std::size_t kMany = 16;  // Pairs; with fewer, one bad pair may turn the whole.

std::vector<double> members(std::span<const double> d, std::span<const std::string> group,
                            const std::string& name) {
  std::vector<double> x;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (group[i] == name) x.push_back(d[i]);
  }
  return x;
}

struct Standing {
  double covered = 0;    // The share of the groups with pairs enough.
  double weighted = 0;   // Their effect, by share; only if anything is covered.
  bool harm = false;     // One that matters loses, perhaps by chance,
  bool certain = false;  // or hardly by chance.
  bool shown = false;    // One that matters keeps less than half of the claim, hardly by chance.
};

Standing standing(std::span<const double> d, std::span<const std::string> group,
                  const Weights& weights, double theta) {
  Standing all;
  double sum = 0;
  for (const auto& [name, weight] : weights) {
    const std::vector<double> x = members(d, group, name);
    if (x.size() < kAtLeast) continue;
    const double typical = stats::hodges_lehmann(x);
    all.covered += weight;
    sum += weight * typical;
    if (weight < kMatters) continue;
    all.shown |= stats::wilcoxon_less(x, theta / 2) <= 0.10;
    if (typical >= 0) continue;
    const double p = stats::wilcoxon_less(x, 0);
    all.harm |= p <= 0.10;
    all.certain |= p <= kCertain;
  }
  if (all.covered > 0) all.weighted = sum / all.covered;
  return all;
}

Weights weights_of(const model::Spec& spec) {
  Weights weights;
  for (const model::Stratum& stratum : spec.strata) weights[stratum.name] += stratum.weight;
  return weights;
}

std::string describe(const std::string& name, double weight, std::span<const double> x) {
  const std::string head = fmt::format("{} ({})", name, show_percent(weight));
  if (x.size() < kAtLeast) return fmt::format("{} has {}", head, count(x.size(), "pair"));
  const double typical = stats::hodges_lehmann(x);
  const std::string loss =
      typical < 0 ? fmt::format(" (loss: {})", show_p(stats::wilcoxon_less(x, 0))) : "";
  return fmt::format("{} {} over {}{}", head, show_effect(typical), count(x.size(), "pair"), loss);
}

}  // namespace

Ruling rule(std::span<const double> d, std::span<const std::string> group, const Weights& weights,
            double theta) {
  const Standing all = standing(d, group, weights, theta);
  if (all.covered < kCovered) return kAbstains;
  if (all.weighted <= 0 || all.harm) return kVetoes;
  return all.weighted < theta / 2 ? kDoubts : kAgrees;
}

Ruling lasting(std::span<const double> d, std::span<const std::string> group,
               const Weights& weights, double theta, bool asked) {
  const Ruling first = rule(d, group, weights, theta);
  if (first != kVetoes && first != kDoubts) return first;
  const Standing all = standing(d, group, weights, theta);
  const bool whole = all.weighted <= 0 && all.shown && d.size() >= kMany;
  if (first == kVetoes && (all.certain || whole)) return kVetoes;
  // Three disturbed pairs of one group would refute for ever what all others show.
  return asked && !all.shown ? kAbstains : kDoubts;
}

std::string explain(std::span<const double> d, std::span<const std::string> group,
                    const Weights& weights, double theta, std::string_view what) {
  std::vector<std::string> groups;
  for (const auto& [name, weight] : weights) {
    groups.push_back(describe(name, weight, members(d, group, name)));
  }
  const Standing all = standing(d, group, weights, theta);
  if (all.covered < kCovered) {
    return fmt::format("by {}: {} of the fleet has at least {} pairs; {} is required: {}", what,
                       show_percent(all.covered), kAtLeast, show_percent(kCovered),
                       join(groups, "; "));
  }
  return fmt::format("weighted by {} it {}; at least half of {} is required: {}", what,
                     show_effect(all.weighted), show_saving(theta), join(groups, "; "));
}

model::Finding run(const Evidence& evidence) {
  const double theta = claimed(evidence);
  const Pairs pairs = pairs_for(evidence, "strata");
  const std::vector<double> d = log_ratios(evidence, pairs);
  std::vector<std::string> group;
  for (const model::PairFact* pair : pairs) group.push_back(pair->stratum);
  const Weights weights = weights_of(*evidence.spec);
  return finding(lasting(d, group, weights, theta, had_pairs(evidence, "strata")),
                 explain(d, group, weights, theta, "input class"));
}

bool applies(const Evidence& evidence) { return weights_of(*evidence.spec).size() > 1; }

std::string thinnest(const Evidence& evidence) {
  std::map<std::string, double> pairs;
  for (const model::PairFact* pair : pairs_for(evidence, "strata")) pairs[pair->stratum] += 1;
  const Weights weights = weights_of(*evidence.spec);
  const auto thin = std::ranges::min_element(weights, {}, [&](const auto& one) {
    return one.second > 0 ? pairs[one.first] / one.second : 1e9;
  });
  return thin == weights.end() ? "" : thin->first;
}

}  // namespace amdahl::refute::strata
