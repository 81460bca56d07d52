#include "stats/rate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <boost/math/special_functions/beta.hpp>

#include "base/check.h"

namespace amdahl::stats {
namespace {

constexpr std::array<double, 4> kOddsTimes{2, 4, 8, 16};

}  // namespace

double log_e_rate(int failed, int tries, double usual) {
  CHECK(failed >= 0 && failed <= tries);
  CHECK(usual > 0 && usual < 1);
  std::array<double, kOddsTimes.size()> logs{};
  for (std::size_t i = 0; i < logs.size(); ++i) {
    // With odds k times the usual, p/usual = k/(1 + (k-1) usual) and (1-p)/(1-usual) = the same /
    // k.
    const double shrink = std::log1p((kOddsTimes[i] - 1) * usual);
    logs[i] = failed * std::log(kOddsTimes[i]) - tries * shrink;
  }
  const double top = std::ranges::max(logs);
  double sum = 0;
  for (const double log : logs) sum += std::exp(log - top);
  return top + std::log(sum / static_cast<double>(logs.size()));
}

double rate_at_most(int failed, int tries) {
  CHECK(failed >= 0 && failed <= tries);
  return boost::math::ibeta_inv(failed + 1.0, tries - failed + 1.0, 0.9);
}

}  // namespace amdahl::stats
