#include "compare/axis.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stats/estimate.h"

namespace amdahl::compare {
namespace {

constexpr double kLarge = 1.1;  // Of a log ratio: a factor of 3.

// Round shares within [low, high], at most this many, where the axis is nearly linear in the share.
std::vector<Tick> ticks_by_share(double low, double high, const MetricText& metric_text, int most) {
  const double from = share_of(low, metric_text);
  const double to = share_of(high, metric_text);
  std::vector<Tick> ticks;
  for (double unit = 1e-4; ticks.empty(); unit *= 10) {
    for (const double step : {unit, 2 * unit, 5 * unit}) {
      const auto first = static_cast<long>(std::ceil(from / step));
      const auto last = static_cast<long>(std::floor(to / step));
      if (last - first + 1 > most) continue;
      for (long i = first; i <= last; ++i) {
        const double share = static_cast<double>(i) * step;
        ticks.push_back({effect_of(share, metric_text), share});
      }
      return ticks;
    }
  }
  return ticks;
}

// The same for large effects: 50, 80, 90, 95 % saved are ratios of 2, 5, 10 and 20 and lie evenly.
std::vector<Tick> ticks_by_ratio(double low, double high, const MetricText& metric_text, int most) {
  std::vector<Tick> ticks;
  const auto last = static_cast<int>(std::max(-low, high) / std::numbers::ln10) + 1;
  for (int decades = 0; decades <= last; ++decades) {  // Between ticks; 0: also at 2 and 5.
    ticks.clear();
    const int step = std::max(1, decades);
    for (int i = -(last / step) * step; i <= last; i += step) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit != 1 && decades > 0) continue;
        const double effect = i * std::numbers::ln10 + std::log(digit);
        if (effect >= low && effect <= high) {
          ticks.push_back({effect, share_of(effect, metric_text)});
        }
      }
    }
    if (static_cast<int>(ticks.size()) <= most) break;
  }
  return ticks;
}

}  // namespace

Axis axis_for(const Account& account, int most_ticks) {
  std::vector<double> d;
  for (const Row& row : account.rows) {
    if (row.d) d.push_back(*row.d);
  }
  Axis axis;
  const auto include = [&](double effect) {
    axis.low = std::min(axis.low, effect);
    axis.high = std::max(axis.high, effect);
  };
  // The smallest effect that matters gives the scale when nothing moves.
  include(account.measured.design.delta);
  include(-account.measured.design.delta);
  if (!d.empty()) {
    const double far = 5 * std::max(stats::mad(d), account.measured.design.delta);
    const double middle = stats::median(d);
    for (const double value : d) {
      if (std::abs(value - middle) <= far) include(value);
    }
    for (const double bound : {account.comparison.lower, account.comparison.upper}) {
      if (std::abs(bound - middle) <= far) include(bound);
    }
  }
  const double margin = 0.04 * (axis.high - axis.low);
  axis.low -= margin;
  axis.high += margin;
  const auto ticks = axis.high - axis.low > kLarge ? ticks_by_ratio : ticks_by_share;
  axis.ticks = ticks(axis.low, axis.high, account.measured.metric_text, std::max(1, most_ticks));
  return axis;
}

}  // namespace amdahl::compare
