#include "refute/input/input.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "refute/facts.h"

namespace amdahl::refute::input {
namespace {

std::vector<double> adjusted(std::span<const double> d, std::span<const double> log_size,
                             double beta) {
  std::vector<double> x(d.begin(), d.end());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= beta * log_size[i];
  return x;
}

std::string why_not(const Pairs& pairs) {
  for (const model::PairFact* pair : pairs) {
    for (const model::ArmFact* arm : {&pair->a, &pair->b}) {
      const std::string& why = arm->input_fingerprint.why();
      if (!why.empty()) return ": " + why;
    }
  }
  return "";
}

}  // namespace

Ruling rule(std::span<const double> d, std::span<const double> log_size,
            const std::vector<bool>& pinned, double theta, double beta) {
  if (std::ranges::all_of(pinned, [](bool one) { return one; })) return kAgrees;
  return three_rule(adjusted(d, log_size, beta), theta);
}

model::Finding run(const Evidence& evidence) {
  if (evidence.spec->inputs.empty()) {
    return finding(kAbstains,
                   "the spec names no inputs, so more pairs will not help: list the input files "
                   "(paths or globs) under inputs");
  }
  Pairs compared;
  std::vector<double> log_size;
  std::vector<bool> pinned;
  const Pairs pairs = pairs_for(evidence, "input");
  for (const model::PairFact* pair : pairs) {
    if (!fingerprinted(*pair)) continue;
    const bool same = same_input(*pair);
    const bool sized = pair->a.input_bytes > 0 && pair->b.input_bytes > 0;
    if (!same && !sized) continue;
    compared.push_back(pair);
    pinned.push_back(same);
    log_size.push_back(same ? 0 : std::log(pair->a.input_bytes / pair->b.input_bytes));
  }
  const double theta = claimed(evidence);
  const std::vector<double> d = log_ratios(evidence, compared);
  const auto same = static_cast<std::size_t>(std::ranges::count(pinned, true));
  if (compared.empty()) {
    return finding(kAbstains, fmt::format("none of {} has fingerprints of both arms' inputs{}",
                                          count(pairs.size(), "pair"), why_not(pairs)));
  }
  const auto seen = static_cast<std::size_t>(std::ranges::count_if(
      pairs, [](const model::PairFact* pair) { return fingerprinted(*pair); }));
  if (!nearly_all(seen, pairs.size())) {
    return finding(kAbstains, fmt::format("only {} of {} have fingerprints of both arms' inputs{}",
                                          seen, count(pairs.size(), "pair"), why_not(pairs)));
  }
  if (same == pairs.size()) {
    return finding(rule(d, log_size, pinned, theta),
                   fmt::format("both arms read the same input in all {}", count(same, "pair")));
  }
  // What is not known to be pinned is not evidence: the win must be there without it.
  const std::vector<double> x = adjusted(d, log_size, 1);
  return finding(three_rule(x, theta),
                 fmt::format("inputs are known in {} of {} and differ in {}; adjusted for their "
                             "size: {}",
                             compared.size(), count(pairs.size(), "pair"), pinned.size() - same,
                             explain_three(x, theta, "pair")));
}

bool pairs_help(const Evidence& evidence) {
  if (evidence.spec->inputs.empty()) return false;
  return evidence.pairs.empty() || std::ranges::any_of(evidence.pairs, fingerprinted);
}

}  // namespace amdahl::refute::input
