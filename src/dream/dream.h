// dream.h: new hypotheses for a family from wins of other families and from documents.
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

// The family that the ideas are for. The referenced objects must outlive the call.
struct Target {
  const model::Spec& spec;
  const model::Change& baseline;
  const model::Profile& profile;
  std::string_view hardware;
  hypothesize::Limits limits{};
};

// A promoted hypothesis that is still in its family's stack.
struct Win {
  model::Hypothesis hypothesis;
  double gain = 0;  // Shrunk effect, ln.
  // The bottleneck that it fixed: the hypothesis's class, or for a person's idea the class of the
  // family's profile at that time.
  model::Bottleneck against = model::Bottleneck::kUnknown;
};

// A passage of a document that a search found. Its text is not trusted.
struct Passage {
  std::string document;  // Path.
  int line = 1;          // Of the document, where the text starts.
  std::string heading;   // The heading above it; empty if none.
  std::string text;
};

// A rejected idea and why: "loader_workers=4", "notes.md:7", "the spec has no …".
struct RejectedIdea {
  std::string what;
  std::string origin;
  std::string because;

  friend bool operator==(const RejectedIdea&, const RejectedIdea&) = default;
};

struct Dreams {
  std::vector<model::Hypothesis> ideas;  // Best first, unique keys.
  std::vector<RejectedIdea> left_out;    // Deduplicated.
};

// Transfers wins of other families with the same bottleneck: knobs by name, accelerators by ratio,
// env and wrappers unchanged. A win is rejected if this spec cannot take all of it (a patch, a flag
// that is not a knob, a missing knob, a value already exceeded) or if it would save too little
// here. `specs` holds the specs of the wins' families by name.
Dreams from_wins(std::span<const Win> wins, const std::map<std::string, model::Spec>& specs,
                 const Target& target);

// Ideas from passages that apply to this family:
// - variables that only tune (OMP_NUM_THREADS=1; never one that loads code or writes files),
// - knobs of the spec set to a value ("num_workers=4", "4 loader workers", "--bs 64"),
// - playbook entries whose title they contain, or whose knob they name and turn in the same
// direction ("more loader workers"), even if the entry's conditions do not hold.
// If a text only mentions a knob, or uses an everyday word ("4 workers"), it must also name the
// bottleneck that the knob addresses. The change must address a cause of this profile: one that
// such settings are known to address, or one that the passage names. Settings that a sentence
// advises against are rejected. The origin is "DOCUMENT:LINE"; the mechanism quotes the sentence.
Dreams from_passages(std::span<const Passage> passages,
                     std::span<const hypothesize::Entry> playbook, const Target& target);

// An experiment of this family and its result.
struct Tried {
  model::Hypothesis hypothesis;
  std::string state;  // "promoted", "harmful", "parked", "inconclusive"; others are ignored.
  double effect = 0;  // ln, as measured.
};

// Neighbours of values that won, opposites of values that harmed, and pairs of changes that seemed
// to help but could not be shown alone.
Dreams from_tried(std::span<const Tried> tried, const Target& target);

// Search terms for documents: folded phrases that match at the beginnings of words.
struct Query {
  std::vector<std::string> names;  // Settings and titles: a passage without one proposes nothing.
  std::vector<std::string> words;  // What is slow: the more, the better the match.
};
// Without words if the profile has no cause of at least 5 %.
Query query_for(const model::Profile& profile, const model::Spec& spec,
                std::span<const hypothesize::Entry> playbook);

}  // namespace amdahl::dream
