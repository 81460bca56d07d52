// plan.h: a spec with changes applied: exactly what one arm runs.
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
  std::map<std::string, std::string> env;  // Added to the inherited environment.
  std::vector<std::string> unset;          // Inherited variables to remove.
  std::string workdir;
  int accelerators = 1;
  int cpus = 1;
  std::map<std::string, std::string> config;  // As in Change.
  std::map<std::string, std::string> inject;  // As in Change.
  std::string patch;
  bool needs_build = false;

  friend bool operator==(const Plan&, const Plan&) = default;
};

// Fails if the change needs something the spec does not have (a patch without a repo).
Result<Plan> make_plan(const Spec& spec, const Change& change);

// The knob's value under the baseline: from the command, the environment or the config, else the
// spec's `value`. "": a flag without a value, or an empty value; nothing: not set.
std::optional<std::string> current_value(const Spec& spec, const Change& baseline,
                                         const Knob& knob);

// 16 hex digits over everything that affects how the plan runs.
std::string digest(const Plan& plan);

// For keys and comparisons only; never run the result. The change in canonical spelling (folded()
// in model/effect.h), without what the baseline already has. Equivalent changes have the same
// form.
Change canonical(const Spec& spec, const Change& baseline, const Change& change);

// The never-retry key: family × canonical change × hardware.
std::string key(const Spec& spec, const Change& baseline, const Change& change,
                std::string_view hardware);

}  // namespace amdahl::model
