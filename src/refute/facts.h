// facts.h: helpers that several checks use on the evidence.
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

// The pairs that count for this check: all valid coin-randomised pairs, and its targeted pairs.
Pairs pairs_for(const Evidence& evidence, std::string_view check);

// Fresh pairs and the check's targeted pairs.
Pairs fresh_pairs_for(const Evidence& evidence, std::string_view check);

// Only the check's targeted pairs.
Pairs bought_for(const Evidence& evidence, std::string_view check);

// Whether pairs were bought for this check, void ones included. Another check's pairs settle
// nothing here.
bool had_pairs(const Evidence& evidence, std::string_view check);

// As pairs_for(), without pairs whose arms alternate inside one process: outputs and total cost of
// such a process cannot be split by arm.
Pairs whole_runs_for(const Evidence& evidence, std::string_view check);
// A suffix for sentences about too few pairs: " (12 do not count: both arms ran in one process)".
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

// The arm's work; 1 (one run) unless both arms report work.
double work_or_run(const model::PairFact& pair, const model::ArmFact& arm);

// Whether the inputs of both arms were fingerprinted, and whether they were the same.
bool fingerprinted(const model::PairFact& pair);
bool same_input(const model::PairFact& pair);

// In how many pairs something was reported, by arm.
struct Coverage {
  std::size_t both = 0;
  std::size_t only_a = 0;
  std::size_t only_b = 0;
  std::size_t neither = 0;

  std::size_t pairs() const { return both + only_a + only_b + neither; }
};
Coverage coverage(const Pairs& pairs, const std::function<bool(const model::ArmFact&)>& seen);

// What this coverage allows a check to conclude. Agrees if nearly all pairs report it. Refutes if B
// reports less than A: a variant must not select its own evidence. Otherwise abstains.
Ruling rule(const Coverage& coverage);
// In words: "reported by A but not by B in 4 of 12 pairs, by B but not by A in 0".
std::string explain(const Coverage& coverage);
// At least 90 %: the rest cannot matter.
bool nearly_all(std::size_t seen, std::size_t pairs);

// Whether the arm failed and left no receipt: it was lost with its worker, whoever ended that.
bool was_lost(const model::ArmFact& arm);

// The number, if it was observed and is one.
std::optional<double> known(const model::Observed<double>& number);

// Whether the claim is about a number that the job itself reports.
bool rests_on_report(const model::Spec& spec);

}  // namespace amdahl::refute
