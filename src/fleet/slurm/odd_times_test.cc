// Records of sacct whose times are not all there, or not to be believed.
#include <gtest/gtest.h>

#include "fleet/feed.h"
#include "fleet/slurm/slurm.h"

namespace amdahl::fleet::slurm {
namespace {

using model::Trouble;
using std::chrono::hours;

constexpr std::string_view kTimesHeader =
    "JobID|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|Timelimit|AllocTRES\n";

Fed read_times(const std::string& rows) { return feed(make, std::string(kTimesHeader) + rows, {}); }

// sacct counts a record whose end was lost up to now; the job itself was ended at its limit.
TEST(OddTimes, ARunawayRecordCountsUpToItsLimit) {
  const Fed fed = read_times(
      "1|RUNNING|2026-01-01T00:00:00|2026-01-01T00:00:00|Unknown|8640000|1440||gres/gpu=8\n"
      "2|RUNNING|2026-01-01T00:00:00|2026-01-01T00:00:00|Unknown|8640000||2-00:00:00|gres/gpu=8\n"
      "3|RUNNING|2026-01-01T00:00:00|2026-01-01T00:00:00|Unknown|8640000|UNLIMITED|UNLIMITED|"
      "gres/gpu=8\n"
      "4|RUNNING|2026-01-01T00:00:00|2026-01-01T00:00:00|Unknown|90000|1440||gres/gpu=8\n"
      "5|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-04-11T00:00:00|8640000|1440||"
      "gres/gpu=8\n");
  ASSERT_EQ(fed.told.jobs.size(), 5U);
  EXPECT_EQ(fed.told.jobs[0].draft.elapsed, hours(24));
  EXPECT_EQ(fed.told.jobs[1].draft.elapsed, hours(48));
  EXPECT_EQ(fed.told.jobs[2].draft.elapsed, hours(2400)) << "nothing says that it is over";
  EXPECT_EQ(fed.told.jobs[3].draft.elapsed, hours(25)) << "sites let jobs overrun a little";
  EXPECT_EQ(fed.told.jobs[4].draft.elapsed, hours(2400)) << "it has an end";
  EXPECT_EQ(fed.told.count(Trouble::kRunaway), 2U);
}

TEST(OddTimes, AJobWithoutAStartKeepsWhatItCanBeWorkedOutFrom) {
  const Fed fed = read_times(
      "1|COMPLETED|2026-01-01T00:00:00||2026-01-01T03:00:00|7200|||gres/gpu=8\n"
      "2|COMPLETED|2026-01-01T00:00:00|Unknown|2026-01-01T03:00:00|7200|||gres/gpu=8\n"
      "3|CANCELLED|2026-01-01T00:00:00|None|2026-01-01T03:00:00|0|||\n");
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(fed.told.jobs[i].draft.start, Nanos{});
    EXPECT_EQ(fed.told.jobs[i].draft.elapsed, hours(2));
    EXPECT_EQ(fed.told.jobs[i].draft.accelerators, 8);
  }
  EXPECT_EQ(fed.told.jobs[2].draft.accelerators, 0);
}

}  // namespace
}  // namespace amdahl::fleet::slurm
