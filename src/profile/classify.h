// classify.h: what a supervised run showed into causes, evidence and the class of the bottleneck.
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

// What one collector saw, in the common words of docs/format/evidence.md.
struct Facts {
  std::map<std::string, double> evidence;
  std::vector<model::Span> phases;  // Spans it can add to the timeline, such as "import".
  std::vector<LineCost> lines;      // Dearest first.
  std::vector<std::string> missing;
  // What it concludes by itself: name, class, share and because. It counts where neither the job's
  // phases nor the hook know of that class.
  std::vector<model::Cause> causes;
  std::int64_t process = 0;  // That it looked into; 0 if it looked at all.
  std::int64_t thread = 0;   // Of it, that runs the steps; 0: not known.
};

// The JSON that the PyTorch hook leaves (docs/format/hook.md).
Result<Facts> read_hook(std::string_view json);

// The /proc, cgroup and utilisation figures of the receipt itself.
Facts facts_of(const model::Receipt& receipt);

// All together. The hook may be absent (not a Python job, or it saw nothing): then `missing` says
// so. Knobs of the spec appear in the evidence as "knob.NAME", as the run's baseline set them.
// What the receipt shows need not be in `collected`; it does no harm there. A spec of 0
// accelerators asked for none: that it got more than it uses is no fault of it.
model::Profile classify(const model::Spec& spec, const model::Receipt& receipt,
                        const std::vector<Facts>& collected, const model::Change& baseline = {});

// Whether it was ended from outside, which says nothing of what it did until then.
bool was_cut_short(const model::Receipt& receipt);

// The class and the rule that chose it, from the causes, largest first, and the evidence.
// `left_alone`: of the accelerators, by a job that asked for none.
void conclude(model::Profile& profile, double left_alone = 0);

}  // namespace amdahl::profile
