// leads.h: optimisations mentioned in a passage or a commit, applicable by a machine or not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dream/dream.h"
#include "model/profile.h"

namespace amdahl::dream {

// One commit of a repository. Its text is not trusted.
struct Commit {
  std::string repository;  // Path.
  std::string id;          // Its hash.
  std::string message;
  std::string diff;
};

struct Lead {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;  // What it addresses.
  std::string technique;  // The phrase that matched: "pin memory".
  std::string quote;      // One line of the text, without secrets.
  double score = 0;       // Weight of the matches; at least 2.
};

// By the field's vocabulary: what is done (or what costs), and that it helped, was advised or was
// changed. Nothing if the text advises against it, says that it failed, or reverts it.
std::optional<Lead> lead_in(const Passage& passage);
std::optional<Lead> lead_in(const Commit& commit);

// Share of common three-word sequences: 1 for the same words.
double likeness(std::string_view a, std::string_view b);
inline constexpr double kNearDuplicate = 0.7;

// The text of an HTML page: without tags, scripts and styles; blocks and line breaks are kept.
std::string text_of_html(std::string_view page);

}  // namespace amdahl::dream
