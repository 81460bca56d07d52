#include "launch/local/allocation.h"

#include "launch/local/testing.h"

namespace amdahl::launch::local {
namespace {

TEST(Allocation, AnArmSeesNoMoreDevicesThanItClaims) {
  model::Plan plan;
  plan.accelerators = 2;
  const Environment given{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"ZE_AFFINITY_MASK", "4, 5, 6"}};
  EXPECT_EQ(limit_devices(given, plan), 4);
  EXPECT_EQ(plan.env.at("CUDA_VISIBLE_DEVICES"), "0,1");
  EXPECT_EQ(plan.env.at("ZE_AFFINITY_MASK"), "4,5");
  EXPECT_FALSE(plan.env.contains("ROCR_VISIBLE_DEVICES")) << "the scheduler does not set it";
  plan.env = {{"CUDA_VISIBLE_DEVICES", "3,2,1,0"}};
  limit_devices(given, plan);
  EXPECT_EQ(plan.env.at("CUDA_VISIBLE_DEVICES"), "3,2") << "it must not give itself more";
  plan.env.clear();
  plan.accelerators = 4;
  EXPECT_EQ(limit_devices(given, plan), 0);
  EXPECT_TRUE(plan.env.empty());
}

TEST(Allocation, ArmsArePinnedWhereTheirCpusDifferOrTheJobIsConfined) {
  PairRequest request;
  request.a.cpus = request.b.cpus = 2;
  EXPECT_EQ(cpus_for(request, {4, 5}, 7), (std::vector<int>{4, 5})) << "as it was confined";
  EXPECT_TRUE(cpus_for(request, {0, 1, 2, 3}, 7).empty()) << "the node's to balance";
  request.b.cpus = 1;
  EXPECT_EQ(cpus_for(request, {0, 1, 2, 3}, 0), (std::vector<int>{0, 1}));
  EXPECT_EQ(cpus_for(request, {0, 1, 2, 3}, 1), (std::vector<int>{2, 3})) << "beside the other";
  request.b.cpus = 2;
  request.contended = true;
  EXPECT_EQ(cpus_for(request, {0, 1, 2, 3}, 0).size(), 2U) << "neighbours need a place";
}

TEST_F(LocalTest, ARunInAnAllocationIsClaimedOnceAndKeepsWhatItsArmsWrote) {
  PairRequest made = request("echo a > \"$AMDAHL_OUT/result\"; echo a >> order",
                             "echo '{}' > \"$AMDAHL_OUT/receipt.json\"; echo b >> order");
  made.allocated = true;
  ASSERT_EQ(launcher_->submit(std::span(&made, 1)).front().handover, Handover::kAccepted);
  ASSERT_TRUE(run_pair(run_folder().path));
  ASSERT_TRUE(run_pair(run_folder().path));
  EXPECT_EQ(*os::read_file(path("order")), "a\nb\n");
  const Receipts receipts = *launcher_->collect({"r-1"});
  ASSERT_TRUE(receipts.a && receipts.b) << receipts.problem;
  EXPECT_EQ(*os::read_file(receipts.out_a + "/result"), "a\n");
  EXPECT_EQ(receipts.restored, std::vector<std::string>{"B"}) << "a job writes no receipts";
  EXPECT_EQ(receipts.b->code, 0);
}

}  // namespace
}  // namespace amdahl::launch::local
