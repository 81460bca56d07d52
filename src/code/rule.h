// rule.h: one row per code pattern that costs accelerator time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "code/facts.h"
#include "code/graph.h"
#include "code/patch.h"

namespace amdahl::code {

// What a rule is applied to.
struct Subject {
  const Facts& facts;  // Of the source.
  const Site& site;
  HowOften how_often = HowOften::kOnce;
  std::span<const Facts> all;  // Of every source.
};

struct Match {
  std::string detail;       // Details of this match: "num_workers is args.workers".
  std::vector<Edit> edits;  // Mechanical edits that keep the program's meaning; may be empty.
};

// Evidence that the rule requires: "threads_per_cpu" above 1.
struct Need {
  std::string_view evidence;
  double above = 0;
};

struct Rule {
  std::string_view id;  // Written to reports and ledgers: never rename or reuse.
  Language language;
  SiteKind kind;
  HowOften least;  // Applies only to code that runs at least this often.
  // Last component of the callee ("item"), or with what precedes it ("torch.save").
  std::span<const std::string_view> names;
  std::string_view finds;    // For people.
  std::string_view suggest;  // What to try.
  // Evidence (docs/format/evidence.md) whose cost it can explain, most significant first.
  std::span<const std::string_view> explains;
  std::string_view playbook;  // Entry of playbook/ that tries it with a knob; "" if none.
  Need need = {};             // Default: no evidence needed.
  // Extra condition; nullptr: matching the name is enough.
  std::optional<Match> (*look)(const Subject& subject) = nullptr;
  // Where the cost shows. Most patterns cost time at their own line; if lines were timed, that
  // line must have taken some. Settings cost time elsewhere. For some, only their own line's time
  // counts.
  Cost cost = Cost::kHere;
  // Evidence of what else the fix may shorten; raises only the ceiling.
  std::span<const std::string_view> touches = {};
};

// All rules. Every row that matches a site reports it.
std::span<const Rule> python_rules();
std::span<const Rule> cpp_rules();

// The row with this id, or nullptr.
const Rule* rule_named(std::string_view id);

// Whether the site's name is in the row's names.
bool is_named(const Rule& rule, const Site& site);

}  // namespace amdahl::code
