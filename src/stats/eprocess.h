// eprocess.h: an e-process that bets on the order coin: evidence that stays valid under peeking.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace amdahl::stats {

inline constexpr int kCells = 4;

// One betting strategy: expects effects near `centre` with Student-t(6) noise of this scale.
struct Cell {
  double centre = 0;
  double scale = 0;
};

// The four strategies for pairs with noise `sigma`; each starts with a quarter of the wealth.
std::array<Cell, kCells> cells(double sigma);

// The share of its wealth that the cell bets on x > 0. Odd in x, within ±0.97, and near 0 for |x|
// far beyond the centre, so that one outlier hardly changes the wealth.
double bet(double x, const Cell& cell);

// The side of the margin that the evidence supports.
enum class Side : std::int8_t { kAbove = 1, kBelow = -1 };

// The hypothesis under test; fixed before the first pair.
struct Wager {
  double sigma = 0.05;
  double margin = 0;
  Side side = Side::kAbove;

  friend bool operator==(const Wager&, const Wager&) = default;
};

// Evidence against "the effect is not on this side of the margin". By Ville's inequality, if that
// is true, E ever reaches 1/a with probability at most a, however often one looks.
// Logarithms are in fixed point: the same pairs give the same bits in any order and any split, so
// partial results can be merged. Holds up to 100,000 pairs.
class EProcess {
 public:
  explicit EProcess(const Wager& wager);

  void fold(double d);                // `d` must be finite.
  void merge(const EProcess& other);  // Same wager, disjoint pairs.
  double log_e() const;               // 0 before the first pair.
  std::array<double, kCells> log_wealths() const;

 private:
  Wager wager_;
  std::array<Cell, kCells> cells_;
  std::array<std::int64_t, kCells> wealth_{};  // Natural logarithms in units of 2^-44.
};

// ln E of all of `d` at once, without a logarithm per pair: for the search of bounds. Agrees with
// EProcess to about 1e-12.
double log_e(std::span<const double> d, const Wager& wager);

}  // namespace amdahl::stats
