// hypothesis.h: a claim that a change saves accelerator time, how it is tested, and how it ended.
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
  std::string ref;   // The playbook entry, the win or the document it came from.

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Hypothesis {
  std::string id;  // "h-" and 10 hex digits.
  std::string family;
  Bottleneck bottleneck = Bottleneck::kUnknown;
  Change change;          // As it runs.
  std::string key;        // Never-retry key: its effect.
  std::string title;      // "larger batches".
  std::string mechanism;  // Why it should help.
  Origin origin;
  double predicted_gain = 0;  // Share of the cost it should save, at most the ceiling's.
  double ceiling_share = 0;   // Share of the cost that its bottleneck explains; 0 if unknown.
  double prior = 0.15;        // Chance that it works.
  std::string profile;        // Id of the profile it rests on.
  std::string component;      // Phase in which the time should be saved; empty if unknown.
  std::string dose;           // The knob it turns, if more of it should help more; else empty.
  double dose_value = 0;      // What it is turned to.

  friend bool operator==(const Hypothesis&, const Hypothesis&) = default;
};

enum class VerdictKind : std::uint8_t {
  kPromoted,
  kDeclined,  // By a person.
  kRefuted,   // The panel refuted it.
  kNoEffect,  // Evidence that the effect is below what matters.
  kHarmful,
  kInconclusive,  // The cap was reached: may return with a new claim.
  kInvalid,       // The variant fails, or breaks its guard for reasons outside the claim.
  kAborted,       // Infrastructure, or the baseline moved under it.
  kDropped,       // Not worth the hours it would still take to prove.
};

std::string_view name(VerdictKind kind);  // "promoted", "no effect", ...
std::optional<VerdictKind> verdict_named(std::string_view name);
// Whether a hypothesis with this verdict keeps its key from being tried again.
bool blocks_retry(VerdictKind kind);

// Where a live experiment stands.
enum class Stage : std::uint8_t {
  kCompare,  // Until the pairs answer.
  kRefute,   // Fresh pairs, then the panel.
  kTopUp,    // Pairs that a check asked for.
  kHold,     // The panel let it pass, the campaign's level or more evidence is missing.
  kGate,     // A person decides.
};
std::string_view name(Stage stage);  // "compare", "refute", "top-up", "hold", "gate".
std::optional<Stage> stage_named(std::string_view name);

struct Experiment {
  std::string id;  // "x-" and the hypothesis's digits, with "-2" when reopened.
  std::string hypothesis;
  std::string family;
  std::string campaign;
  std::string metric;
  std::optional<bool> lower_is_better;  // Of the metric.
  // What the spec was when it was registered: field_digests() in model/spec_digest.h. Empty in
  // ledgers of before it was kept.
  std::map<std::string, std::string> spec;
  double claim = 0;     // ln(cost before / cost after) that is claimed.
  double sigma = 0.05;  // Noise of one pair, frozen at registration.
  double delta = 0.01;  // Smallest effect that matters (futility margin), in ln.
  double alpha = 0.10;  // Of the campaign.
  double beta = 0.20;
  int cap = 40;            // Pairs in the compare stage.
  double weight = 0.005;   // Its share of the campaign's alpha, 1/K.
  std::string seed;        // Of the coin.
  std::string baseline;    // Digest of the baseline's plan.
  Change baseline_change;  // The stack it is measured on.
  Nanos registered{};

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

enum class Answer : std::uint8_t { kBetter, kWorse, kSame, kCannotTell };
std::string_view name(Answer answer);  // "better", "worse", "same", "cannot tell yet".
std::optional<Answer> answer_named(std::string_view name);

struct Comparison {
  Answer answer = Answer::kCannotTell;
  int pairs = 0;  // Resolved and not void.
  int voided = 0;
  double log_e_win = 0;
  double log_e_futile = 0;
  double log_e_worse = 0;
  double effect = 0;  // Hodges-Lehmann, ln(cost A / cost B).
  double lower = 0;   // Anytime 95 % bounds each side; may be -inf/inf.
  double upper = 0;
  double shrunk = 0;
  double sigma = 0.05;
  double delta = 0.01;
  double smallest_visible = 0;  // The effect it could have resolved with these pairs, in ln.
  std::string because;          // One sentence with the numbers in it.

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

enum class Vote : std::int8_t { kRefute = -1, kAbstain = 0, kAgree = 1 };
std::string_view name(Vote vote);  // "refute", "abstain", "agree".
std::optional<Vote> vote_named(std::string_view name);

struct Finding {
  std::string check;  // The check's id.
  Vote vote = Vote::kAbstain;
  bool decisive = false;  // A refutation that vetoes.
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
  std::string holds_for;  // The contention it was shown under: "quiet and busy hosts".
  std::string rollback;   // What to type.

  friend bool operator==(const GatePacket&, const GatePacket&) = default;
};

struct GateDecision {
  bool approved = false;
  std::string actor;  // A person's name, or "policy:demo".
  std::string reason;
  std::string packet = {};  // Digest of the packet that was seen; empty in ledgers before 0.1.

  friend bool operator==(const GateDecision&, const GateDecision&) = default;
};

// The family's promoted changes re-measured together against the original.
struct StackResult {
  std::string family;
  int changes = 0;
  Comparison comparison;
  double original_cost = 0;  // Accelerator-seconds per unit of work, medians.
  double stack_cost = 0;
  std::string work_unit;
  Nanos at{};

  friend bool operator==(const StackResult&, const StackResult&) = default;
};

}  // namespace amdahl::model
