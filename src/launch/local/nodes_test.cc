#include "launch/local/nodes.h"

#include <cmath>

#include "launch/local/arms.h"
#include "launch/local/testing.h"

namespace amdahl::launch::local {
namespace {

model::Receipt node(const std::string& host, double foreign, double cores) {
  model::Receipt receipt;
  receipt.utilisation = {std::chrono::milliseconds(100), "CPU slot", {{1.0F, 0.5F}}};
  receipt.left_behind = 1;
  model::HostUse use;
  use.host = host;
  use.hardware = "cpu: x × 2";
  use.noise.foreign_cpu_cores = foreign;
  use.noise.load1 = 1;
  use.cpu = from_seconds(cores);
  use.peak_rss_bytes = 10;
  use.ranks = {{0, use.cpu, {1.0F, 0.5F}}};
  receipt.hosts = {use};
  return receipt;
}

TEST(Nodes, AReceiptIsOfAllNodesAndAsNoisyAsTheWorst) {
  model::Receipt job;
  job.wall = std::chrono::seconds(1);
  job.cpu_user = job.cpu_system = std::chrono::seconds(9);  // Of srun: it tells nothing.
  add_hosts({node("n1", 0.25, 2), node("n2", 1.5, 3)}, 2, job);
  EXPECT_EQ(job.schema, model::kReceiptWithHosts);
  ASSERT_EQ(job.hosts.size(), 2U);
  EXPECT_EQ(job.hosts[1].host, "n2");
  EXPECT_EQ(job.noise.foreign_cpu_cores, 1.5);
  EXPECT_EQ(to_seconds(job.cpu_user + job.cpu_system), 5);
  EXPECT_EQ(job.peak_rss_bytes, 20);
  EXPECT_EQ(job.left_behind, 2);
  EXPECT_EQ(job.utilisation.accelerators.size(), 2U);
  EXPECT_EQ(job.hardware, "cpu: x × 2");
  EXPECT_TRUE(job.report_problems.empty());
}

TEST(Nodes, ANodeWithoutARecordMakesTheNoiseUnknown) {
  model::Receipt job;
  add_hosts({node("n1", 0.25, 2)}, 2, job);
  EXPECT_TRUE(std::isnan(job.noise.foreign_cpu_cores));
  EXPECT_EQ(job.report_problems,
            std::vector<std::string>{"1 of 2 nodes left no record of the job"});
}

TEST(Nodes, RanksMeetAtAFreePortOfTheFirstNode) {
  model::Plan plan;
  plan.argv = {"--at={head}:{port}", "{out}/x"};
  plan.env = {{"MASTER_PORT", "{port}"}};
  ASSERT_TRUE(fill_in_meeting_point(plan));
  const std::string& port = plan.env.at("MASTER_PORT");
  EXPECT_EQ(plan.argv[0], "--at=" + os::host_name() + ":" + port);
  EXPECT_GT(to_number<int>(port).value_or(0), 1023);
  EXPECT_EQ(plan.argv[1], "{out}/x");
}

TEST(Nodes, OnlySlurmRunsJobsOfSeveralNodes) {
  PairRequest request;
  request.spec.layout.nodes = 2;
  request.a.accelerators = request.b.accelerators = 2;
  request.variant_second = true;
  EXPECT_FALSE(arms_of(request));
  request.allocated = true;
  EXPECT_TRUE(arms_of(request));
  request.b.accelerators = 1;
  EXPECT_FALSE(arms_of(request)) << "half an accelerator on each node";
}

}  // namespace
}  // namespace amdahl::launch::local
