#include "scan/waiting.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>

namespace amdahl::scan {
namespace {

constexpr Nanos kSlot = std::chrono::minutes{1};
// 138 days of minutes; of longer windows, steps are longer.
constexpr std::int64_t kMostSlots = 200'000;

// What changes from one minute (or longer step) to the next, in accelerators.
class Steps {
 public:
  Steps(const Window& window, Nanos step, std::size_t count)
      : window_{window}, step_{step}, at_(count + 1, 0.0F) {}

  void add(Nanos from, Nanos to, double accelerators) {
    from = std::max(from, window_.start);
    to = std::min(to, window_.end);
    if (from >= to) return;
    at_[place(from)] += static_cast<float>(accelerators);
    at_[place(to)] -= static_cast<float>(accelerators);
  }
  float at(std::size_t i) const { return at_[i]; }

 private:
  std::size_t place(Nanos at) const {
    return static_cast<std::size_t>((at - window_.start) / step_);
  }
  Window window_;
  Nanos step_;
  std::vector<float> at_;
};

struct OfKind {
  Steps queued;
  Steps held;
  Steps idle;
  double capacity = 0;
  bool is_told = false;
};

Waiting sum_of(const OfKind& of, std::size_t steps, double seconds) {
  Waiting sum;
  double queued = 0;
  double held = 0;
  double idle = 0;
  double while_free = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    queued += static_cast<double>(of.queued.at(i));
    held += static_cast<double>(of.held.at(i));
    idle += static_cast<double>(of.idle.at(i));
    const double wanted = std::max(queued, 0.0);
    sum.queued += wanted * seconds;
    sum.while_idle += std::min(wanted, std::max(idle, 0.0)) * seconds;
    while_free += std::min(wanted, std::max(of.capacity - held, 0.0)) * seconds;
  }
  if (of.is_told) sum.while_free = while_free;
  return sum;
}

}  // namespace

std::vector<Waiting> waiting_of(const FleetUsage& usage, const Stop& stop) {
  const Nanos length = usage.window.end - usage.window.start;
  std::vector<Waiting> result;
  if (length <= Nanos{}) return result;
  const Nanos step = kSlot * (1 + length / kSlot / kMostSlots);
  const auto steps = static_cast<std::size_t>(length / step) + 1;
  std::map<WordId, OfKind> kinds;
  const auto kind_of = [&](WordId kind) -> OfKind& {
    const auto known = kinds.find(kind);
    if (known != kinds.end()) return known->second;
    const Steps none(usage.window, step, steps);
    return kinds.emplace(kind, OfKind{none, none, none}).first->second;
  };
  const JobRows& jobs = usage.jobs;
  WordId last = 0;
  OfKind* of = nullptr;
  for (std::size_t i = 0; i < jobs.size() && !stop(i); ++i) {
    const WordId kind = jobs.traits()[jobs.traits_of(i)].kind;
    if (!of || kind != last) of = &kind_of(kind);
    last = kind;
    const auto accelerators = static_cast<double>(jobs.accelerators(i));
    if (jobs.submit(i) != Nanos{}) of->queued.add(jobs.submit(i), jobs.start(i), accelerators);
    of->held.add(jobs.start(i), jobs.end(i), accelerators);
  }
  for (const Lane& lane : usage.lanes) {
    OfKind& of_lane = kind_of(jobs.traits()[jobs.traits_of(lane.job)].kind);
    for (const IdleSpell& spell : usage.spells_of(lane)) {
      of_lane.idle.add(spell.first, spell.last, lane.weight);
    }
  }
  for (const HostCapacity& host : usage.capacities) {
    if (host.host == 0) continue;  // Partitions share hosts.
    const auto at = kinds.size() == 1 ? kinds.begin() : kinds.find(host.kind);
    if (at == kinds.end()) continue;
    at->second.capacity += host.accelerators;
    at->second.is_told = true;
  }
  for (const auto& [kind, sums] : kinds) {
    Waiting one = sum_of(sums, steps, to_seconds(step));
    one.kind = usage.text(kind);
    if (one.queued > 0) result.push_back(std::move(one));
  }
  std::ranges::stable_sort(result, std::greater<>{}, &Waiting::queued);
  return result;
}

}  // namespace amdahl::scan
