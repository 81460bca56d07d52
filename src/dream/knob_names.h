// knob_names.h: finds mentions of knobs and their values in a sentence.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dream/prose.h"
#include "model/spec.h"

namespace amdahl::dream {

// "num_workers=4", "more loader workers", "fsync off", "4 loader workers", "fewer checkpoints".
struct KnobMention {
  std::string knob;                      // Playbook name.
  std::optional<std::string> value;      // A number, "on", "off" or a number format.
  Direction way = Direction::kUnstated;  // Without a value; direction of the knob itself.
  std::size_t first = 0;                 // Index of its first word in the sentence.
  bool everyday = false;                 // Matched by a word with other meanings too.
};

// Every knob that the sentence names by a common name or, if the spec has it, by the job's own
// flag, variable or key. A single everyday word ("workers", "threads") counts only with a value or
// a direction next to it.
std::vector<KnobMention> knobs_in(const Sentence& sentence, const model::Spec& spec);

// The knob of the spec with the same effect as the variable, or nullptr.
const model::Knob* knob_for(const std::string& variable, const model::Spec& spec);

// Whether the knob is a switch.
bool is_switch(std::string_view knob);

// Whether a recommended number means "at least": a job with more already has it.
bool grows(std::string_view knob);

// Common names of all knobs and the job's own names for them, folded: for a search.
std::vector<std::string> names_of_knobs(const model::Spec& spec);

}  // namespace amdahl::dream
