#include <set>

#include <gtest/gtest.h>

#include "torture_plan.h"

namespace amdahl::e2e {
namespace {

TEST(TorturePlan, FollowsFromItsSeedAlone) {
  const auto text = [](std::uint32_t seed, bool all) {
    std::string told;
    for (const Fault& f : TorturePlan(seed).faults(all)) {
      told += f.name + ' ' + f.point + ' ' + std::to_string(f.at) + ' ' +
              std::to_string(f.after_s) + ' ' + std::to_string(f.lasts_s) + '\n';
    }
    return told;
  };
  EXPECT_EQ(text(1, true), text(1, true));
  EXPECT_NE(text(1, true), text(2, true));
  std::set<std::string> combined;
  for (const Fault& f : TorturePlan(1).faults(true)) combined.insert(f.name + '@' + f.point);
  EXPECT_EQ(combined.size(), fault_names().size() * fault_points().size());
  std::set<std::string> names;
  std::set<std::string> points;
  for (const Fault& f : TorturePlan(1).faults(false)) {
    names.insert(f.name);
    points.insert(f.point);
  }
  EXPECT_EQ(names.size(), fault_names().size());
  EXPECT_EQ(points.size(), fault_points().size());
  EXPECT_EQ(TorturePlan(3).start(2, 7).rest_ticks, TorturePlan(3).start(2, 7).rest_ticks);
}

}  // namespace
}  // namespace amdahl::e2e
