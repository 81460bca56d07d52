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
  std::string knob;                      // By the playbook's name.
  std::optional<std::string> value;      // A number, "on", "off" or a number format; nothing else.
  Direction way = Direction::kUnstated;  // Without a value; of the knob itself, not of its words.
  std::size_t first = 0;                 // Its first word in the sentence.
  bool everyday = false;                 // By a word that other things are called by too.
};

// Every knob that the sentence names by one of its usual names or, if the spec has it, by the
// flag, variable or key of the job itself. A name of one everyday word ("workers", "threads")
// counts only with a value or a way beside it.
std::vector<KnobMention> knobs_in(const Sentence& sentence, const model::Spec& spec);

// The knob of the spec that does what the variable does, or nullptr.
const model::Knob* knob_for(const std::string& variable, const model::Spec& spec);

// Whether the knob is turned on or off.
bool is_switch(std::string_view knob);

// Whether a recommended number means "at least": a job with more already has it.
bool grows(std::string_view knob);

// The usual names of all knobs and those that the job gives its own, folded: for a search.
std::vector<std::string> names_of_knobs(const model::Spec& spec);

}  // namespace amdahl::dream
