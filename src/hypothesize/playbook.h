// playbook.h: the known optimisations, as data: one TOML file each.
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

// One condition on evidence: `name op number`, or `name exists` / `name missing`. `name not number`
// holds for evidence that is absent, too.
struct Condition {
  std::string evidence;
  std::string op;  // "<", "<=", ">", ">=", "==", "!=", "not", "exists", "missing".
  double number = 0;
};

struct Entry {
  std::string id;  // The file's name without ".toml".
  std::string title;
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  std::vector<Condition> when;  // All must hold; evidence that is absent fails all but "missing".
  std::vector<std::string> explains;  // Evidence names whose shares sum to what it can touch.
  std::vector<std::string> touches;   // What it can reach besides: raises the ceiling alone.
  double effectiveness = 0.5;         // Of that share, how much usually goes.
  double prior = 0.15;                // Chance that it works where the conditions hold.
  std::string mechanism;
  std::string source;  // Where this is known from.
  // Template: knob operations ("batch_size" to "x4", "=32", "on", "off", "/2", "=accelerators"),
  // env values (which may hold "{accelerators}" and "{cpus}"), resources ("accelerators" to "/2"),
  // wrap.
  std::map<std::string, std::string> knobs;
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> resources;
  std::vector<std::string> wrap;
  // Fix of playbook/inject/ to its value, which may hold "{accelerators}" and "{cpus}".
  std::map<std::string, std::string> inject;
  // What it does to the results: "exact" (nothing), "tolerant" (rounding) or "semantic" (they are
  // others: never proposed). Empty: as the knobs say.
  std::string effect;
  std::string commit;              // For an injection that won: what to write into the job instead.
  std::vector<std::string> needs;  // Programs and libraries that must exist for it ("numactl").
};

// One file; the id is `where` without its folder and ".toml". Errors name the file and the line,
// and what was probably meant. Format: docs/format/playbook.md.
Result<Entry> parse_entry(std::string_view toml, std::string_view where);

// The entries compiled in from playbook/, by id. A test parses them all.
Result<std::vector<Entry>> embedded_playbook();

// "input_wait_share > 0.05", "knob.batch_size exists".
Result<Condition> parse_condition(std::string_view text);
std::string describe(const Condition& condition);

// Whether every condition holds; `because` gets the numbers of those that do, or of the first
// that does not.
bool applies(const Entry& entry, const model::Profile& profile, std::string& because);

// The template resolved against the spec and its present baseline; nothing if the spec lacks a
// knob that the template needs, a bound forbids it, or it changes nothing.
std::optional<model::Change> resolve(const Entry& entry, const model::Spec& spec,
                                     const model::Change& baseline);

// The same; `because` gets the reason when there is nothing.
std::optional<model::Change> resolve(const Entry& entry, const model::Spec& spec,
                                     const model::Change& baseline, std::string& because);

}  // namespace amdahl::hypothesize
