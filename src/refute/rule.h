// rule.h: what a check's statistic comes to, and the rule that many checks share.
#pragma once

#include <span>
#include <string>
#include <string_view>

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

// 0 for agreement, 1 for an abstention, 2 for a soft and 3 for a decisive refutation.
int severity(const Ruling& ruling);

// How strong a refutation a p-value is: decisive at 0.01, soft at 0.10, else none.
Ruling by_p(double p);

// Whether a win of `theta` survives an adjustment that leaves the log-ratios `x`: agrees if half
// of it is left, refutes if less than half is significantly so.
Ruling three_rule(std::span<const double> x, double theta, std::size_t at_least = 5);

// The same in words: "9.5 % on 8 clean pairs, where half of 10 % is asked (p 0.93 for less)".
std::string explain_three(std::span<const double> x, double theta, std::string_view of_what,
                          std::size_t at_least = 5);

model::Finding finding(const Ruling& ruling, std::string because);

// "1 pair", "2 pairs".
std::string count(std::size_t n, std::string_view what);
// An effect in ln as the share of the cost that it saves: "9.5 %".
std::string show_saving(double effect);
// The same as a verb: "saves 9.5 %", "costs 10.5 % more".
std::string show_effect(double effect);

}  // namespace amdahl::refute
