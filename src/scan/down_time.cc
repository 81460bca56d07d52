#include "scan/down_time.h"

#include <algorithm>
#include <limits>
#include <set>

namespace amdahl::scan {
namespace {

constexpr double kAll = std::numeric_limits<double>::infinity();  // Whatever the host has.

}  // namespace

void DownTime::add(WordId host, Nanos from, Nanos to, double accelerators) {
  if (from >= to || accelerators < 0) return;
  hosts_[host].down.push_back({from, to, accelerators > 0 ? accelerators : kAll});
}

std::vector<WordId> DownTime::down_as_a_whole() const {
  std::vector<WordId> found;
  for (const auto& [host, told] : hosts_) {
    const auto is_all = [](const Span& stretch) { return stretch.accelerators == kAll; };
    if (std::ranges::any_of(told.down, is_all)) found.push_back(host);
  }
  return found;
}

void DownTime::hold(WordId host, Nanos from, Nanos to, double accelerators) {
  const auto at = hosts_.find(host);
  if (at != hosts_.end() && from < to) at->second.held.push_back({from, to, accelerators});
}

std::map<WordId, double> DownTime::seconds(const Window& window,
                                           const std::function<double(WordId)>& capacity) const {
  std::map<WordId, double> sums;
  for (const auto& [host, told] : hosts_) {
    const double sum = seconds(told, window, capacity(host));
    if (sum > 0) sums.emplace(host, sum);
  }
  return sums;
}

// From one change to the next.
double DownTime::seconds(const Host& host, const Window& window, double capacity) {
  struct Change {
    Nanos at{};
    double down = 0;  // Begins if above 0, ends if below.
    double held = 0;
  };
  std::vector<Change> changes;
  const auto add = [&](const Span& stretch, bool is_down) {
    const Nanos from = std::max(stretch.from, window.start);
    const Nanos to = std::min(stretch.to, window.end);
    if (from >= to) return;
    const double n = stretch.accelerators;
    changes.push_back({from, is_down ? n : 0, is_down ? 0 : n});
    changes.push_back({to, is_down ? -n : 0, is_down ? 0 : -n});
  };
  double most = capacity;
  for (const Span& stretch : host.down) {
    add(stretch, true);
    if (capacity <= 0 && stretch.accelerators < kAll) most = std::max(most, stretch.accelerators);
  }
  for (const Span& stretch : host.held) add(stretch, false);
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  std::multiset<double> levels;
  double held = 0;
  double sum = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i];
    if (change.down > 0) levels.insert(change.down);
    if (change.down < 0) levels.erase(levels.find(-change.down));
    held += change.held;
    if (levels.empty() || i + 1 == changes.size()) continue;
    const double down = std::min(*levels.rbegin(), most - std::max(0.0, held));
    sum += std::max(0.0, down) * to_seconds(changes[i + 1].at - change.at);
  }
  return sum;
}

}  // namespace amdahl::scan
