// Slices and shards: parts of accelerators in Slurm's accounting.
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"
#include "fleet/slurm/slurm.h"
#include "fleet/slurm/tres.h"

namespace amdahl::fleet::slurm {
namespace {

Fed read_shares(std::string_view bytes) { return feed(make, bytes); }

// A slice is its share of a device; Slurm's index of a slice is no index of a device.
TEST(Slurm, MigSlicesAreSharesOfDevices) {
  EXPECT_DOUBLE_EQ(devices_of_tres("gres/gpu:1g.10gb=2,gres/gpu=2").count, 2.0 / 7);
  EXPECT_DOUBLE_EQ(devices_of_tres("gres/gpu:a100_3g.20gb=1,gres/gpu:a100=1,gres/gpu=2").count,
                   1 + 3.0 / 7);
  EXPECT_DOUBLE_EQ(devices_of_gres("gpu:a100_1g.5gb:7").count, 1);
  const Fed nodes = read_shares(
      "NODELIST|PARTITION|GRES\nn1|main|gpu:a100_1g.5gb:14(S:0)\nn2|main|gpu:3g.20gb:2\n");
  EXPECT_EQ(join(nodes.told.capacities, " "), "n1|main|a100_1g.5gb|2 n2|main|3g.20gb|1");
  const Fed job = read_shares(
      "JobId=8 JobName=a\n     Nodes=n1 CPU_IDs=0 GRES=gpu:a100_1g.5gb:1(IDX:3)\n"
      "     Nodes=n2 CPU_IDs=0 GRES=gpu:a100:1(IDX:1)\n");
  EXPECT_EQ(join(job.told.places, ", "), "8 n2 1");
}

TEST(Slurm, ShardsArePartsOfDevices) {
  const Fed nodes = read_shares(
      "NODELIST|PARTITION|GRES\nn1|main|gpu:a100:4(S:0-1),shard:a100:16(S:0-1)\nn2|main|gpu:4\n");
  EXPECT_EQ(join(nodes.told.shares, ", "), "n1 4");
  const Fed jobs = read_shares(
      "JobID|State|Start|End|ElapsedRaw|NodeList|AllocTRES\n"
      "1|COMPLETED|2023-11-15T00:00:00|2023-11-15T01:00:00|3600|n1|cpu=1,gres/shard=2\n"
      "2|COMPLETED|2023-11-15T00:00:00|2023-11-15T01:00:00|3600|n1|gres/gpu=1,gres/shard=4\n");
  ASSERT_EQ(jobs.told.jobs.size(), 2U);
  EXPECT_EQ(jobs.told.jobs[0].draft.accelerators, 0);
  EXPECT_EQ(jobs.told.jobs[0].draft.shards, 2);
  EXPECT_EQ(jobs.told.jobs[1].draft.accelerators, 1);
  EXPECT_EQ(jobs.told.jobs[1].draft.shards, 0);
}

}  // namespace
}  // namespace amdahl::fleet::slurm
