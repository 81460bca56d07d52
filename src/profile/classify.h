// classify.h: turns the observations of a supervised run into causes, evidence and a class.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/change.h"
#include "model/profile.h"
#include "model/receipt.h"
#include "model/spec.h"
#include "profile/lines.h"

namespace amdahl::profile {

// What one collector saw, with the names of docs/format/evidence.md.
struct Facts {
  std::map<std::string, double> evidence;
  std::vector<model::Span> phases;  // Spans for the timeline, such as "import".
  std::vector<LineCost> lines;      // Most expensive first.
  std::vector<std::string> missing;
  // Its own conclusions: name, class, share and because. Used only if neither the job's phases nor
  // the hook know of that class.
  std::vector<model::Cause> causes;
  std::int64_t process = 0;  // Process that it observed; 0: all.
  std::int64_t thread = 0;   // Thread that runs the steps; 0: unknown.
};

// Parses the PyTorch hook's JSON (docs/format/hook.md).
Result<Facts> read_hook(std::string_view json);

// The /proc, cgroup and utilisation figures of the receipt itself.
Facts facts_of(const model::Receipt& receipt);

// Combines everything. Without hook data (not a Python job, or nothing seen) `missing` says so.
// Knobs of the spec appear in the evidence as "knob.NAME", with the baseline's values. The
// receipt's own facts may be in `collected` but need not be. A spec with 0 accelerators asked for
// none, so unused ones are not its fault.
model::Profile classify(const model::Spec& spec, const model::Receipt& receipt,
                        const std::vector<Facts>& collected, const model::Change& baseline = {});

// Whether it was ended from outside, which says nothing about what it did before.
bool was_cut_short(const model::Receipt& receipt);

// Sets the class and the rule that chose it, from the causes (largest first) and the evidence.
// `left_alone`: see left_alone() in causes.h.
void conclude(model::Profile& profile, double left_alone = 0);

}  // namespace amdahl::profile
