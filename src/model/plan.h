// plan.h: a spec with changes applied: what exactly one arm executes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "model/change.h"
#include "model/spec.h"

namespace amdahl::model {

struct Plan {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  // Set for the job on top of what it inherits.
  std::vector<std::string> unset;          // Variables it must not inherit.
  std::string workdir;
  int accelerators = 1;
  int cpus = 1;
  std::map<std::string, std::string> config;  // As in Change.
  std::map<std::string, std::string> inject;  // As in Change.
  std::string patch;
  bool needs_build = false;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Fails if the change touches what the spec does not have (a patch without a repo).
Result<Plan> make_plan(const Spec& spec, const Change& change);

// What the knob is set to under the baseline: from the command, the environment or the config,
// else the spec's `value`. "" is a bare flag or an empty value; nothing: it is not set.
std::optional<std::string> current_value(const Spec& spec, const Change& baseline,
                                         const Knob& knob);

// 16 hex digits over everything that makes two plans behave differently.
std::string digest(const Plan& plan);

// For keys and comparisons, never to be run: the change without what the baseline has anyway and
// in one spelling (folded() in model/effect.h). Two changes that do the same have the same
// canonical form.
Change canonical(const Spec& spec, const Change& baseline, const Change& change);

// The never-retry key: family × canonical change × hardware.
std::string key(const Spec& spec, const Change& baseline, const Change& change,
                std::string_view hardware);

}  // namespace amdahl::model
