// classes.h: classes of bottlenecks: what each costs a job, and how texts speak of it.
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

// The beginnings of words and phrases that tell the class, folded; none for kUnknown.
std::vector<std::string> words_of(model::Bottleneck bottleneck);

// The classes that a text speaks of. `text` is folded.
std::vector<model::Bottleneck> classes_named(std::string_view text);

// Of these classes the one that costs the job most; nothing if none costs anything.
struct ClassShare {
  model::Bottleneck bottleneck = model::Bottleneck::kUnknown;
  double share = 0;
};
std::optional<ClassShare> costliest(const model::Profile& profile,
                                    const std::vector<model::Bottleneck>& classes);

// The largest prior × predicted gain first, and of each key only that one.
std::vector<model::Hypothesis> best_of_each(std::vector<model::Hypothesis> hypotheses);

}  // namespace amdahl::dream
