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
  bool set = false;   // The flag, variable or key is there at all.
  std::string value;  // "" for a bare flag.
};

Present present_of(const model::Spec& spec, const model::Change& baseline, const model::Knob& knob);

// The same of a variable; what the job inherits from the host is not known here.
Present present_of(const model::Spec& spec, const model::Change& baseline,
                   const std::string& variable);

int accelerators_of(const model::Spec& spec, const model::Change& baseline);

// What the knob is set to when switched; nothing takes the flag away. "0" of a job whose flag
// takes a value becomes "1", if the spec does not say otherwise.
std::optional<std::string> switched(const model::Knob& knob, const Present& present, bool on);

// False if the spec gives no way to set it, or if it cannot be unset.
bool set_knob(const model::Knob& knob, const std::optional<std::string>& value,
              model::Change& change);

// The profile with "knob.NAME" and "accelerators" as they are on this baseline, for a profile that
// was taken before a promotion must not have the promoted change proposed again; and with
// "env.NAME" for each variable that the spec or the baseline sets.
model::Profile on_baseline(const model::Profile& profile, const model::Spec& spec,
                           const model::Change& baseline);

}  // namespace amdahl::hypothesize
