#include "profile/host_ranks.h"

#include <gtest/gtest.h>

#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

using std::chrono::microseconds;

// Four ranks with clocks of their own; `late` comes `by` later to each of ten collectives.
HostRanks four_ranks(int late, std::int64_t by) {
  MadeTrace made;
  for (int rank = 0; rank < 4; ++rank) {
    if (rank > 0) made.next_rank();
    for (std::int64_t step = 0; step < 10; ++step) {
      const std::int64_t arrival = step * 1000 + rank * 77'000 + (rank == late ? by : 0);
      const std::int64_t end = step * 1000 + rank * 77'000 + by + 50;
      made.annotation("gloo:all_reduce", arrival, end - arrival);
      made.op("aten::addmm", arrival - 100, 90);
    }
  }
  const model::Trace trace = made.finish();
  return host_ranks(trace);
}

TEST(HostRanks, WhoComesLastIsNamedWithoutComparingClocks) {
  const HostRanks found = four_ranks(2, 400);
  ASSERT_EQ(found.ranks.size(), 4U);
  ASSERT_EQ(found.straggler, 2U);
  EXPECT_EQ(found.ranks[2].rank, 2);
  EXPECT_EQ(found.ranks[2].median, microseconds(50));
  EXPECT_EQ(found.made_wait, microseconds(400));
  EXPECT_EQ(found.collective, "gloo:all_reduce");
  const Facts facts = facts_of(found, 0.5);
  EXPECT_EQ(facts.evidence.at(kStragglerRank), 2);
  ASSERT_EQ(facts.causes.size(), 1U);
  EXPECT_EQ(facts.causes[0].id, "communication.straggler");
  EXPECT_NEAR(facts.causes[0].share, 0.5 * 3 * 10 * 400 / (4 * 9450.0), 0.01);
}

TEST(HostRanks, EvenRanksNameNobody) {
  EXPECT_EQ(four_ranks(1, 0).straggler, model::kNone);
  EXPECT_EQ(four_ranks(1, 20).straggler, model::kNone) << "not clearly shorter";
  EXPECT_TRUE(facts_of(four_ranks(1, 20), 1).causes.empty());
}

TEST(HostRanks, OneRankOrNoneNamesNobody) {
  MadeTrace made;
  for (int step = 0; step < 10; ++step) made.annotation("gloo:all_reduce", step * 100, 50);
  const model::Trace trace = made.finish();
  EXPECT_TRUE(host_ranks(trace).ranks.empty());
}

}  // namespace
}  // namespace amdahl::profile
