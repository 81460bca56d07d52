#include "profile/advice.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "profile/course.h"
#include "profile/phases.h"
#include "profile/why.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;

model::Cause cause(const CauseKind& kind, Bottleneck bottleneck) {
  model::Cause made;
  set_kind(made, kind);
  made.bottleneck = bottleneck;
  return made;
}

TEST(Advice, EveryCauseHasSomethingToTry) {
  for (const Kind& kind : kinds()) {
    if (kind.bottleneck == Bottleneck::kCompute) continue;
    for (const Framework framework : {Framework::kTorch, Framework::kNative, Framework::kOpenCl}) {
      EXPECT_NE(what_to_try(cause(kind.cause, kind.bottleneck), framework), "") << kind.cause.id;
    }
  }
  for (const Bottleneck bottleneck :
       {Bottleneck::kInput, Bottleneck::kContention, Bottleneck::kCommunication,
        Bottleneck::kLifecycle, Bottleneck::kSerial, Bottleneck::kWakeups, Bottleneck::kSync,
        Bottleneck::kAllocation, Bottleneck::kUnknown}) {
    EXPECT_NE(
        what_to_try(cause({"another", "whatever it is called"}, bottleneck), Framework::kTorch), "")
        << name(bottleneck);
  }
  EXPECT_EQ(what_to_try(cause(causes::kCompute, Bottleneck::kCompute), Framework::kTorch), "");
}

TEST(Advice, SpeaksOfWhatTheJobCalls) {
  const auto is_foreign = [](std::string_view advice) {
    constexpr std::string_view kForeign[] = {".item()",  "CUDA",  "torch",  "non_blocking",
                                             "autograd", ".cpu(", "loader", "Python"};
    return std::ranges::any_of(
        kForeign, [&](std::string_view word) { return advice.find(word) != advice.npos; });
  };
  for (const WhyRow& row : whys()) {
    EXPECT_FALSE(is_foreign(what_to_try(row.why, Framework::kOpenCl))) << row.name;
  }
  for (const Framework framework : {Framework::kNative, Framework::kOpenCl}) {
    for (const Kind& kind : kinds()) {
      const model::Cause of_kind = cause(kind.cause, kind.bottleneck);
      EXPECT_FALSE(is_foreign(what_to_try(of_kind, framework))) << kind.cause.id;
    }
    for (const Bottleneck bottleneck : {Bottleneck::kInput, Bottleneck::kSerial, Bottleneck::kSync,
                                        Bottleneck::kCommunication, Bottleneck::kWakeups}) {
      EXPECT_FALSE(is_foreign(what_to_try(cause({"another", "another"}, bottleneck), framework)));
    }
  }
  EXPECT_NE(what_to_try(Why::kSync, Framework::kOpenCl).find("clWaitForEvents"), std::string::npos);
  EXPECT_NE(what_to_try(Why::kCopy, Framework::kOpenCl).find("CL_MEM_ALLOC_HOST_PTR"),
            std::string::npos);
}

// What a trace lacks is no advice to who has run the job.
TEST(Advice, AJobThatWaitsForNothingKnownIsToReportItsPhases) {
  for (const Framework framework : {Framework::kTorch, Framework::kNative, Framework::kOpenCl}) {
    const auto advice = what_to_try(cause(causes::kUnexplained, Bottleneck::kUnknown), framework);
    EXPECT_NE(advice.find("report its phases"), std::string::npos) << advice;
  }
}

TEST(Advice, TheFrameworkIsThatOfTheCallsUnlessTorchRuns) {
  EXPECT_EQ(framework_of_job({{"hook.wall_s", 3}, {kOpenClCalls, 9}}), Framework::kTorch);
  EXPECT_EQ(framework_of_job({{kOpenClCalls, 9}}), Framework::kOpenCl);
  EXPECT_EQ(framework_of_job({{"wall_s", 3}}), Framework::kNative);
  EXPECT_EQ(framework_of_trace({{kOpenClCalls, 9}}), Framework::kOpenCl);
  EXPECT_EQ(framework_of_trace({{"trace.wall_s", 3}}), Framework::kTorch);
  EXPECT_EQ(framework_of_trace({{kJaxSources, 1}}), Framework::kJax);
  EXPECT_EQ(framework_of_trace({{kServerSteps, 2}, {kCompiledCalls, 1}}), Framework::kServer);
}

TEST(Advice, EvidenceBelongsToTheClassOfItsCause) {
  EXPECT_EQ(class_of("input_wait_share"), Bottleneck::kInput);
  EXPECT_EQ(class_of("hook.fsync_share"), Bottleneck::kSync);
  EXPECT_EQ(class_of("own_threads_share"), Bottleneck::kContention);
  EXPECT_EQ(class_of("wakeup_share"), Bottleneck::kWakeups);
  EXPECT_EQ(class_of(""), Bottleneck::kUnknown);
}

TEST(Course, TellsTheStartTheStepsAndTheCost) {
  model::Profile profile;
  profile.evidence = {{"hook.wall_s", 10},           {"hook.startup_share", 0.2},
                      {"hook.import_share", 0.15},   {"hook.first_batch_share", 0.01},
                      {"hook.warmup_share", 0},      {"hook.steps", 40},
                      {"hook.step_p50_ms", 140},     {"hook.step_p95_ms", 300},
                      {"hook.overhead_share", 0.01}, {"hook.lines_share", 0.005},
                      {"hook.exit_s", 3.5}};
  EXPECT_EQ(course_of(profile),
            (std::vector<std::string>{
                "start-up 2.00 s (imports 1.50 s), first batch 0.1 s",
                "40 steps, median 140 ms, 95th percentile 300 ms",
                "the hook itself took 0.1 s (not counted above), and 50.0 ms of CPU in its own "
                "thread; writing its report after the job took 3.50 s"}));
  EXPECT_TRUE(course_of({}).empty());
}

}  // namespace
}  // namespace amdahl::profile
