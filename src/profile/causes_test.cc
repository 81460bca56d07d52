#include "profile/causes.h"

#include <gtest/gtest.h>

namespace amdahl::profile {
namespace {

using model::Bottleneck;

// A step thread that slept nine tenths of the time, as the BPF collector tells it.
CauseInputs sleeper() {
  CauseInputs inputs;
  model::Cause slept;
  slept.name = "sleeping";
  slept.bottleneck = Bottleneck::kSerial;
  slept.share = 0.9;
  slept.because = "the step thread slept 9 s of 10 s";
  inputs.seen.push_back(slept);
  inputs.accelerator_kind = "cpu slot";
  inputs.allocated = 10;
  return inputs;
}

TEST(Causes, SleepThatNothingElseHoldsIsToldWhole) {
  const auto causes = causes_of(sleeper());
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].bottleneck, Bottleneck::kSerial);
  EXPECT_EQ(causes[0].because,
            "the step thread slept 9 s of 10 s: 9.00 of 10.0 accelerator-seconds");
}

TEST(Causes, ALoaderThatSleepsIsAWaitForInputAndToldOnce) {
  CauseInputs inputs = sleeper();
  inputs.all["input_wait_share"] = 0.8;
  const auto causes = causes_of(inputs);
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].bottleneck, Bottleneck::kInput);
  EXPECT_EQ(causes[1].bottleneck, Bottleneck::kSerial);
  EXPECT_NEAR(causes[1].share, 0.1, 1e-9);

  inputs.all["input_wait_share"] = 0.895;
  EXPECT_EQ(causes_of(inputs).size(), 1u) << "what is left is not worth a line";
}

}  // namespace
}  // namespace amdahl::profile
