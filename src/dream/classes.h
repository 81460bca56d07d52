// classes.h: bottleneck classes: their cost in a job, and the words that texts use for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/hypothesis.h"
#include "model/profile.h"

namespace amdahl::dream {

// Share of the cost that causes of this class explain, at most 0.99; 0 if the profile has none.
double share_of_class(const model::Profile& profile, model::Bottleneck bottleneck);

// Folded prefixes of words and phrases that indicate the class; empty for kUnknown.
std::vector<std::string> words_of(model::Bottleneck bottleneck);

// The classes that a text mentions. `text` is folded.
std::vector<model::Bottleneck> classes_named(std::string_view text);

// The class among these that costs the job most; nothing if none costs anything.
struct ClassShare {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  double share = 0;
};
std::optional<ClassShare> costliest(const model::Profile& profile,
                                    const std::vector<model::Bottleneck>& classes);

// Sorted by prior × predicted gain, one per key.
std::vector<model::Hypothesis> best_of_each(std::vector<model::Hypothesis> hypotheses);

}  // namespace amdahl::dream
