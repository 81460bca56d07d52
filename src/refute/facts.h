// facts.h: what several checks draw from the evidence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "refute/check.h"
#include "refute/rule.h"

namespace amdahl::refute {

using Pairs = std::vector<const model::PairFact*>;  // Into the evidence, which must outlive it.

// The pairs that count for this check: all coin-randomised ones that are not void, and those that
// were bought for it.
Pairs pairs_for(const Evidence& evidence, std::string_view check);

// Fresh pairs alone, and those that were bought for the check.
Pairs fresh_pairs_for(const Evidence& evidence, std::string_view check);

// Those that were bought for the check alone.
Pairs bought_for(const Evidence& evidence, std::string_view check);

// As pairs_for(), less those whose arms alternate inside one process: what such a process leaves
// behind and costs as a whole cannot be told apart by arm.
Pairs whole_runs_for(const Evidence& evidence, std::string_view check);
// What to add to a sentence about too few of them: " (12 that share a process do not count)".
std::string those_by_steps(const Evidence& evidence, std::string_view check);

// One throw of the order coin: a pair, or one pair of steps inside it.
struct Trial {
  double d = 0;
  bool assigned_second = false;  // The variant.
  model::Observed<bool> ran_second;
  bool after_shared = false;  // Another arm ran just before it, though not A of its own pair.
};
std::vector<Trial> trials_in(const Evidence& evidence, const Pairs& pairs);

// ln(cost A / cost B) by the spec's metric. `pairs` as from pairs_for(): none is void.
std::vector<double> log_ratios(const Evidence& evidence, const Pairs& pairs);

// The claimed win: the typical effect over all coin-randomised pairs, in ln.
double claimed(const Evidence& evidence);

// Whether any pair that counts says how much work both arms did.
bool reports_work(const Evidence& evidence);
bool reports_work(const model::PairFact& pair);

// What this arm did, or 1, a run, if the pair does not say it of both arms.
double work_or_run(const model::PairFact& pair, const model::ArmFact& arm);

// Whether the inputs of both arms were fingerprinted, and whether they were the same.
bool fingerprinted(const model::PairFact& pair);
bool same_input(const model::PairFact& pair);

// Of how many pairs something was seen, by arm.
struct Coverage {
  std::size_t both = 0;
  std::size_t only_a = 0;
  std::size_t only_b = 0;
  std::size_t neither = 0;

  std::size_t pairs() const { return both + only_a + only_b + neither; }
};
Coverage coverage(const Pairs& pairs, const std::function<bool(const model::ArmFact&)>& seen);

// What so much evidence allows a check to say, whatever it shows. Agrees if nearly all pairs were
// seen, and no less of B than of A; refutes if B hides what A shows, for a variant must not choose
// what is seen of it; else abstains.
Ruling rule(const Coverage& coverage);
// The same in words: "seen of A but not of B in 4 of 12 pairs, the other way round in 0".
std::string explain(const Coverage& coverage);
// Whether so many of these pairs were seen that the rest cannot matter.
bool nearly_all(std::size_t seen, std::size_t pairs);

// The number, if it was observed and is one.
std::optional<double> known(const model::Observed<double>& number);

// Whether the claim is about a number that the job reports of itself.
bool rests_on_report(const model::Spec& spec);

}  // namespace amdahl::refute
