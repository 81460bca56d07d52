// dream.h: wins elsewhere and outside text into fresh hypotheses for a family.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hypothesize/playbook.h"
#include "hypothesize/propose.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "model/spec.h"

namespace amdahl::dream {

// A promoted hypothesis of some family.
struct Win {
  model::Hypothesis hypothesis;
  double gain = 0;  // Shrunk effect, ln.
};

// A passage of a document that a search found. Its text is not trusted.
struct Passage {
  std::string document;  // Path.
  std::string text;
};

// Wins of other families whose bottleneck class costs this one too, moved over: knobs by their
// names, accelerators by their ratio, env and wrappers as they are. A win that this spec cannot
// take whole (a patch, a flag that is no knob, a knob it lacks, a value it is past already) is
// left out. `specs` holds the families of the wins by name; best first, no key twice.
std::vector<model::Hypothesis> from_wins(std::span<const Win> wins,
                                         const std::map<std::string, model::Spec>& specs,
                                         const model::Spec& spec, const model::Change& baseline,
                                         const model::Profile& profile, std::string_view hardware);

// Concrete settings that a passage names: NAME=value of variables that only tune (OMP_*, MKL_*,
// NCCL_*, MALLOC_*, …; never one that loads code or writes files) and playbook entries whose
// title or knobs it mentions, also where their conditions do not hold. What could gain nothing
// on this profile is left out; best first, no key twice.
std::vector<model::Hypothesis> from_passages(std::span<const Passage> passages,
                                             std::span<const hypothesize::Entry> playbook,
                                             const model::Spec& spec, const model::Change& baseline,
                                             const model::Profile& profile,
                                             std::string_view hardware,
                                             const hypothesize::Limits& limits = {});

// What to look for in documents, given what is slow: words for a full-text search, the most
// telling first, letters and digits only.
std::string query_for(const model::Profile& profile);

}  // namespace amdahl::dream
