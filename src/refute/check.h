// check.h: one row per way a claimed win could be false. Pure: evidence in, finding out.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "model/receipt.h"
#include "model/spec.h"

namespace amdahl::refute {

// What turning a knob to this value did to the family.
struct Dose {
  std::string knob;
  double value = 0;
  double effect = 0;  // ln(cost before / cost after).
};

// Everything known of one claimed win.
struct Evidence {
  const model::Spec* spec = nullptr;  // Never null when a check runs.
  model::Experiment experiment;
  model::Comparison comparison;         // Over all coin-randomised pairs.
  std::vector<model::PairFact> pairs;   // Of the experiment, by index, void ones included.
  std::vector<model::PairFact> same;    // A/A pairs of the family, at most 7 days old.
  std::optional<double> touched_share;  // Share of the cost that the change can touch.
  std::string component;                // Phase in which time should be saved; empty if unknown.
  std::vector<Dose> doses;              // Of the knob it turns: this claim and others.
  double price_accelerator_hour = 1;    // For the cost check.
  double price_cpu_hour = 0.02;
  double historical_failure_rate = 0.04;
  double historical_failure_runs = 50;  // That the rate is known from.
  double busy_share = 0.5;              // Of the fleet's hours, those beside busy neighbours.
  // Shares of the fleet's hours in the quarters of the day, from midnight, in local time.
  std::array<double, 4> quarter_shares{0.25, 0.25, 0.25, 0.25};
  double local_minus_utc_s = 0;
  bool topped_up = false;  // Targeted pairs were already bought once.
};

struct Check {
  std::string_view id;    // Written to the ledger: never renamed, never reused.
  std::string_view asks;  // The question, as people read it.
  bool mandatory;         // An abstention holds the claim back.
  // ask_all() adds the id. Whether or not the row is mandatory, a finding that says it is is so.
  model::Finding (*run)(const Evidence&);

  // Whether more pairs could cure an abstention; null if they always could. They cannot where the
  // spec names nothing to look at.
  bool (*pairs_help)(const Evidence&) = nullptr;

  // Whether there is anything to look at; null if there always is. A check that does not apply is
  // not asked, so that it takes nothing from the majority. A mandatory one always applies.
  bool (*applies)(const Evidence&) = nullptr;

  // Though it may abstain, it would rather have pairs: see Panel::also_wants.
  bool asks_when_silent = false;
};

// In an order that does not change; a new one comes last.
std::span<const Check> checks();

// The findings of all checks that apply, in the table's order.
std::vector<model::Finding> ask_all(const Evidence& evidence);

enum class Outcome { kRefuted, kTopUp, kHold, kSurvives };

struct Panel {
  Outcome outcome = Outcome::kHold;
  std::string because;                   // One sentence: which checks, with counts.
  std::vector<std::string> wants_pairs;  // Ids of checks that ask for targeted pairs, for kTopUp.

  // For kSurvives: ids of checks that abstain but could tell the person more if they were given
  // pairs. May be granted as a top-up, through helped_by_pairs(), which lets each ask once.
  std::vector<std::string> also_wants;
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
  bool contended = false;              // With neighbours on its slots.
  bool whole_runs = false;             // Not by steps of one process, which share what they leave.
  std::string stratum;                 // The class of inputs to run; empty: whichever is due.
};
Target target_of(std::string_view check);
// The same where it depends on what is there already: the thin class of inputs, the other
// contention state.
Target target_of(std::string_view check, const Evidence& evidence);

// Under which contention the claim was shown, for the person at the gate: "quiet and busy hosts",
// "quiet hosts only: 21 % slower on busy ones (8 pairs)", "quiet hosts; busy ones not tested".
std::string holds_for(const Evidence& evidence);

}  // namespace amdahl::refute
