#include "refute/quality/quality.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/facts.h"
#include "stats/tests.h"

namespace amdahl::refute::quality {
namespace {

using model::PairFact;

constexpr std::size_t kAtLeast = 5;

struct Part {
  Ruling ruling;
  std::string because;
  bool hidden = false;  // B does not show what A shows.
};

struct Digests {
  std::size_t equal = 0;
  std::size_t different = 0;  // B's missing where A's is there among them.
  std::size_t unknown = 0;    // A left nothing to compare with.
};

void tally(const PairFact& pair, Digests& digests) {
  const std::optional<bool> equal = model::same(pair.a.output_digest, pair.b.output_digest);
  if (equal) {
    ++(*equal ? digests.equal : digests.different);
  } else {
    ++(pair.a.output_digest ? digests.different : digests.unknown);
  }
}

bool digests_outputs(const model::Spec& spec) {
  return std::ranges::any_of(spec.outputs, &model::Output::digest);
}

bool irreproducible(const Evidence& evidence) {
  Digests same;
  for (const PairFact& pair : evidence.same) {
    if (!pair.voided) tally(pair, same);
  }
  return same.different > 0;
}

std::string why_missing(const Pairs& pairs) {
  for (const PairFact* pair : pairs) {
    const std::string& why = pair->a.output_digest.why();
    if (!why.empty()) return ": " + why;
  }
  return "";
}

Part by_digests(const Evidence& evidence, const Pairs& pairs) {
  Digests digests;
  for (const PairFact* pair : pairs) tally(*pair, digests);
  if (digests.different > 0) {
    if (irreproducible(evidence)) {
      return {kAbstains,
              fmt::format("outputs differ in {}, but also between runs of A, so digests prove "
                          "nothing and more pairs will not help: add [[quality]] to the spec",
                          count(digests.different, "pair"))};
    }
    return {kVetoes,
            fmt::format("outputs differ in {} of {} and the spec has no [[quality]] metric "
                        "with a tolerance",
                        digests.different, count(pairs.size(), "pair"))};
  }
  if (digests.unknown > 0 || digests.equal < kAtLeast) {
    return {kAbstains,
            fmt::format("outputs are equal in {} and missing in {}{}; at least {} equal and none "
                        "missing are needed{}",
                        count(digests.equal, "pair"), digests.unknown,
                        those_by_steps(evidence, "quality"), kAtLeast, why_missing(pairs))};
  }
  return {kAgrees, fmt::format("outputs are identical in all {}", count(digests.equal, "pair"))};
}

// A mean that noise may have made buys targeted pairs before it vetoes.
Ruling lasting(std::span<const double> gain, double margin) {
  const Ruling first = rule(gain, margin);
  if (first != kVetoes) return first;
  const bool beyond = stats::mean_deviation(gain).mean <= -margin;
  const double p = stats::p_mean_below(gain, 0);
  return p <= 0.001 || (beyond && p <= 0.01) ? kVetoes : kDoubts;
}

Part by_metric(const Evidence& evidence, const model::Quality& metric, const Pairs& pairs) {
  std::vector<double> gain;
  for (const PairFact* pair : pairs) {
    const auto a = known(quality_of(pair->a, metric.name));
    const auto b = quality_of(pair->b, metric.name).seen();
    if (!a || !b) continue;
    if (!std::isfinite(*b)) {
      return {kVetoes, fmt::format("{} is {} in B and {} in A of pair {}", metric.name, *b,
                                   show_number(*a), pair->index)};
    }
    gain.push_back(metric.higher_is_better ? *b - *a : *a - *b);
  }
  const Coverage seen = coverage(pairs, [&](const model::ArmFact& arm) {
    return known(quality_of(arm, metric.name)).has_value();
  });
  const Ruling allowed = rule(seen);
  const bool hidden = seen.only_a > seen.only_b;
  if (hidden || (allowed == kAbstains && gain.size() >= kAtLeast)) {
    const Ruling seen_so_far = lasting(gain, metric.tolerance);
    return {severity(seen_so_far) > severity(allowed) ? seen_so_far : allowed,
            fmt::format("{} is {}", metric.name, explain(seen)), hidden};
  }
  if (gain.size() < kAtLeast) {
    return {kAbstains, fmt::format("{} of {} have {} in both arms{}; at least {} are needed",
                                   gain.size(), count(pairs.size(), "pair"), metric.name,
                                   those_by_steps(evidence, "quality"), kAtLeast)};
  }
  const double change = stats::mean_deviation(gain).mean;
  return {lasting(gain, metric.tolerance),
          fmt::format("{} is {} by {} on average over {}; up to {} worse is allowed (within that: "
                      "{})",
                      metric.name, change < 0 ? "worse" : "better",
                      show_number(change < 0 ? -change : change), count(gain.size(), "pair"),
                      show_number(metric.tolerance),
                      show_p(stats::p_mean_above(gain, -metric.tolerance)))};
}

Part judge(const Evidence& evidence, const Pairs& pairs) {
  const model::Spec& spec = *evidence.spec;
  std::vector<Part> metrics;
  for (const model::Quality& metric : spec.quality)
    metrics.push_back(by_metric(evidence, metric, pairs));
  const auto worst =
      std::ranges::max_element(metrics, {}, [](const Part& part) { return severity(part.ruling); });
  if (!digests_outputs(spec)) {
    if (worst != metrics.end()) return *worst;
    return {kAbstains,
            fmt::format("the spec {}, so more pairs will not help: add [[outputs]] or [[quality]]",
                        spec.outputs.empty() ? "names no outputs" : "digests none of its outputs")};
  }
  const Part digests = by_digests(evidence, pairs);
  if (worst == metrics.end()) return digests;
  // Equal outputs are as good as each other, unless what is measured of them says otherwise.
  const bool equal = digests.ruling == kAgrees;
  const bool hides = std::ranges::any_of(metrics, &Part::hidden);
  return equal && !hides && worst->ruling.vote != model::Vote::kRefute ? digests : *worst;
}

}  // namespace

Ruling rule(std::span<const double> gain, double margin) {
  if (gain.size() < kAtLeast) return kAbstains;
  if (std::ranges::all_of(gain, [](double value) { return value == 0; })) return kAgrees;
  if (stats::p_mean_above(gain, -margin) <= 0.05) return kAgrees;
  if (stats::mean_deviation(gain).mean <= -margin) return kVetoes;
  return stats::p_mean_below(gain, 0) <= 0.01 ? kVetoes : kAbstains;
}

model::Finding run(const Evidence& evidence) {
  const Part part = judge(evidence, whole_runs_for(evidence, "quality"));
  return finding(part.ruling, part.because);
}

bool pairs_help(const Evidence& evidence) {
  if (!evidence.spec->quality.empty()) return true;
  if (!digests_outputs(*evidence.spec) || irreproducible(evidence)) return false;
  return evidence.pairs.empty() || std::ranges::any_of(evidence.pairs, [](const PairFact& pair) {
           return bool{pair.a.output_digest};
         });
}

}  // namespace amdahl::refute::quality
