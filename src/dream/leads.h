// leads.h: optimisations that a passage or a commit speaks of, whether or not a machine can apply
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dream/dream.h"
#include "model/profile.h"

namespace amdahl::dream {

// One commit of somebody's repository. None of its text is trusted.
struct Commit {
  std::string repository;  // Path.
  std::string id;          // Its hash.
  std::string message;
  std::string diff;
};

struct Lead {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;  // What it is against.
  std::string technique;  // The phrase that told: "pin memory".
  std::string quote;      // Of the text, on one line, without secrets.
  double score = 0;       // How much in the text speaks for it; 2 at least.
};

// By the field's vocabulary: what is done (or what costs), and that it helped, was advised or was
// changed. Nothing for a text that advises against it, tells that it failed, or takes it back.
std::optional<Lead> lead_in(const Passage& passage);
std::optional<Lead> lead_in(const Commit& commit);

// Share of three-word sequences that two texts have in common: 1 for the same words.
double likeness(std::string_view a, std::string_view b);
inline constexpr double kNearDuplicate = 0.7;

// The text of an HTML page: tags, scripts and styles gone, blocks apart, line breaks kept.
std::string text_of_html(std::string_view page);

}  // namespace amdahl::dream
