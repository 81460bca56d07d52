#include "scan/peers.h"

#include <gtest/gtest.h>

namespace amdahl::scan {
namespace {

TEST(Peers, TellWhatComesBackByTheirOwnFamily) {
  // Five observed jobs of family 0: one wastes nothing; shares 0, 0.1, 0.2, 0.4, 0.8 of 100 s.
  const BaseRate rate =
      peer_rate({{0, 0, 0.8F, 80}, {0, 0, 0.1F, 10}, {0, 0, 0.4F, 40}, {0, 0, 0.2F, 20}}, {5});
  // Middle 0.2: 60 + 20 of 150 come back; better quarter 0.1: 70 + 30 + 10.
  // Of that, as much as can be fixed: 600 of 706, 0.822 to 0.874 with 95 %.
  EXPECT_NEAR(rate.lower, 80.0 / 150 * 0.8217, 1e-4);
  EXPECT_NEAR(rate.upper, 110.0 / 150 * 0.8743, 1e-4);
  EXPECT_NEAR(rate.mean, 95.0 / 150 * 600 / 706, 1e-6);
}

TEST(Peers, EqualJobsPromiseNothing) {
  const BaseRate rate = peer_rate(
      {{0, 0, 0.5F, 50}, {0, 0, 0.5F, 50}, {0, 0, 0.5F, 50}, {0, 0, 0.5F, 50}, {0, 0, 0.5F, 50}},
      {5});
  EXPECT_EQ(rate.upper, 0);
}

TEST(Peers, FewJobsOfAFamilySayNothingOfTheirOwn) {
  const BaseRate known = published_rate();
  const BaseRate rate = peer_rate({{0, 0, 0.5F, 50}, {0, 0, 0.1F, 10}}, {2});
  EXPECT_EQ(rate.mean, known.mean);
  EXPECT_EQ(rate.source, known.source);
  // Half of the waste in each family: half by peers (nothing), half published.
  const BaseRate both = peer_rate(
      {{0, 0, 0.5F, 100}, {1, 0, 0.5F, 25}, {1, 0, 0.5F, 25}, {1, 0, 0.5F, 25}, {1, 0, 0.5F, 25}},
      {1, 4});
  EXPECT_NEAR(both.mean, known.mean / 2, 1e-6);
}

TEST(Peers, JobsCompareInTheSamePartOnly) {
  // Start-up of five jobs takes 60 s each, and one of them has a ramp that no other has.
  std::vector<PeerWaste> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back({0, 2, 60, 60});
  jobs.push_back({0, 3, 100, 100});
  const BaseRate rate = peer_rate(jobs, {5});
  EXPECT_NEAR(rate.mean, 100.0 / 400 * 600 / 706, 1e-6);
}

}  // namespace
}  // namespace amdahl::scan
