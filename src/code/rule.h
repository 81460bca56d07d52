// rule.h: one row per habit of code that costs accelerator time.
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

// What a rule is asked about.
struct Subject {
  const Facts& facts;  // Of the source.
  const Site& site;
  HowOften how_often = HowOften::kOnce;
  std::span<const Facts> all;  // Of every source.
};

struct Match {
  std::string detail;       // What is particular here: "num_workers is args.workers".
  std::vector<Edit> edits;  // Mechanical, and the program means the same after them; may be none.
};

// What must hold of the evidence for the rule to speak at all: "threads_per_cpu" above 1.
struct Need {
  std::string_view evidence;
  double above = 0;
};

struct Rule {
  std::string_view id;  // Written to reports and ledgers: never renamed, never reused.
  Language language;
  SiteKind kind;
  HowOften least;  // It counts only where code runs at least this often.
  // The last word of what is called ("item"), or with what stands before it ("torch.save").
  std::span<const std::string_view> names;
  std::string_view finds;    // As people read it.
  std::string_view suggest;  // What to try.
  // Evidence (docs/format/evidence.md) whose cost it can explain, the most telling first.
  std::span<const std::string_view> explains;
  std::string_view playbook;  // The entry of playbook/ that tries it with a knob; "" if none.
  Need need = {};             // No evidence: none.
  // Whether it applies; nullptr: the name is enough.
  std::optional<Match> (*look)(const Subject& subject) = nullptr;
  // Where the cost shows. Most cost at their own line, and if lines were timed, theirs must have
  // taken some; settings cost elsewhere, and for some only their own line's time counts.
  Cost cost = Cost::kHere;
  // Evidence of what its fix may shorten besides, beyond its own time: raises the ceiling alone.
  std::span<const std::string_view> touches = {};
};

// All of them. Every row that matches a place speaks.
std::span<const Rule> python_rules();
std::span<const Rule> cpp_rules();

// The row with this id; nullptr if there is none.
const Rule* rule_named(std::string_view id);

// Whether a row's names hold the site's.
bool is_named(const Rule& rule, const Site& site);

}  // namespace amdahl::code
