#include "compare/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "compare/explain.h"
#include "stats/campaign.h"
#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

using model::Answer;
using stats::Side;
using stats::Wager;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Judge::Judge(const Design& design)
    : design_{design},
      win_{Wager{.sigma = design.sigma}},
      worse_{Wager{.sigma = design.sigma, .side = Side::kBelow}},
      futile_{Wager{.sigma = design.sigma, .margin = design.delta, .side = Side::kBelow}},
      not_worse_{Wager{.sigma = design.sigma, .margin = -design.delta}} {}

void Judge::fold(double d) {
  win_.fold(d);
  worse_.fold(d);
  futile_.fold(d);
  if (design_.two_sided) not_worse_.fold(d);
  d_.push_back(d);
}

void Judge::merge(const Judge& other) {
  CHECK(design_ == other.design_);
  win_.merge(other.win_);
  worse_.merge(other.worse_);
  futile_.merge(other.futile_);
  not_worse_.merge(other.not_worse_);
  d_.insert(d_.end(), other.d_.begin(), other.d_.end());
}

Answer Judge::answer() const {
  const double level = std::log(design_.win_threshold);
  if (log_e_win() >= level) return Answer::kBetter;
  if (log_e_worse() >= level) return Answer::kWorse;
  const double none = std::log(1 / design_.beta);
  if (log_e_futile() < none) return Answer::kCannotTell;
  return !design_.two_sided || log_e_not_worse() >= none ? Answer::kSame : Answer::kCannotTell;
}

double Judge::effect() const { return d_.empty() ? 0 : stats::hodges_lehmann(d_); }

int Judge::pairs_still_needed() const {
  if (answer() != Answer::kCannotTell || pairs() >= design_.cap) return 0;
  const auto left = [&](double log_e, double level) {
    return stats::pairs_to_win(log_e, pairs(), std::log(level));
  };
  double same = left(log_e_futile(), 1 / design_.beta);
  double least = left(log_e_win(), design_.win_threshold);
  if (design_.two_sided) {
    same = std::max(same, left(log_e_not_worse(), 1 / design_.beta));
    least = std::min(least, left(log_e_worse(), design_.win_threshold));
  }
  const int needed = static_cast<int>(std::ceil(std::min(least, same)));
  return std::clamp(needed, 1, design_.cap - pairs());
}

model::Comparison Judge::peek() const {
  model::Comparison c;
  c.answer = answer();
  c.pairs = pairs();
  c.sigma = design_.sigma;
  c.delta = design_.delta;
  c.log_e_win = log_e_win();
  c.log_e_worse = log_e_worse();
  c.log_e_futile = log_e_futile();
  c.lower = -kInfinity;
  c.upper = kInfinity;
  c.smallest_visible = kInfinity;
  c.effect = effect();
  return c;
}

model::Comparison Judge::comparison() const {
  model::Comparison c = peek();
  if (!d_.empty()) {
    // In order of size: the search multiplies as it goes, and products round by their order.
    std::vector<double> sorted = d_;
    std::ranges::sort(sorted);
    const stats::Bounds bounds = stats::anytime_bounds(sorted, design_.sigma, design_.bound_level);
    c.lower = bounds.lower;
    c.upper = bounds.upper;
    c.shrunk = stats::shrink(sorted);
  }
  c.smallest_visible = 0.5 * (c.upper - c.lower);
  c.because = explain(c, design_);
  return c;
}

}  // namespace amdahl::compare
