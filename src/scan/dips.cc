#include "scan/dips.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace amdahl::scan {
namespace {

constexpr double kFineFrom = 4;  // Bins between dips.
constexpr double kSameDistance = 0.25;
constexpr double kMostAlike = 0.75;  // Of the distances are within that.
constexpr std::size_t kFewestShortGaps = 12;
constexpr double kShortGapsSpread = 0.3;  // Their deviation over their mean; by chance about 0.5.
constexpr std::size_t kStretches = 8;
constexpr std::size_t kFewestInStretch = 4;  // Bins.
constexpr std::uint64_t kFewestInDip = 4;
constexpr double kEvenSpread = 0.2;  // By chance about 0.5.

// The deviation over the mean.
double spread_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / n) / mean;
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Spacing spacing_of(const std::vector<double>& gaps) {
  const double usual = median_of(gaps);
  if (usual >= kFineFrom) {
    const double slack = std::max(1.0, kSameDistance * usual);
    const auto alike =
        std::ranges::count_if(gaps, [&](double gap) { return std::abs(gap - usual) <= slack; });
    return {.alike = static_cast<double>(alike) >= kMostAlike * static_cast<double>(gaps.size()),
            .seen = true};
  }
  if (gaps.size() < kFewestShortGaps) return {};
  return {.alike = spread_of(gaps) <= kShortGapsSpread, .seen = false};
}

bool is_even(std::span<const double> still, std::uint64_t samples_in_a_bin) {
  const std::size_t width = still.size() / kStretches;
  if (width < kFewestInStretch || samples_in_a_bin < kFewestInDip) return false;
  std::vector<double> stretches;
  for (std::size_t i = 0; i < kStretches; ++i) {
    const auto some = still.subspan(i * width, width);
    stretches.push_back(std::accumulate(some.begin(), some.end(), 0.0));
    if (stretches.back() <= 0) return false;
  }
  return spread_of(stretches) <= kEvenSpread;
}

}  // namespace amdahl::scan
