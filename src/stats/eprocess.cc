#include "stats/eprocess.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "stats/exact.h"

namespace amdahl::stats {
namespace {

constexpr double kStake = 0.97;  // The most that is ever bet.
constexpr double kUnit = 1.0 / static_cast<double>(std::int64_t{1} << 44);

// How far an observation is on the side of the bet.
double signed_distance(double d, const Wager& wager) {
  return wager.side == Side::kAbove ? d - wager.margin : wager.margin - d;
}

double log_mean(const std::array<double, kCells>& log_wealths) {
  const double most = *std::max_element(log_wealths.begin(), log_wealths.end());
  double sum = 0;
  for (const double log_wealth : log_wealths) sum += std::exp(log_wealth - most);
  return most + std::log(sum / kCells);
}

}  // namespace

std::array<Cell, kCells> cells(double sigma) {
  return {{{0.6 * sigma, 0.8 * sigma},
           {2.0 * sigma, 0.6 * sigma},
           {6.0 * sigma, 2.2 * sigma},
           {0.30, 0.09}}};
}

double bet(double x, const Cell& cell) {
  // The Kelly bet is tanh(LLR/2) with LLR = 3.5 ln(ratio), which is (q-1)/(q+1) for
  // q = ratio^3.5: a square root where the textbook form takes three transcendentals.
  // Taken at |x|, so that the bet is odd to the last bit and the game exactly fair.
  const double size = std::abs(x);
  const double base = 6 * cell.scale * cell.scale;
  const double near = size - cell.centre;
  const double far = size + cell.centre;
  const double ratio = (base + far * far) / (base + near * near);
  const double q = ratio * ratio * ratio * std::sqrt(ratio);
  return std::copysign(kStake * (q - 1) / (q + 1), x);
}

EProcess::EProcess(const Wager& wager) : wager_{wager}, cells_{cells(wager.sigma)} {}

void EProcess::fold(double d) {
  CHECK(std::isfinite(d));
  const double x = signed_distance(d, wager_);
  for (std::size_t k = 0; k < kCells; ++k) {
    wealth_[k] += std::llrint(std::log1p(bet(x, cells_[k])) / kUnit);
  }
}

void EProcess::merge(const EProcess& other) {
  CHECK(wager_ == other.wager_);
  for (std::size_t k = 0; k < kCells; ++k) wealth_[k] += other.wealth_[k];
}

std::array<double, kCells> EProcess::log_wealths() const {
  std::array<double, kCells> out{};
  for (std::size_t k = 0; k < kCells; ++k) out[k] = static_cast<double>(wealth_[k]) * kUnit;
  return out;
}

double EProcess::log_e() const { return log_mean(log_wealths()); }

double log_e(std::span<const double> d, const Wager& wager) {
  // A factor is within [0.03, 1.97], so 64 of them neither vanish nor overflow.
  constexpr std::size_t kBatch = 64;
  const std::array<Cell, kCells> all = cells(wager.sigma);
  std::array<double, kCells> log_wealths{};
  for (std::size_t k = 0; k < kCells; ++k) {
    for (std::size_t start = 0; start < d.size(); start += kBatch) {
      double product = 1;
      for (const double value : d.subspan(start, std::min(kBatch, d.size() - start))) {
        product *= 1 + bet(signed_distance(value, wager), all[k]);
      }
      log_wealths[k] += std::log(product);
    }
  }
  return log_mean(log_wealths);
}

}  // namespace amdahl::stats
