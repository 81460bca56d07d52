// effect.h: a change in canonical spelling (for keys) and in the spelling in which it runs.
#pragma once

#include <string>
#include <string_view>

#include "model/change.h"
#include "model/spec.h"

namespace amdahl::model {

// The change as it runs: values as written; each flag under the first name that the spec lists for
// it, so that a later change of the same flag replaces it.
Change by_first_name(const Spec& spec, const Change& change);

// The change in one spelling, for keys and comparisons only; never run the result. Flags use their
// first name. Numbers are normalised only where the spec's knob or the runtime that reads the
// variable accepts nothing but numbers ("032" becomes "32" for batch_size, but "3.10" stays "3.10"
// elsewhere). Case is folded where the reader ignores case (OMP_WAIT_POLICY=PASSIVE). A patch is
// reduced to its removed and added lines; whether it needs a build is ignored. canonical() in
// model/plan.h also removes what the baseline already has.
Change folded(const Spec& spec, const Change& change);

// The never-retry key of a result of folded() or canonical(): "effect:hardware", both as digests.
std::string effect_key(std::string_view family, const Change& effect, std::string_view hardware);

// Whether the key was made for other hardware. False for keys of older versions, which do not say.
bool is_for_other_hardware(std::string_view key, std::string_view hardware);

}  // namespace amdahl::model
