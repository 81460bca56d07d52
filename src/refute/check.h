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

// The effect of setting a knob to this value.
struct Dose {
  std::string knob;
  double value = 0;
  double effect = 0;  // ln(cost before / cost after).
};

// How often the baseline fails.
struct UsualFailures {
  double rate = 0.04;
  double runs = 50;  // Number of runs behind that rate.
};

// Everything known about one claimed win.
struct Evidence {
  const model::Spec* spec = nullptr;  // Never null when a check runs.
  model::Experiment experiment;
  model::Comparison comparison;        // Over all coin-randomised pairs.
  std::vector<model::PairFact> pairs;  // Of the experiment, by index, void ones included.
  // Of earlier tests of the same change that ended without a lasting verdict. They can count
  // against it, never for it: see Check::remembers.
  std::vector<model::PairFact> before;
  std::vector<model::PairFact> same;    // A/A pairs of the family, at most 7 days old.
  std::optional<double> touched_share;  // Share of the cost that the change can affect.
  std::string component;                // Phase in which time should be saved; empty if unknown.
  bool only_fewer = false;              // The same program, command and code on fewer accelerators.
  std::vector<Dose> doses;              // For the knob that it sets: this claim and others.
  double price_accelerator_hour = 1;    // For the cost check.
  double price_cpu_hour = 0.02;
  UsualFailures usual_failures;
  UsualFailures usual_own_failures;  // Without runs that were lost with their worker.
  double busy_share = 0.5;           // Share of the fleet's hours on busy hosts.
  // Shares of the fleet's hours in the quarters of the day, from midnight, in local time.
  std::array<double, 4> quarter_shares{0.25, 0.25, 0.25, 0.25};
  double local_minus_utc_s = 0;
  bool topped_up = false;  // Targeted pairs were already run once.
};

struct Check {
  std::string_view id;    // Written to the ledger: never renamed, never reused.
  std::string_view asks;  // The question, as people read it.
  bool mandatory;         // An abstention puts the claim on hold.
  // ask_all() adds the id. A finding may set `mandatory` itself, whatever the row says.
  model::Finding (*run)(const Evidence&);

  // Whether more pairs could resolve an abstention; null: always. They cannot if the spec lacks
  // what the check needs.
  bool (*pairs_help)(const Evidence&) = nullptr;

  // Whether the check applies; null: always. A check that does not apply is not asked and does not
  // count for the majority. A mandatory check always applies.
  bool (*applies)(const Evidence&) = nullptr;

  // If it abstains, it asks for pairs: see Panel::also_wants.
  bool asks_when_silent = false;

  // Asked about the earlier tests of the change as well, and the worse answer counts: a change must
  // not lose its failures by losing its test.
  bool remembers = false;
};

// In a fixed order; a new check comes last.
std::span<const Check> checks();

// The findings of all checks that apply, in the table's order.
std::vector<model::Finding> ask_all(const Evidence& evidence);

enum class Outcome { kRefuted, kTopUp, kHold, kSurvives };

struct Panel {
  Outcome outcome = Outcome::kHold;
  std::string because;                   // One sentence: which checks, with counts.
  std::vector<std::string> wants_pairs;  // Ids of checks that ask for targeted pairs, for kTopUp.

  // For kSurvives: ids of checks that abstain but could answer with more pairs. May be granted as a
  // top-up through helped_by_pairs(), once per check.
  std::vector<std::string> also_wants;
};

// A decisive refutation vetoes. A soft refutation or a mandatory abstention gets targeted pairs
// once; if it stands after that, it blocks. Then a majority must agree. `multiplicity_ok`: E
// reached the campaign's threshold. A mandatory check without a finding counts as an abstention.
Panel combine(std::span<const model::Finding> findings, bool multiplicity_ok, bool topped_up);

// The checks among these that more pairs could settle. If there is none, combine again as if topped
// up.
std::vector<std::string> helped_by_pairs(std::span<const std::string> wants_pairs,
                                         const Evidence& evidence);

// Mandatory checks without an answer that no pair could give: the claim is on hold until a person
// changes the spec.
std::vector<std::string> beyond_pairs(std::span<const model::Finding> findings,
                                      const Evidence& evidence);

// How to run a targeted pair for this check. Such pairs count only for this check, never for E:
// record them as Purpose::kTopUp with the check's id as target.
struct Target {
  int pairs = 4;                       // In one round.
  int enough = 8;                      // A check that so many pairs leave silent is settled.
  int most = 3;                        // Times that: what it gets in all while it is not settled.
  std::optional<bool> variant_second;  // Fixed order, if the check is about order.
  bool same = false;                   // Both arms run the baseline (A/A).
  bool contended = false;              // With load processes on its CPU slots.
  bool whole_runs = false;             // Separate processes, not steps of one process.
  std::string stratum;                 // The class of inputs to run; empty: the next in turn.
};
Target target_of(std::string_view check);
// The same, depending on the evidence: the input class with the fewest pairs, the other contention
// state.
Target target_of(std::string_view check, const Evidence& evidence);

// On which hosts the claim holds, for the person at the gate: "quiet and busy hosts", "quiet hosts
// only: 21 % slower on busy hosts (8 pairs)", "quiet hosts; busy hosts not tested".
std::string holds_for(const Evidence& evidence);

}  // namespace amdahl::refute
