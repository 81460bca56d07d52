// propose.h: turns causes and the playbook into ranked hypotheses.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hypothesize/playbook.h"
#include "model/hypothesis.h"
#include "model/profile.h"
#include "model/spec.h"

namespace amdahl::hypothesize {

struct Limits {
  double min_gain = 0.01;  // Smaller predicted gains are not worth a test.
  std::size_t at_most = 50;
  // Needs (see needs_of()) that are not available: a missing preloaded library has no effect and
  // wastes a whole experiment.
  std::set<std::string> absent{};
};

struct Skipped {
  std::string title;
  std::string because;  // "condition input_wait_share > 0.05 does not hold (0.01)".
};

struct Proposals {
  std::vector<model::Hypothesis> ranked;  // Largest prior × predicted gain first.
  std::vector<Skipped> skipped;
};

// Every program and library that some entry needs, sorted: for the caller to look for.
std::vector<std::string> needs_of(std::span<const Entry> playbook);

// What an entry can gain for this job.
struct Gain {
  double predicted = 0;  // Share of the cost; at most the ceiling.
  double ceiling = 0;    // Share of the cost that the change can affect, at most 0.99; larger than
                         // measured if other processes had used the CPUs.
};

// `change` is the entry's, resolved. Giving accelerators back gains their share of the cost.
Gain gain_of(const Entry& entry, const model::Profile& profile, const model::Spec& spec,
             const model::Change& baseline, const model::Change& change);

// Each has its change, key, id and a gain capped by the ceiling of what it affects. The same
// change from two entries appears once, under the higher-ranked one. Conditions on knobs and
// accelerators are evaluated on `baseline`, not on the profiled values.
Proposals propose(const model::Spec& spec, const model::Change& baseline,
                  const model::Profile& profile, std::span<const Entry> playbook,
                  std::string_view hardware, const Limits& limits = {});

// The id of a hypothesis with that key.
std::string id_of(std::string_view key);

// A hypothesis from a change alone (from a person or a dream), which will run as written.
// kBadInput if it changes nothing, the spec cannot take it, or it contains a secret.
Result<model::Hypothesis> from_change(const model::Spec& spec, const model::Change& baseline,
                                      const model::Change& change, model::Origin origin,
                                      std::string_view hardware);

}  // namespace amdahl::hypothesize
