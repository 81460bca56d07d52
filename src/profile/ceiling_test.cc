#include "profile/ceiling.h"

#include <cmath>

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

TEST(Taken, WhatOthersAndWeTookIsKnownFromTheEvidence) {
  EXPECT_EQ(taken_by_others({}), 0);
  EXPECT_DOUBLE_EQ(taken_by_others({{"cpu_wait_share", 0.4}, {"foreign_cpu_cores", 2}}), 0.4);
  EXPECT_DOUBLE_EQ(
      taken_by_others({{"cpu_wait_share", 0.8}, {"foreign_cpu_cores", 0.5}, {"busy_cores", 1.5}}),
      0.25)
      << "its own threads took the rest from each other";
  EXPECT_DOUBLE_EQ(taken_by_others({{"steal_share", 0.25},
                                    {"hook.overhead_share", 0.0625},
                                    {"hook.lines_share", 0.0625},
                                    {"waits.collector_share", 0.125}}),
                   0.5);
  EXPECT_EQ(taken_by_others({{"cpu_wait_share", 0.9}, {"steal_share", 0.2}}), 1);
}

// A job of 10 s, profiled while others took CPUs from it, so that it took longer. Whatever part of
// its own time a fix removes, and whatever is still taken when that is tested, it gains no more.
TEST(Taken, NoFixGainsMoreThanTheCeilingWhateverTheLoadMeanwhile) {
  for (double part = 0; part < 10; part += 0.5) {
    for (double load = 0; load < 30; load += 1) {
      const double ceiling = ceiling_without(load / (10 + load), part / (10 + load));
      for (double later = 0; later <= load; later += 0.5) {
        const double gain = (10 + later) / (10 + later - part);
        EXPECT_LE(gain, ceiling + 1e-9) << part << " s removed, " << load << " s, " << later;
      }
    }
  }
}

TEST(Taken, OnAQuietHostTheCeilingIsAmdahls) {
  EXPECT_DOUBLE_EQ(ceiling_without(0, 0.5), 2);
  EXPECT_DOUBLE_EQ(ceiling_without(0.5, 0.25), 2);
  EXPECT_TRUE(std::isinf(ceiling_without(0.5, 0.5)));
  EXPECT_TRUE(std::isinf(ceiling_without(1, 0.1)));
  EXPECT_EQ(ceiling_without(0.5, 0), 1);
  EXPECT_DOUBLE_EQ(share_of(ceiling_without(0, 0.3)), 0.3);
  EXPECT_EQ(share_of(1), 0);
  EXPECT_EQ(share_of(ceiling_without(1, 1)), 1);
}

}  // namespace
}  // namespace amdahl::profile
