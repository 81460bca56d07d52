// playbook.h: the known optimisations as data, one TOML file each.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "model/spec.h"

namespace amdahl::hypothesize {

// One condition on evidence: `name op number`, or `name exists` / `name missing`. `name not
// number` also holds if the evidence is absent.
struct Condition {
  std::string evidence;
  std::string op;  // "<", "<=", ">", ">=", "==", "!=", "not", "exists", "missing".
  double number = 0;
};

struct Entry {
  std::string id;  // The file's name without ".toml".
  std::string title;
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::vector<Condition> when;  // All must hold; absent evidence fails all but "missing" and "not".
  std::vector<std::string> explains;  // Evidence whose shares sum to what it can affect.
  std::vector<std::string> touches;   // What else it can affect; raises only the ceiling.
  double effectiveness = 0.5;         // Share of that which usually goes.
  double prior = 0.15;                // Probability that it works if the conditions hold.
  std::string mechanism;
  std::string source;  // Reference.
  // Template: knob operations ("batch_size" to "x4", "=32", "on", "off", "/2", "=accelerators"),
  // env values (which may contain "{accelerators}" and "{cpus}"), resources ("accelerators" to
  // "/2"), wrap.
  std::map<std::string, std::string> knobs;
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> resources;
  std::vector<std::string> wrap;
  // Fix of playbook/inject/ to its value, which may contain "{accelerators}" and "{cpus}".
  std::map<std::string, std::string> inject;
  // Further values of the only knob, variable or fix above: they race before one is tested.
  std::vector<std::string> race;
  // Effect on the results: "exact" (none), "tolerant" (rounding) or "semantic" (changed: never
  // proposed). Empty: as the knobs say.
  std::string effect;
  std::string commit;              // For a promoted injection: what to write into the job instead.
  std::vector<std::string> needs;  // Required programs and libraries ("numactl").
};

// One file; the id is `where` without its folder and ".toml". Errors name the file and the line,
// and what was probably meant. Format: docs/format/playbook.md.
Result<Entry> parse_entry(std::string_view toml, std::string_view where);

// The entries compiled in from playbook/, by id. A test parses them all.
Result<std::vector<Entry>> embedded_playbook();

// The entry for each of its values: itself, and one for each further value that races.
std::vector<Entry> by_value(const Entry& entry);

// "input_wait_share > 0.05", "knob.batch_size exists".
Result<Condition> parse_condition(std::string_view text);
std::string describe(const Condition& condition);

// Whether every condition holds; `because` gets the numbers, or those of the first condition that
// fails.
bool applies(const Entry& entry, const model::Profile& profile, std::string& because);

// The template resolved against the spec and its current baseline; nothing if the spec lacks a
// required knob, a bound forbids it, or it changes nothing.
std::optional<model::Change> resolve(const Entry& entry, const model::Spec& spec,
                                     const model::Change& baseline);

// The same; `because` gets the reason when there is nothing.
std::optional<model::Change> resolve(const Entry& entry, const model::Spec& spec,
                                     const model::Change& baseline, std::string& because);

}  // namespace amdahl::hypothesize
