#include "fleet/nvidia_smi/ticks.h"

#include <algorithm>
#include <vector>

namespace amdahl::fleet::nvidia_smi {
namespace {

constexpr int kMostGpus = 32;
constexpr int kClearly = 3;  // Waits are so many times longer than what lies between rows.

// How many rows each round but the last has, if they are cut where rows are farther apart than
// this; 0 if they differ, or are not two at least.
int rows_a_round(const std::vector<Nanos>& between, Nanos apart) {
  int rows = 0;
  int rounds = 0;
  int here = 1;
  for (const Nanos each : between) {
    if (each <= apart) {
      ++here;
      continue;
    }
    if (rows != 0 && here != rows) return 0;
    rows = here;
    here = 1;
    ++rounds;
  }
  return rounds >= 2 && here <= rows ? rows : 0;
}

}  // namespace

std::optional<Ticks> ticks_of(std::span<const Nanos> times) {
  std::vector<Nanos> between;
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i] < times[i - 1]) return std::nullopt;
    between.push_back(times[i] - times[i - 1]);
  }
  if (between.size() < 2) return std::nullopt;
  std::vector<Nanos> sorted = between;
  std::ranges::sort(sorted);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] <= kClearly * sorted[i - 1] || sorted[i] <= Nanos{0}) continue;
    const int rows = rows_a_round(between, sorted[i - 1]);
    if (rows > 1 && rows <= kMostGpus) return Ticks{rows, (sorted[i - 1] + sorted[i]) / 2};
  }
  // Of one GPU all waits are alike, but for some that were longer.
  const Nanos middle = sorted[sorted.size() / 2];
  if (sorted.front() > Nanos{0} && 2 * middle < 3 * sorted.front()) return Ticks{1, Nanos{0}};
  return std::nullopt;
}

}  // namespace amdahl::fleet::nvidia_smi
