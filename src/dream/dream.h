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

// The family that dreams. What it refers to must outlive the call.
struct Ground {
  const model::Spec& spec;
  const model::Change& baseline;
  const model::Profile& profile;
  std::string_view hardware;
  hypothesize::Limits limits{};
};

// A promoted hypothesis of some family, which it still has.
struct Win {
  model::Hypothesis hypothesis;
  double gain = 0;  // Shrunk effect, ln.
  // What it was a win against: the hypothesis's class or, of a person's idea, that of the profile
  // its family had then.
  model::Bottleneck against = model::Bottleneck::kUnknown;
};

// A passage of a document that a search found. Its text is not trusted.
struct Passage {
  std::string document;  // Path.
  int line = 1;          // Of the document, where the text starts.
  std::string heading;   // That it stands under; empty if none.
  std::string text;
};

// What was found and not taken, and why: "loader_workers=4", "notes.md:7", "the spec has no …".
struct LeftOut {
  std::string what;
  std::string origin;
  std::string because;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Dreamt {
  std::vector<model::Hypothesis> ideas;  // Best first, no key twice.
  std::vector<LeftOut> left_out;         // The same thing for the same reason once.
};

// Wins of other families whose bottleneck class costs this one too, moved over: knobs by their
// names, accelerators by their ratio, env and wrappers as they are. A win that this spec cannot
// take whole (a patch, a flag that is no knob, a knob it lacks, a value it is past already) or
// that could save too little here is left out. `specs` holds the families of the wins by name.
Dreamt from_wins(std::span<const Win> wins, const std::map<std::string, model::Spec>& specs,
                 const Ground& ground);

// What the passages recommend that can be done here:
// - variables that only tune (OMP_NUM_THREADS=1; never one that loads code or writes files),
// - knobs of the spec set to a value ("num_workers=4", "4 loader workers", "--bs 64"),
// - playbook entries whose title they hold, or whose knob they name and turn the same way ("more
//   loader workers"), also where the entry's conditions do not hold.
// Where a text only mentions a knob, or by an everyday word ("4 workers"), it must speak of what
// the knob works on. The change must work on a cause of this profile: one that such settings are
// known to work on, or one that the passage speaks of itself. What a sentence advises against is
// left out. The origin is "DOCUMENT:LINE", the mechanism quotes the sentence.
Dreamt from_passages(std::span<const Passage> passages,
                     std::span<const hypothesize::Entry> playbook, const Ground& ground);

// What to look for in documents. Each is a phrase of lower-case letters, digits and blanks, which
// a text holds if it holds words that begin so.
struct Query {
  std::vector<std::string> names;  // Settings and titles: a passage without any says nothing to do.
  std::vector<std::string> words;  // Of what is slow: the more, the better it fits.
};
// No words if the profile names no cause of 5 % or more.
Query query_for(const model::Profile& profile, const model::Spec& spec,
                std::span<const hypothesize::Entry> playbook);

}  // namespace amdahl::dream
