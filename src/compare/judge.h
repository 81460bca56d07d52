// judge.h: updates the answer with each pair, in about a microsecond.
#pragma once

#include <vector>

#include "compare/compare.h"
#include "model/hypothesis.h"
#include "stats/eprocess.h"

namespace amdahl::compare {

// The answer from the pairs so far; valid whenever it is read. The same pairs give the same bits in
// any order and any split, so workers may fold and merge. Keeps the log-ratios: 8 bytes a pair.
class Judge {
 public:
  explicit Judge(const Design& design);

  void fold(double d);             // A log-ratio as from log_ratios(); finite.
  void merge(const Judge& other);  // Of the same design, over other pairs.

  int pairs() const { return static_cast<int>(d_.size()); }
  model::Answer answer() const;
  double log_e_win() const { return win_.log_e(); }
  double log_e_worse() const { return worse_.log_e(); }
  double log_e_futile() const { return futile_.log_e(); }
  // For "it costs at most delta more"; 0 unless the design is two-sided.
  double log_e_not_worse() const { return not_worse_.log_e(); }
  double effect() const;  // Hodges-Lehmann, worked out at each call; 0 before the first pair.

  // Expected number of further pairs until a verdict; 0 if there is one or the cap is reached.
  int pairs_still_needed() const;

  // Without the slow parts: bounds are infinite, no shrunk effect, no sentence.
  model::Comparison peek() const;
  // Complete; about a millisecond at 40 pairs.
  model::Comparison comparison() const;

 private:
  Design design_;
  stats::EProcess win_;
  stats::EProcess worse_;
  stats::EProcess futile_;
  stats::EProcess not_worse_;
  std::vector<double> d_;
};

}  // namespace amdahl::compare
