// propose.h: causes and playbook into ranked hypotheses.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hypothesize/playbook.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "model/spec.h"

namespace amdahl::hypothesize {

struct Limits {
  double min_gain = 0.01;      // Below this predicted gain it is not worth a test.
  std::size_t at_most = 50;
};

struct Skipped {
  std::string title;
  std::string because;         // "condition input_wait_share > 0.05 does not hold (0.01)".
};

struct Proposals {
  std::vector<model::Hypothesis> ranked;  // Largest prior × predicted gain first.
  std::vector<Skipped> skipped;
};

// Each has its canonical change, key, id and a gain capped by the ceiling of what it touches.
// The same change from two entries appears once, under the one that ranks higher.
Proposals propose(const model::Spec& spec, const model::Change& baseline,
                  const model::Profile& profile, std::span<const Entry> playbook,
                  std::string_view hardware, const Limits& limits = {});

// A hypothesis from a change alone (a person's, a dream's), made canonical; kBadInput if it
// changes nothing or the spec cannot take it.
Result<model::Hypothesis> from_change(const model::Spec& spec, const model::Change& baseline,
                                      const model::Change& change, model::Origin origin,
                                      std::string_view hardware);

}  // namespace amdahl::hypothesize
