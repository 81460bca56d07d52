// dream.h: wins elsewhere and outside text into fresh hypotheses for a family.
#pragma once

#include <span>
#include <string>
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
  double gain = 0;               // Shrunk effect, ln.
};

// A passage of a document that a search found.
struct Passage {
  std::string document;          // Path.
  std::string text;
};

// Wins of other families of the same bottleneck class, moved over: knobs by their names, env as
// it is. Those that the spec cannot take are left out.
std::vector<model::Hypothesis> from_wins(std::span<const Win> wins, const model::Spec& spec,
                                         const model::Spec* (*spec_of)(const std::string& family),
                                         const model::Change& baseline,
                                         const model::Profile& profile, std::string_view hardware);

// Concrete settings that a passage names: NAME=value of variables that look like tuning
// (OMP_*, MKL_*, NCCL_*, MALLOC_*, …) and playbook entries whose title or knobs it mentions.
std::vector<model::Hypothesis> from_passages(std::span<const Passage> passages,
                                             std::span<const hypothesize::Entry> playbook,
                                             const model::Spec& spec,
                                             const model::Change& baseline,
                                             const model::Profile& profile,
                                             std::string_view hardware);

// What to look for in documents, given what is slow: words for a full-text search.
std::string query_for(const model::Profile& profile);

}  // namespace amdahl::dream
