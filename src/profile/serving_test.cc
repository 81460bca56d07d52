#include "profile/serving.h"

#include <gtest/gtest.h>

#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

TEST(Serving, NamesOfStepsTellKindRequestsAndTokens) {
  struct Case {
    const char* range;
    ServingKind kind;
    double requests;
    double tokens;
  };
  const Case cases[] = {
      {"execute_context_2(640)_generation_0(0)", ServingKind::kPrefill, 2, 640},
      {"execute_context_0(0)_generation_7(7)", ServingKind::kDecode, 7, 7},
      {"execute_context_1(512)_generation_3(3)", ServingKind::kMixed, 4, 515},
      {"execute_1_context_3(sq96sk96)_generation_0(sq0sk0)", ServingKind::kPrefill, 3, 96},
      {"step[DECODE bs=63]", ServingKind::kDecode, 63, 63},
      {"step[EXTEND bs=17 toks=8192]", ServingKind::kPrefill, 17, 8192},
      {"step[MIXED bs=2]", ServingKind::kMixed, 2, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.range);
    const auto step = serving_step(c.range);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->kind, c.kind);
    EXPECT_EQ(step->requests, c.requests);
    EXPECT_EQ(step->tokens, c.tokens);
  }
  for (const char* other : {"step", "step[IDLE bs=0]", "execute_model", "ProfilerStep#3", ""}) {
    EXPECT_FALSE(serving_step(other)) << other;
  }
}

TEST(Serving, PhasesHaveTimesAndAdvice) {
  MadeTrace made;
  std::int64_t at = 0;
  for (int i = 0; i < 10; ++i, at += 1000) {
    made.annotation("execute_context_0(0)_generation_4(4)", at, 1000);
    made.kernel(at + 100, 500, made.call("cudaLaunchKernel", at + 10, 10));
  }
  made.annotation("execute_context_1(512)_generation_0(0)", at, 2000);
  made.kernel(at, 2000, made.call("cudaLaunchKernel", at, 10));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const auto phases = serving_phases(prepared);
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].kind, ServingKind::kDecode);
  EXPECT_EQ(phases[0].steps, 10U);
  EXPECT_EQ(phases[0].requests, 4);
  EXPECT_EQ(phases[0].median, std::chrono::microseconds(1000));
  EXPECT_NEAR(phases[0].busy, 0.5, 1e-9);
  EXPECT_EQ(phases[1].kind, ServingKind::kPrefill);
  EXPECT_EQ(phases[1].tokens, 512);
  const auto advice = serving_advice(phases, false);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].id, "serving.decode-gaps");
  EXPECT_NE(advice[0].says.find("--enforce-eager"), std::string::npos);
  const auto with_graphs = serving_advice(phases, true);
  ASSERT_EQ(with_graphs.size(), 1U);
  EXPECT_EQ(with_graphs[0].says.find("CUDA graphs"), std::string::npos);
}

// As SGLang records a step: marked twice, and ended by the host before the device is done.
TEST(Serving, AHostThatWorksAheadIsNotAnIdleDevice) {
  MadeTrace made;
  made.annotation("execute_context_0(0)_generation_32(32)", 0, 10'000);
  made.annotation("step[DECODE bs=32]", 100, 9'000);
  made.kernel(9'500, 600, made.call("hipGraphLaunch", 200, 10));
  made.kernel(10'100, 900, made.call("hipGraphLaunch", 300, 10));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const auto phases = serving_phases(prepared);
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].steps, 1U);
  EXPECT_EQ(phases[0].total, std::chrono::microseconds(1500));
  EXPECT_NEAR(phases[0].busy, 1.0, 1e-9);
  EXPECT_TRUE(serving_advice(phases, false).empty());
}

TEST(Serving, APrefillHoldsUpNothingWhereNothingIsDecoded) {
  MadeTrace made;
  made.annotation("execute_context_1(888)_generation_0(0)", 0, 2000);
  made.kernel(0, 2000, made.call("cudaLaunchKernel", 0, 10));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const auto phases = serving_phases(prepared);
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_TRUE(serving_advice(phases, false).empty());
}

}  // namespace
}  // namespace amdahl::profile
