#include "sim/sequence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "compare/compare.h"
#include "compare/judge.h"
#include "stats/tests.h"

namespace amdahl::sim {
namespace {

using model::Answer;

constexpr double kDelta = 0.02;

class Walker {
 public:
  explicit Walker(double sigma) : judge_{{.sigma = sigma, .delta = kDelta, .cap = kSequenceCap}} {}

  void fold(double d) {
    judge_.fold(d);
    path_.highest = std::max(path_.highest, judge_.log_e_win());
    if (path_.answer != Answer::kCannotTell || judge_.pairs() > kSequenceCap) return;
    const Answer answer = judge_.answer();
    // Worse is an answer of the loop that other methods are not asked for.
    const bool futile = judge_.log_e_futile() >= std::log(1 / compare::Design{}.beta);
    if (answer == Answer::kWorse && !futile) return;
    path_.answer = answer;
    path_.pairs = judge_.pairs();
  }
  const Path& path() const { return path_; }

 private:
  compare::Judge judge_;
  Path path_;
};

double normal_tail(double z) { return 0.5 * std::erfc(z / std::numbers::sqrt2); }

// The z whose tail is p, by bisection: this is a simulation's loop over five looks.
double z_of(double p) {
  double low = -10;
  double high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_tail(middle) > p ? low : high) = middle;
  }
  return low;
}

}  // namespace

Sequence::Sequence(const Scenario& scenario, double pair_noise, std::uint64_t seed)
    : noise_{scenario.noise(pair_noise)}, stream_{seed, 0}, slots_{noise_, stream_} {}

double Sequence::next(double effect) {
  const double first = slots_.next(stream_);
  const double second = slots_.next(stream_) + noise_.second;
  return effect + (stream_.chance(0.5) ? first - second : second - first);
}

double Sequence::sigma(int same_pairs) {
  std::vector<double> same;
  for (int i = 0; i < same_pairs; ++i) same.push_back(next(0));
  return compare::sigma_from_same(same);
}

Path walk(Sequence& sequence, double effect, double sigma, int longest) {
  Walker walker(sigma);
  for (int i = 0; i < longest; ++i) walker.fold(sequence.next(effect));
  return walker.path();
}

Path walk(const std::vector<double>& d, double sigma) {
  Walker walker(sigma);
  for (const double value : d) walker.fold(value);
  return walker.path();
}

Path walk_in_groups(const std::vector<double>& d) {
  constexpr int kLooks = 5;
  constexpr double kConstant = 1.751;  // Jennison and Turnbull, table 2.3, for five looks.
  constexpr double kHopeless = 0.10;
  Path path;
  for (int look = 1; look <= kLooks; ++look) {
    path.pairs = look * kSequenceCap / kLooks;
    const std::span<const double> seen(d.data(), static_cast<std::size_t>(path.pairs));
    const double z = z_of(stats::p_mean_above(seen, 0));
    const double done = static_cast<double>(look) / kLooks;
    if (z >= kConstant / std::sqrt(done)) {
      path.answer = Answer::kBetter;
      return path;
    }
    if (look == kLooks) return path;
    // The chance to end above the last boundary if the trend so far goes on.
    const double sum = z * std::sqrt(done);
    const double short_of = kConstant - sum - sum / done * (1 - done);
    if (normal_tail(short_of / std::sqrt(1 - done)) < kHopeless) {
      path.answer = Answer::kSame;
      return path;
    }
  }
  return path;
}

std::vector<bool> t_tests(const std::vector<double>& d, double level) {
  std::vector<bool> significant(d.size() + 1, false);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    sum += d[i];
    squares += d[i] * d[i];
    if (i < 1) continue;
    const auto n = static_cast<double>(i + 1);
    const double variance = (squares - sum * sum / n) / (n - 1);
    const double t = sum / n / std::sqrt(std::max(variance, 1e-300) / n);
    significant[i + 1] = stats::student_t_tail(t, n - 1) <= level;
  }
  return significant;
}

}  // namespace amdahl::sim
