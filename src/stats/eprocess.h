// eprocess.h: wealth from betting on the order coin: evidence that is valid at every peek.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace amdahl::stats {

inline constexpr int kCells = 4;

// One bettor: expects effects near `centre`, with Student-t(6) noise of this scale around it.
struct Cell {
  double centre = 0;
  double scale = 0;
};

// The four bettors for pairs whose noise is `sigma`; each starts with a quarter of the wealth.
std::array<Cell, kCells> cells(double sigma);

// The share of its wealth that the cell stakes on x > 0: odd in x, within ±0.97, and near 0 for
// |x| far beyond the centre, so that one wild pair moves the wealth hardly at all.
double bet(double x, const Cell& cell);

// Which side of the margin the evidence is for.
enum class Side : std::int8_t { kAbove = 1, kBelow = -1 };

// What is being tested; fixed before the first pair.
struct Wager {
  double sigma = 0.05;
  double margin = 0;
  Side side = Side::kAbove;

  friend bool operator==(const Wager&, const Wager&) = default;
};

// Evidence against "the effect is not on this side of the margin". By Ville's inequality, the
// chance that E ever reaches 1/a when that holds is at most a, however often one looks.
// The logarithms are kept in fixed point: the same pairs give the same bits in any order and
// in any split, so workers may fold what they have and merge. Room for 100,000 pairs.
class EProcess {
 public:
  explicit EProcess(const Wager& wager);

  void fold(double d);                // Finite.
  void merge(const EProcess& other);  // Of the same wager, over other pairs.
  double log_e() const;               // 0 before the first pair.
  std::array<double, kCells> log_wealths() const;

 private:
  Wager wager_;
  std::array<Cell, kCells> cells_;
  std::array<std::int64_t, kCells> wealth_{};  // Natural logarithms in units of 2^-44.
};

// log E of all of `d` at once, as a search for bounds needs it: no logarithm per pair. Agrees with
// EProcess to about 1e-12.
double log_e(std::span<const double> d, const Wager& wager);

}  // namespace amdahl::stats
