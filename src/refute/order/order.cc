#include "refute/order/order.h"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "refute/facts.h"
#include "stats/estimate.h"
#include "stats/signed_rank.h"

namespace amdahl::refute::order {
namespace {

constexpr std::size_t kAtLeast = 3;
constexpr double kShown = 0.13;     // That three pairs of three reach.
constexpr std::size_t kEnough = 8;  // Targeted pairs that should have shown it.

struct Halves {
  std::vector<double> first;  // The variant ran first.
  std::vector<double> second;

  bool enough() const { return first.size() >= kAtLeast && second.size() >= kAtLeast; }
};

Halves split_halves(std::span<const double> d, const std::vector<bool>& second) {
  Halves halves;
  for (std::size_t i = 0; i < d.size(); ++i) {
    (second[i] ? halves.second : halves.first).push_back(d[i]);
  }
  return halves;
}

// Concurrent arms have no order: the coin assigns their CPU slots instead.
struct Words {
  std::string_view first = "when first";
  std::string_view second = "when second";
};

Words words_for(const Pairs& pairs) {
  const bool at_once = !pairs.empty() && std::ranges::all_of(pairs, &model::PairFact::concurrent);
  return at_once ? Words{"on the second slots", "on the first slots"} : Words{};
}

// Tests whether the weaker half shows less than half of the claim.
double p_weaker(const Halves& halves, double theta) {
  const bool first_is_weaker =
      stats::hodges_lehmann(halves.first) < stats::hodges_lehmann(halves.second);
  return stats::wilcoxon_less(first_is_weaker ? halves.first : halves.second, theta / 2);
}

}  // namespace

Ruling rule(std::span<const double> d, const std::vector<bool>& second, double theta) {
  const Halves halves = split_halves(d, second);
  if (!halves.enough()) return kAbstains;
  const bool both = stats::hodges_lehmann(halves.first) >= theta / 2 &&
                    stats::hodges_lehmann(halves.second) >= theta / 2;
  return both ? kAgrees : by_p(p_weaker(halves, theta));
}

namespace {

// One way to tell pairs apart by what ran before the variant.
struct Split {
  std::vector<double> d;
  std::vector<bool> second;
  Words words;
};

model::Finding judge(const Split& split_up, double theta, bool asked) {
  const Halves halves = split_halves(split_up.d, split_up.second);
  Ruling ruling = rule(split_up.d, split_up.second, theta);
  // A win that is there only when a first run has warmed the place is none: the variant has to win
  // as the first, too, and is given pairs to show it.
  if (halves.enough() && ruling.vote != model::Vote::kRefute &&
      stats::wilcoxon_greater(halves.first) > kShown) {
    ruling = asked ? kDoubts : kAbstains;
  }
  const Words& words = split_up.words;
  if (!halves.enough()) {
    return finding(ruling, fmt::format("{} {} and {} {}; at least {} of each are needed",
                                       count(halves.first.size(), "pair"), words.first,
                                       halves.second.size(), words.second, kAtLeast));
  }
  return finding(ruling,
                 fmt::format("the variant saves {} {} ({}) and {} {} ({}); at least half of {} "
                             "is required in both (less in the weaker: {})",
                             show_saving(stats::hodges_lehmann(halves.first)), words.first,
                             count(halves.first.size(), "pair"),
                             show_saving(stats::hodges_lehmann(halves.second)), words.second,
                             count(halves.second.size(), "pair"), show_saving(theta),
                             show_p(p_weaker(halves, theta))));
}

}  // namespace

namespace {

struct Splits {
  Split by_baseline;
  Split by_any{{}, {}, {"when nothing ran before it", "after other runs"}};
  bool in_blocks = false;
  std::size_t trials = 0;
};

Splits splits_of(const Evidence& evidence) {
  const Pairs pairs = pairs_for(evidence, "order");
  const std::vector<Trial> trials = trials_in(evidence, pairs);
  Splits splits;
  splits.by_baseline.words = words_for(pairs);
  splits.trials = trials.size();
  for (const Trial& trial : trials) {
    if (!trial.ran_second.has_value()) continue;
    splits.by_baseline.d.push_back(trial.d);
    splits.by_baseline.second.push_back(*trial.ran_second);
    splits.by_any.second.push_back(*trial.ran_second || trial.after_shared);
    splits.in_blocks |= trial.after_shared;
  }
  splits.by_any.d = splits.by_baseline.d;
  return splits;
}

}  // namespace

model::Finding run(const Evidence& evidence) {
  const Splits splits = splits_of(evidence);
  if (!nearly_all(splits.by_any.d.size(), splits.trials)) {
    return finding(kAbstains, fmt::format("which arm ran second is known in {} of {}",
                                          splits.by_any.d.size(), count(splits.trials, "pair")));
  }
  const double theta = claimed(evidence);
  const bool asked = bought_for(evidence, "order").size() >= kEnough;
  const model::Finding baseline = judge(splits.by_baseline, theta, asked);
  if (!splits.in_blocks) return baseline;
  // In a block a variant that runs before the baseline may still run after another variant, which
  // warms caches as well. Until it was seen without, the claim is held.
  model::Finding any = judge(splits.by_any, theta, asked);
  any.mandatory = any.vote == model::Vote::kAbstain;
  const auto weight = [](const model::Finding& f) { return severity({f.vote, f.decisive}); };
  return weight(any) >= weight(baseline) ? any : baseline;
}

Missing missing(const Evidence& evidence) {
  const Splits splits = splits_of(evidence);
  for (const Split* split_up : {&splits.by_any, &splits.by_baseline}) {
    const Halves halves = split_halves(split_up->d, split_up->second);
    for (const bool second : {false, true}) {
      const std::size_t have = (second ? halves.second : halves.first).size();
      if (have < kAtLeast) return {second, static_cast<int>(kAtLeast - have)};
    }
  }
  // A warm second run is the suspicion, so the variant has to go first.
  return {false, static_cast<int>(kEnough / 2)};
}

}  // namespace amdahl::refute::order
