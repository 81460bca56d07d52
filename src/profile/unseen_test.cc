// What a trace does not show is not taken for something else.
#include <gtest/gtest.h>

#include "profile/trace_report.h"
#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

using model::Bottleneck;
using std::chrono::microseconds;

TEST(Unseen, AGraphThatShowsNoKernelsMayBeWhatTheDeviceWasAt) {
  MadeTrace made;
  made.kernel(10, 10, made.call("cudaLaunchKernel", 0, 5));
  made.call("cudaGraphLaunch", 20, 5);
  made.kernel(9000, 10, made.call("cudaLaunchKernel", 30, 5));
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(
      got.profile.rule,
      "unknown: 100 % of the time is inside CUDA graphs; the trace does not record their kernels");
}

TEST(Unseen, AnEventThatStartsLongAfterItsLaunchWasNotBeingLaunched) {
  MadeTrace made;
  made.kernel(10, 10, made.call("cudaLaunchKernel", 0, 5));
  made.kernel(9000, 10, made.call("cudaLaunchKernel", 30, 5));
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  EXPECT_EQ(got.by_why[at(Why::kHost)], microseconds(10));
  EXPECT_EQ(got.by_why[at(Why::kLaunch)], microseconds(5));
  EXPECT_EQ(got.by_why[at(Why::kUnknown)], got.idle - microseconds(15));
}

TEST(Unseen, WorkBeforeTheRecordingIsNoLaunch) {
  MadeTrace made;
  made.op("aten::mm", 0, 10);
  made.kernel(9000, 500, made.call("cudaLaunchKernel", 10, 5));
  made.call("cudaDeviceSynchronize", 20, 9490);
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.path.by_why[at(Why::kUnknown)], microseconds(8990));
  EXPECT_EQ(got.path.by_why[at(Why::kLaunch)], Nanos{});
  EXPECT_EQ(got.path.by_why[at(Why::kKernel)], microseconds(500));
}

TEST(Unseen, ADeviceThatIsBusyForAMomentDoesNotMakeAJobOfCompute) {
  MadeTrace made;
  made.op("aten::mm", 0, 9'000);
  made.kernel(9'010, 90, made.call("cudaLaunchKernel", 9'000, 5));
  made.call("cudaDeviceSynchronize", 9'010, 95);
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kUnknown);
  EXPECT_EQ(got.profile.rule,
            "unknown: all device events lie within 90 µs of 9.11 ms; record whole steps in steady "
            "state; most of the critical path (99 %) is host: aten::mm");
}

// In all this time, or only as long as the device is busy.
model::Trace busy_device(std::int64_t host_until) {
  MadeTrace made;
  made.op("executor::run", 0, host_until);
  for (std::int64_t i = 0; i < 10; ++i) {
    made.kernel(100 + i * 980, 979, made.call("cudaLaunchKernel", 50 + i * 10, 5));
  }
  return made.finish();
}

TEST(Unseen, ABusyDeviceThatNobodyIsSeenToWaitForIsThePath) {
  const model::Trace trace = busy_device(10'000);
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kCompute);
  EXPECT_GE(got.profile.evidence.at("trace.path_device_share"), 0.95);
}

TEST(Unseen, ABusyDeviceThatTheHostOutlastsIsSaid) {
  const model::Trace trace = busy_device(11'500);
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.profile.bottleneck, Bottleneck::kCompute);
  bool said = false;
  for (const std::string& missing : got.profile.missing) {
    said = said || missing.starts_with("waits: devices are busy 100 % of the time");
  }
  EXPECT_TRUE(said);
}

TEST(Unseen, ThreadsWithNothingButPythonAreNotWhatOthersWaitFor) {
  MadeTrace made;
  made.op("aten::mm", 0, 100);
  made.kernel(20, 60, made.call("cudaLaunchKernel", 10, 5));
  model::TraceBuilder& builder = made.builder();
  builder.trace().host_events.push_back({.start = Nanos{},
                                         .duration = microseconds(5000),
                                         .name = builder.intern("tqdm/_monitor.py(60): run"),
                                         .thread = builder.thread(builder.process(0, 0), 0),
                                         .kind = model::HostKind::kPython});
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  EXPECT_EQ(got.wall, microseconds(100));
  EXPECT_EQ(got.path.by_why[at(Why::kLogging)], Nanos{});
}

TEST(Unseen, ALanguageModelThatDecodesIsNotInput) {
  EXPECT_EQ(host_why("capture_32_DECODE", model::HostKind::kAnnotation), Why::kHost);
  EXPECT_EQ(host_why("decode_step", model::HostKind::kAnnotation), Why::kHost);
  EXPECT_EQ(host_why("decode_jpeg", model::HostKind::kAnnotation), Why::kInput);
  EXPECT_EQ(host_why("decode", model::HostKind::kAnnotation), Why::kInput);
}

}  // namespace
}  // namespace amdahl::profile
