#include "profile/trace_causes.h"

#include <gtest/gtest.h>

#include "profile/advice.h"
#include "profile/device_facts.h"
#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;

// Steps of 200 that load for `input`, then launch and compute for the rest.
model::Trace steps_with_input(std::int64_t input) {
  MadeTrace made;
  for (std::int64_t step = 0; step < 10; ++step) {
    const std::int64_t t = step * 200;
    made.annotation(step % 2 == 0 ? "ProfilerStep#2" : "ProfilerStep#3", t, 200);
    made.python("train.py(12): main", t, 200);
    made.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, input);
    made.kernel(t + input + 8, 190 - input, made.call("cudaLaunchKernel", t + input + 4, 3));
  }
  return made.finish();
}

TEST(TraceCauses, InputFirstWithItsLine) {
  const model::Trace trace = steps_with_input(100);
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kInput);
  ASSERT_FALSE(got.profile.causes.empty());
  const model::Cause& first = got.profile.causes.front();
  EXPECT_EQ(first.id, "input.wait");
  EXPECT_EQ(first.because,
            "900 µs of 1.89 ms on 1 device, most in "
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__ at train.py:12 (main) "
            "(900 µs)");
  EXPECT_EQ(got.profile.rule,
            "largest cause: waiting for input 48 %, speed-up at most "
            "2.00x (" +
                first.because + ")");
  ASSERT_EQ(got.steps.size(), 10u);
  EXPECT_EQ(got.steps[0].input, std::chrono::microseconds(100));
  EXPECT_EQ(got.steps[0].device + got.steps[0].idle, got.steps[0].wall);
}

TEST(TraceCauses, ComputeWhereNothingWaits) {
  const model::Trace trace = steps_with_input(1);
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kCompute) << got.profile.rule;
  EXPECT_EQ(got.profile.rule.find("trace.busy_share is "), 0u);
}

TEST(TraceCauses, ASmallCauseDoesNotNameTheClassOfAFullDevice) {
  const model::Trace trace = steps_with_input(11);
  const TraceReport got = report(Prepared(trace));
  EXPECT_GE(got.profile.causes.front().share, 0.05);
  EXPECT_GE(got.profile.evidence.at("trace.compute_share"), 0.9);
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kCompute) << got.profile.rule;
}

// A host that writes, computes and reads, each time waiting: steps of 400.
model::Trace opencl_steps() {
  MadeTrace made;
  for (std::int64_t t = 0; t < 4000; t += 400) {
    made.copy(t + 80, 40, made.call("clEnqueueWriteBuffer (blocking)", t, 125),
              model::CopyKind::kHostToDevice);
    made.kernel(t + 135, 150, made.call("clEnqueueNDRangeKernel", t + 127, 5));
    made.copy(t + 285, 40, made.call("clEnqueueReadBuffer (blocking)", t + 133, 250),
              model::CopyKind::kDeviceToHost);
  }
  return made.finish();
}

TEST(TraceCauses, ABlockingWriteIsACopyAndNoInput) {
  const model::Trace trace = opencl_steps();
  const TraceReport got = report(Prepared(trace));
  std::vector<std::string> names;
  for (const model::Cause& cause : got.profile.causes) names.push_back(cause.name);
  EXPECT_EQ(names, (std::vector<std::string>{"copies that nothing hides",
                                             "the host waits for the device", "launching"}));
  EXPECT_EQ(got.profile.evidence.at(kOpenClCalls), 30);
  ASSERT_FALSE(got.profile.missing.empty());
  EXPECT_EQ(got.profile.missing.back(),
            "steps: none are marked; put each iteration into an NVTX range named ProfilerStep#1, "
            "ProfilerStep#2, ...");
}

TEST(TraceCauses, DevicesTellOfAJobWhoseTraceIsAllOfIt) {
  const model::Trace trace = opencl_steps();
  const TraceReport got = report(Prepared(trace));
  const Facts facts = facts_of(got, std::chrono::microseconds(5000));
  EXPECT_DOUBLE_EQ(facts.evidence.at(kDeviceComputes), 1500.0 / 5000);
  ASSERT_FALSE(facts.causes.empty());
  EXPECT_EQ(facts.causes[0].id, "input.exposed_copies");
  EXPECT_DOUBLE_EQ(facts.causes[0].share, got.profile.causes[0].accelerator_seconds / 5e-3);
  const Facts window = facts_of(got, std::chrono::microseconds(50000));
  EXPECT_TRUE(window.causes.empty());
  EXPECT_FALSE(window.evidence.contains(kDeviceComputes));
  EXPECT_TRUE(window.evidence.contains("trace.busy_share"));
}

TEST(TraceCauses, CannotTellWithoutDevicesOrSteps) {
  MadeTrace made;
  made.op("aten::add", 0, 10);
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(got.profile.rule, "unknown: the trace has neither device events nor steps");
  EXPECT_EQ(got.profile.missing.size(), 2u);
}

TEST(TraceCauses, WithoutDevicesTheStepsCount) {
  MadeTrace made;
  made.annotation("ProfilerStep#1", 0, 1000);
  made.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 300);
  made.op("aten::mm", 300, 700);
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kInput);
  EXPECT_DOUBLE_EQ(got.profile.causes.front().share, 0.3);
}

TEST(TraceCauses, WholeStepsTellWhatADeviceWaitsForBeforeItsFirstEvent) {
  MadeTrace made;
  made.annotation("ProfilerStep#7", 0, 1000);
  made.python("image.py(3): preprocess", 10, 690);
  made.kernel(720, 200, made.call("cudaLaunchKernel", 710, 5));
  made.call("cudaDeviceSynchronize", 716, 205);
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kSerial) << got.profile.rule;
  ASSERT_FALSE(got.profile.causes.empty());
  EXPECT_NE(got.profile.causes[0].because.find("of 1 ms of the steps, most "), std::string::npos)
      << got.profile.causes[0].because;
  EXPECT_NE(got.profile.causes[0].because.find("image.py:3 (preprocess)"), std::string::npos)
      << got.profile.causes[0].because;
}

TEST(TraceCauses, CopiesWithinADeviceStarveNobody) {
  for (const bool within : {false, true}) {
    MadeTrace made;
    for (int i = 0; i < 10; ++i) {
      made.kernel(100 * i + 10, 50, made.call("cudaLaunchKernel", 100 * i, 2));
      made.copy(100 * i + 60, 40, made.call("cudaMemcpyAsync", 100 * i + 4, 2),
                within ? model::CopyKind::kDeviceToDevice : model::CopyKind::kHostToDevice);
    }
    const model::Trace trace = made.finish();
    const TraceReport got = report(Prepared(trace));
    EXPECT_EQ(got.profile.bottleneck, within ? Bottleneck::kCompute : Bottleneck::kInput);
    ASSERT_FALSE(got.profile.causes.empty());
    EXPECT_EQ(got.profile.causes[0].id, "input.exposed_copies");
  }
}

TEST(TraceCauses, CannotTellFromWhatIsLeftOfAFile) {
  MadeTrace made;
  made.annotation("ProfilerStep#1", 0, 1000);
  made.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 300);
  made.builder().lose(0, model::LossKind::kTruncated, 1, "byte 812");
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(got.profile.rule, "unknown: a file is cut short before its first device event");
}

TEST(TraceCauses, CannotTellWhatGraphsHide) {
  MadeTrace made;
  const std::uint32_t graph = made.call("cudaGraphLaunch", 0, 5);
  made.kernel(10, 10, graph, "first");
  made.kernel(1000, 10, graph, "last");
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(
      got.profile.rule,
      "unknown: 98 % of the time is inside CUDA graphs; the trace does not record their kernels");
}

TEST(TraceCauses, EmptyTracesGiveEmptyReports) {
  const model::Trace trace;
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.wall, Nanos{});
  EXPECT_TRUE(got.path.segments.empty());
  EXPECT_EQ(got.profile.rule, "unknown: the trace has neither device events nor steps");
}

}  // namespace
}  // namespace amdahl::profile
