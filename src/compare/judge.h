// judge.h: the answer pair by pair; folding one in and answering takes about a microsecond.
#pragma once

#include <vector>

#include "compare/compare.h"
#include "model/hypothesis.h"
#include "stats/eprocess.h"

namespace amdahl::compare {

// What the pairs so far say, at any peek. The same pairs give the same bits in any order and in any
// split, so workers may fold what they have and merge. Keeps the log-ratios: 8 bytes a pair.
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
  // That it costs no more than delta; 0 unless the design is two-sided.
  double log_e_not_worse() const { return not_worse_.log_e(); }
  double effect() const;  // Hodges-Lehmann, worked out at each call; 0 before the first pair.

  // How many further pairs a verdict will probably take; 0 when there is one or the cap is used up.
  int pairs_still_needed() const;

  // All but what takes long: no bounds (they are infinite), nothing shrunk, no sentence.
  model::Comparison peek() const;
  // The whole; about a millisecond at 40 pairs.
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
