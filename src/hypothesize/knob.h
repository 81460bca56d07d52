// knob.h: reads and sets a job's knobs through flags, variables or config files.
#pragma once

#include <optional>
#include <string>

#include "model/change.h"
#include "model/profile.h"
#include "model/spec.h"

namespace amdahl::hypothesize {

// The job's current setting: from the baseline's changes if they set it, otherwise from the spec.
struct Present {
  bool set = false;   // The flag, variable or key is present.
  std::string value;  // "" for a flag without a value.
};

Present present_of(const model::Spec& spec, const model::Change& baseline, const model::Knob& knob);

// The same for a variable; the host's environment is unknown here.
Present present_of(const model::Spec& spec, const model::Change& baseline,
                   const std::string& variable);

int accelerators_of(const model::Spec& spec, const model::Change& baseline);

// The value after switching; nothing removes the flag. "0" becomes "1" for a flag with a value,
// unless the spec says otherwise.
std::optional<std::string> switched(const model::Knob& knob, const Present& present, bool on);

// False if the spec gives no way to set it, or if it cannot be unset.
bool set_knob(const model::Knob& knob, const std::optional<std::string>& value,
              model::Change& change);

// The profile with "knob.NAME" and "accelerators" as on this baseline, so that a profile from
// before a promotion does not propose the promoted change again; and "env.NAME" for each variable
// that the spec or the baseline sets.
model::Profile on_baseline(const model::Profile& profile, const model::Spec& spec,
                           const model::Change& baseline);

}  // namespace amdahl::hypothesize
