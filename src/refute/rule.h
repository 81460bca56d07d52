// rule.h: how a check turns its statistic into a vote, and the rule that many checks share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compare/explain.h"
#include "model/hypothesis.h"

namespace amdahl::refute {

struct Ruling {
  model::Vote vote = model::Vote::kAbstain;
  bool decisive = false;

  friend bool operator==(const Ruling&, const Ruling&) = default;
};

inline constexpr Ruling kAbstains{};
inline constexpr Ruling kAgrees{model::Vote::kAgree, false};
inline constexpr Ruling kDoubts{model::Vote::kRefute, false};
inline constexpr Ruling kVetoes{model::Vote::kRefute, true};

// 0: agrees, 1: abstains, 2: refutes softly, 3: refutes decisively.
int severity(const Ruling& ruling);

// The refutation that a p-value supports: decisive at 0.01, soft at 0.10, else none.
Ruling by_p(double p);

// Whether a saving of `theta` survives an adjustment. `x` are the adjusted log-ratios. Agrees if at
// least half of theta is left; refutes if it is significantly less than half.
Ruling three_rule(std::span<const double> x, double theta, std::size_t at_least = 5);

// In words: "saves 9.5 % over 8 pairs; at least half of 10 % is required (less: p = 0.93)".
std::string explain_three(std::span<const double> x, double theta, std::string_view of_what,
                          std::size_t at_least = 5);

model::Finding finding(const Ruling& ruling, std::string because);

// "1 pair", "2 pairs".
std::string count(std::size_t n, std::string_view what);
// "9 pairs counted; at least 10 are needed".
std::string too_few(std::size_t n, std::string_view what, std::size_t at_least);
using compare::show_e;
using compare::show_p;
using compare::show_saving;
// A log effect as a verb: "saves 9.5 %", "costs 10.5 % more".
std::string show_effect(double effect);

}  // namespace amdahl::refute
