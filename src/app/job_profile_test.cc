#include "app/job_profile.h"

#include <nlohmann/json.hpp>

#include "app/test_kit.h"
#include "base/json.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

class JobProfileTest : public ContextTest {
 protected:
  // What a run of ten seconds left, of whose end the hook took four for its report.
  void leave() {
    receipt_.id = "p-1";
    receipt_.ending = model::Ending::kExited;
    receipt_.accelerators = 1;
    receipt_.accelerator_kind = "cpu slot";
    receipt_.wall = std::chrono::seconds(10);
    receipt_.cpu_user = std::chrono::seconds(8);
    const Json hook = {{"schema", 1},
                       {"wall_s", 6.0},
                       {"startup_s", 3.0},
                       {"exit_s", 4.0},
                       {"exit_cpu_s", 3.0}};  // The host was busy.
    ASSERT_TRUE(os::write_file(context_.path("receipt.json"), dump_json(encode(receipt_))));
    ASSERT_TRUE(os::write_file(context_.path("hook.json"), dump_json(hook)));
  }

  model::Profile profiled() {
    return join_collected({}, receipt_, {folder_.string(), {}}, {}).profile;
  }

  model::Receipt receipt_;
};

TEST_F(JobProfileTest, WhatTheHookDidAfterTheJobsEndIsNoTimeOfTheJob) {
  leave();
  const model::Profile profile = profiled();
  EXPECT_EQ(profile.wall, Nanos{std::chrono::seconds(6)});
  EXPECT_DOUBLE_EQ(profile.evidence.at("startup_share"), 0.5);
  EXPECT_NEAR(profile.evidence.at("busy_cores"), 5.0 / 6, 1e-9);
}

// The loop runs the job once without the hook, and that run's time counts.
TEST_F(JobProfileTest, ARunWithoutTheHookCountsAsItIs) {
  leave();
  receipt_.id = "r-1/A";
  receipt_.wall = std::chrono::seconds(6);
  EXPECT_EQ(profiled().wall, Nanos{std::chrono::seconds(6)});
}

}  // namespace
}  // namespace amdahl::app
