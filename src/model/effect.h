// effect.h: what a change does, in one spelling, for keys alone; and how it runs, as written.
#pragma once

#include <string>
#include <string_view>

#include "model/change.h"
#include "model/spec.h"

namespace amdahl::model {

// The change as it runs: every value as written, flags by the first name that the spec has for
// them, so that a later change of the same flag replaces it.
Change by_first_name(const Spec& spec, const Change& change);

// The change in one spelling, for keys and comparisons: what this returns is never run. Flags by
// their first name; numbers too, where the spec's knob or the runtime that reads the variable takes
// nothing but numbers ("032" is "32" for batch_size; anywhere else "3.10" is not "3.1"); case where
// the reader folds it (OMP_WAIT_POLICY=PASSIVE); a patch by the lines that go and come. Whether a
// patch needs a build is no part of what it does. canonical() in model/plan.h is this without what
// the baseline has anyway.
Change folded(const Spec& spec, const Change& change);

// The never-retry key of what folded() or canonical() returned: "effect:hardware", digests both.
std::string effect_key(std::string_view family, const Change& effect, std::string_view hardware);

// Whether the key was made for other hardware. Keys of older versions do not tell: then not.
bool is_for_other_hardware(std::string_view key, std::string_view hardware);

}  // namespace amdahl::model
