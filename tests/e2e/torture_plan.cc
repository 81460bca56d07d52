#include "torture_plan.h"

#include <algorithm>
#include <random>

namespace amdahl::e2e {
namespace {

enum Stream : std::uint32_t { kOrder, kTimes, kStarts };

std::mt19937 stream(std::uint32_t seed, Stream of, std::uint32_t a = 0, std::uint32_t b = 0) {
  std::seed_seq words{seed, static_cast<std::uint32_t>(of), a, b};
  return std::mt19937(words);
}

// The library's distributions and its shuffle may differ between versions; this does not.
int drawn(std::mt19937& draw, int from, int to) {
  return from + static_cast<int>(draw() % static_cast<std::uint32_t>(to - from + 1));
}

template <class T>
void shuffle(std::vector<T>& items, std::mt19937& draw) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[draw() % i]);
}

}  // namespace

const std::vector<std::string>& fault_names() {
  static const std::vector<std::string> names{
      "cycle",  "helper", "worker",   "ctld",      "ctld hangs", "dbd",         "dbd hangs",
      "slurmd", "node",   "postgres", "read-only", "full",       "clock ahead", "clock behind"};
  return names;
}

const std::vector<std::string>& fault_points() {
  static const std::vector<std::string> points{"cycle.reserved",
                                               "launch.submit.before_spawn",
                                               "launch.submit.after_spawn",
                                               "cycle.launched",
                                               "cycle.recorded",
                                               "cycle.collect",
                                               "work.claimed",
                                               "ledger.append.begin",
                                               "ledger.append.before_commit",
                                               "ledger.append.server_has_it",
                                               "ledger.append.after_commit"};
  return points;
}

std::vector<Fault> TorturePlan::faults(bool all) const {
  std::mt19937 order = stream(seed_, kOrder);
  std::vector<std::string> names = fault_names();
  std::vector<std::string> points = fault_points();
  shuffle(names, order);
  shuffle(points, order);
  std::vector<Fault> plan;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!all) plan.push_back({names[i], points[i % points.size()]});
    for (const std::string& point : points) {
      if (all) plan.push_back({names[i], point});
    }
  }
  if (all) shuffle(plan, order);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    std::mt19937 times = stream(seed_, kTimes, static_cast<std::uint32_t>(i));
    plan[i].at = drawn(times, 1, 3);
    plan[i].after_s = 0.1 * drawn(times, 3, 15);
    plan[i].lasts_s = 0.1 * drawn(times, 2, 20);
  }
  return plan;
}

Start TorturePlan::start(int machine, int number) const {
  std::mt19937 draw = stream(seed_, kStarts, static_cast<std::uint32_t>(machine),
                             static_cast<std::uint32_t>(number));
  return {drawn(draw, 0, 3) == 0, drawn(draw, 3, 10)};
}

}  // namespace amdahl::e2e
