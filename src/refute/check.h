// check.h: one row per way a claimed win could be false. Pure: evidence in, finding out.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::refute {

// Everything known of one claimed win.
struct Evidence {
  const model::Spec* spec = nullptr;  // Never null when a check runs.
  model::Experiment experiment;
  model::Comparison comparison;         // Over all coin-randomised pairs.
  std::vector<model::PairFact> pairs;   // Of the experiment, by index, void ones included.
  std::vector<model::PairFact> same;    // A/A pairs of the family, at most 7 days old.
  std::optional<double> touched_share;  // Share of the cost that the change can touch.
  double price_accelerator_hour = 1;    // For the cost check.
  double price_cpu_hour = 0.02;
  double historical_failure_rate = 0.04;
  bool topped_up = false;  // Targeted pairs were already bought once.
};

struct Check {
  std::string_view id;                     // Written to the ledger: never renamed, never reused.
  std::string_view asks;                   // The question, as people read it.
  bool mandatory;                          // An abstention holds the claim back.
  model::Finding (*run)(const Evidence&);  // ask_all() adds the id and whether it is mandatory.

  // Whether more pairs could cure an abstention; null if they always could. They cannot where the
  // spec names nothing to look at.
  bool (*pairs_help)(const Evidence&) = nullptr;
};

std::span<const Check> checks();

// All checks, in the table's order.
std::vector<model::Finding> ask_all(const Evidence& evidence);

enum class Outcome { kRefuted, kTopUp, kHold, kSurvives };

struct Panel {
  Outcome outcome = Outcome::kHold;
  std::string because;                   // One sentence: which checks, with counts.
  std::vector<std::string> wants_pairs;  // Ids of checks that ask for targeted pairs, for kTopUp.
};

// Any decisive refutation vetoes; a soft one or a mandatory abstention buys pairs once; one that
// stands blocks; then the majority must agree. `multiplicity_ok`: E reached the campaign's level.
// A mandatory check without a finding counts as one that abstains.
Panel combine(std::span<const model::Finding> findings, bool multiplicity_ok, bool topped_up);

// Of these checks, those whose doubt more pairs could settle. If none is left there is nothing to
// buy: combine again as if topped up.
std::vector<std::string> helped_by_pairs(std::span<const std::string> wants_pairs,
                                         const Evidence& evidence);

// How a pair that was bought for this check is to be run. Such pairs feed this check alone, never
// E: record them as Purpose::kTopUp with the check's id as target.
struct Target {
  int pairs = 8;
  std::optional<bool> variant_second;  // Fixed order, if the check is about order.
  bool same = false;                   // Both arms run the baseline (A/A).
};
Target target_of(std::string_view check);

}  // namespace amdahl::refute
