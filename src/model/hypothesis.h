// hypothesis.h: a claim that a change saves accelerator time, its experiment and its verdict.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "model/change.h"
#include "model/profile.h"
#include "model/receipt.h"

namespace amdahl::model {

struct Origin {
  std::string kind;  // "playbook", "dream", "person", "agent".
  std::string ref;   // Playbook entry, win or document it came from.

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Hypothesis {
  std::string id;  // "h-" and 10 hex digits.
  std::string family;
  Bottleneck bottleneck = Bottleneck::kUnknown;
  Change change;          // As it runs.
  std::string key;        // Never-retry key, from the change's effect.
  std::string title;      // "larger batches".
  std::string mechanism;  // Why it should help.
  Origin origin;
  double predicted_gain = 0;  // Expected share of the cost saved; at most the ceiling.
  double ceiling_share = 0;   // Share of the cost that its bottleneck explains; 0: unknown.
  double prior = 0.15;        // Probability that it works.
  std::string profile;        // Id of the profile it is based on.
  std::string component;      // Phase in which time should be saved; empty: unknown.
  std::string race;           // Setting of which other values are proposed too; empty: none.
  std::string dose;           // Knob for which more should help more; empty: none.
  double dose_value = 0;      // Value it sets `dose` to.

  friend bool operator==(const Hypothesis&, const Hypothesis&) = default;
};

// Whether a model wrote code for it: such code is sandboxed, and its first pair is a canary.
inline bool is_agents_patch(const Hypothesis& hypothesis) {
  return hypothesis.origin.kind == "agent" && !hypothesis.change.patch.empty();
}

enum class VerdictKind : std::uint8_t {
  kPromoted,
  kDeclined,  // By a person.
  kRefuted,   // By a check of the panel.
  kNoEffect,  // Evidence that the effect is too small to matter.
  kHarmful,
  kInconclusive,  // The cap on pairs was reached. May be tried again with a new claim.
  kInvalid,       // The variant fails, or breaks its guard for unrelated reasons.
  kAborted,       // Infrastructure failed, or the baseline changed meanwhile.
  kDropped,       // Not worth the hours that proving it would still take.
};

std::string_view name(VerdictKind kind);  // "promoted", "no effect", ...
std::optional<VerdictKind> verdict_named(std::string_view name);
// Whether this verdict prevents the same key from being tried again.
bool blocks_retry(VerdictKind kind);

// State of a live experiment.
enum class Stage : std::uint8_t {
  kCompare,  // Runs pairs until the comparison answers.
  kRefute,   // Runs fresh pairs, then asks the panel.
  kTopUp,    // Runs pairs that a check asked for.
  kHold,     // Passed the panel; waits for the campaign's level or more evidence.
  kGate,     // Waits for a person's decision.
};
std::string_view name(Stage stage);  // "compare", "refute", "top-up", "hold", "gate".
std::optional<Stage> stage_named(std::string_view name);

struct Experiment {
  std::string id;  // "x-" and the hypothesis's digits; "-2" if reopened.
  std::string hypothesis;
  std::string family;
  std::string campaign;
  std::string metric;
  std::optional<bool> lower_is_better;  // Direction of the metric.
  // Digests of the spec at registration: field_digests() in model/spec_digest.h. Empty in old
  // ledgers.
  std::map<std::string, std::string> spec;
  double claim = 0;     // Claimed ln(cost before / cost after).
  double sigma = 0.05;  // Noise of one pair in ln, frozen at registration.
  double delta = 0.01;  // Smallest effect that matters (futility margin), in ln.
  double alpha = 0.10;  // The campaign's error level.
  double beta = 0.20;
  int cap = 40;            // Maximum pairs in the compare stage.
  double weight = 0.005;   // Its share of the campaign's alpha, 1/K.
  std::string seed;        // Seed of the coin.
  std::string baseline;    // Digest of the baseline's plan.
  Change baseline_change;  // Promoted changes that both arms have.
  Nanos registered{};

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

enum class Answer : std::uint8_t { kBetter, kWorse, kSame, kCannotTell };
std::string_view name(Answer answer);  // "better", "worse", "same", "cannot tell yet".
std::optional<Answer> answer_named(std::string_view name);

struct Comparison {
  Answer answer = Answer::kCannotTell;
  int pairs = 0;  // Complete and not void.
  int voided = 0;
  double log_e_win = 0;
  double log_e_futile = 0;
  double log_e_worse = 0;
  double effect = 0;  // Hodges-Lehmann estimate of ln(cost A / cost B).
  double lower = 0;   // Anytime 95 % bound on each side; may be -inf or inf.
  double upper = 0;
  double shrunk = 0;
  double sigma = 0.05;
  double delta = 0.01;
  double smallest_visible = 0;  // Smallest effect these pairs could have resolved, in ln.
  std::string because;          // One sentence with the numbers in it.

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

enum class Vote : std::int8_t { kRefute = -1, kAbstain = 0, kAgree = 1 };
std::string_view name(Vote vote);  // "refute", "abstain", "agree".
std::optional<Vote> vote_named(std::string_view name);

struct Finding {
  std::string check;  // The check's id.
  Vote vote = Vote::kAbstain;
  bool decisive = false;  // A refutation that vetoes alone.
  bool mandatory = false;
  std::string because;  // One sentence with the numbers in it.

  friend bool operator==(const Finding&, const Finding&) = default;
};

struct Verdict {
  std::string hypothesis;
  std::string experiment;  // Empty if none was registered.
  VerdictKind kind = VerdictKind::kAborted;
  std::string reason;
  std::optional<Comparison> comparison;
  Nanos at{};

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct GatePacket {  // What a person decides on.
  std::string experiment;
  std::string hypothesis;
  std::string family;
  std::string claim;  // One sentence.
  Comparison comparison;
  std::vector<Finding> votes;
  std::string diff;  // What would change.
  double spent_accelerator_s = 0;
  double saves_accelerator_h_per_day = 0;
  std::string holds_for;  // Conditions under which it was shown: "quiet and busy hosts".
  std::string rollback;   // Command that undoes it.

  friend bool operator==(const GatePacket&, const GatePacket&) = default;
};

struct GateDecision {
  bool approved = false;
  std::string actor;  // Name of a person, or "policy:demo".
  std::string reason;
  std::string packet = {};  // Digest of the packet that was shown; empty in ledgers before 0.1.

  friend bool operator==(const GateDecision&, const GateDecision&) = default;
};

// All promoted changes of the family together, measured against the original.
struct StackResult {
  std::string family;
  int changes = 0;
  Comparison comparison;
  double original_cost = 0;  // Median accelerator-seconds per unit of work.
  double stack_cost = 0;
  std::string work_unit;
  Nanos at{};

  friend bool operator==(const StackResult&, const StackResult&) = default;
};

}  // namespace amdahl::model
