// brief.h: what a model, or a person, is told of a family before it is asked for something.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "brief/excerpts.h"
#include "hypothesize/playbook.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "model/spec.h"
#include "profile/findings.h"
#include "profile/offcpu.h"

namespace amdahl::brief {

enum class Role : std::uint8_t { kPropose, kAttack, kDream };
std::string_view name(Role role);  // "propose", "attack", "dream".
std::optional<Role> role_named(std::string_view name);

// What is known of a cause besides its numbers.
struct CauseNote {
  std::string to_try;
  std::string line;  // "train.py:12", or where its time went; empty if unknown.
};

// What one profile saw. The referenced objects must outlive the call.
struct Observed {
  const model::Spec& spec;
  const model::Change& baseline;
  const model::Profile& profile;
  std::string commit;            // Of the repo; patches apply to it. Empty if there is none.
  std::vector<CauseNote> notes;  // One for each cause.
  std::span<const profile::Finding> findings;
  std::span<const Excerpt> code;
  std::span<const SourceFile> files;
  const profile::WaitsReport* waits = nullptr;     // Null: not collected.
  std::span<const hypothesize::Entry> injections;  // That apply.
};

// The content of evidence.json: docs/format/brief.md. Does not change after the profile. Text from
// outside is cut, and secrets are replaced.
Json evidence(const Observed& observed);

// An idea that the ledger holds, of this family or of one like it.
struct KnownIdea {
  model::Hypothesis hypothesis;
  std::string state;
  std::optional<model::Verdict> verdict;
};

// A claimed win that may be attacked.
struct Claim {
  model::Experiment experiment;
  model::Hypothesis hypothesis;
  model::Comparison comparison;
  std::vector<model::Finding> votes;
};

// A resource with what is left of it; nothing: no limit.
struct Purse {
  std::string resource;
  std::optional<double> left;
  double spent = 0;
};

struct Chance {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::int64_t tried = 0;
  std::int64_t won = 0;
};

// What the ledger knows at the time of asking.
struct Memory {
  std::vector<KnownIdea> known;  // Of the family, newest first.
  std::vector<KnownIdea> like;   // Wins of families with the same bottleneck.
  std::vector<Claim> claims;     // Past the comparison.
  std::vector<Chance> chances;
  std::vector<Purse> purses;
  std::vector<std::string> documents;  // For the role dream: "SOURCE: TEXT", the best first.
};

// The most that is told, in bytes of prompt(). A token is between 2 and 4 bytes of it.
inline constexpr std::size_t kMostBytes = 18000;

// The whole brief: {role, task, rules, evidence, memory, answer_schema, more, left_out}. Longer
// lists are cut from their end, the least useful first, and counted in left_out.
Json packet(Role role, Json evidence, const Memory& memory, std::size_t most_bytes = kMostBytes);

// As a model and a person read it. Every line that holds text from outside begins with "| ", so
// that none of it can pass for an instruction of ours.
std::string prompt(const Json& packet);

// An upper estimate, for budgets.
std::int64_t tokens_in(std::string_view text);

}  // namespace amdahl::brief
