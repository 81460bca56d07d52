// priors.h: success rates of kinds of changes per bottleneck class, learnt from verdicts.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "model/hypothesis.h"

namespace amdahl::hypothesize {

// "env", "args", "config", "accelerators", "wrap", "inject", "patch"; "mixed" for several.
std::string_view kind_of(const model::Change& change);

// A Beta distribution per class × kind. An entry's own prior counts as kPriorTrials trials, a
// verdict as one; older verdicts count less, those on other hardware half.
class Priors {
 public:
  static constexpr double kPriorTrials = 6;
  static constexpr double kHalfLifeDays = 180;
  static constexpr double kOtherHardware = 0.5;

  // `now` and `hardware` are those of the question.
  Priors(Nanos now, std::string hardware) : now_{now}, hardware_{std::move(hardware)} {}

  // A hypothesis in its final state ("promoted", "no effect", ...); unfinished tests are ignored.
  void learn(const model::Hypothesis& hypothesis, std::string_view state, Nanos since);

  // Its own prior, updated by similar hypotheses; unchanged if there were none.
  double chance_of(const model::Hypothesis& hypothesis) const;

  struct Cell {
    double tried = 0;  // Weighted.
    double won = 0;
  };
  const std::map<std::pair<model::Bottleneck, std::string>, Cell>& cells() const { return cells_; }

 private:
  Nanos now_;
  std::string hardware_;
  std::map<std::pair<model::Bottleneck, std::string>, Cell> cells_;
};

// What a verdict teaches, in a sentence with its numbers, and what to look at next.
struct Lesson {
  std::string text;
  std::vector<std::string> next;
};
Lesson lesson_of(const model::Hypothesis& hypothesis, const model::Verdict& verdict);

}  // namespace amdahl::hypothesize
