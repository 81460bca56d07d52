#include "profile/gaps.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

using std::chrono::microseconds;

Nanos gap_of(const DeviceGaps& gaps, Why why) { return gaps.by_why[at(why)]; }

Nanos sum(const DeviceGaps& gaps) {
  Nanos all{};
  for (const Nanos time : gaps.by_why) all += time;
  return all;
}

TEST(Gaps, EachReasonGetsItsTime) {
  MadeTrace made;
  made.kernel(0, 10, made.call("cudaLaunchKernel", 0, 5));
  // Input from 20 to 120, then plain work until the launch at 140, which takes 6 to start.
  made.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 20, 100);
  made.op("aten::conv2d", 130, 20);
  made.kernel(146, 10, made.call("cudaLaunchKernel", 140, 5));
  // Already queued when the device became free.
  made.kernel(158, 2, made.call("cudaLaunchKernel", 146, 3));
  // Not launched by anyone we know.
  made.kernel(170, 10, 0);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const std::vector<DeviceGaps> all = gaps(prepared);
  ASSERT_EQ(all.size(), 1u);
  const DeviceGaps& got = all.front();
  EXPECT_EQ(got.span, microseconds(180));
  EXPECT_EQ(got.busy, microseconds(32));
  EXPECT_EQ(gap_of(got, Why::kInput), microseconds(100));
  EXPECT_EQ(gap_of(got, Why::kHost), microseconds(30));
  EXPECT_EQ(gap_of(got, Why::kLaunch), microseconds(6));
  EXPECT_EQ(gap_of(got, Why::kQueue), microseconds(2));
  EXPECT_EQ(gap_of(got, Why::kUnknown), microseconds(10));
  EXPECT_EQ(sum(got), got.idle);
  ASSERT_FALSE(got.places.empty());
  EXPECT_EQ(got.places.front().what, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_EQ(got.places.front().time, microseconds(100));
}

TEST(Gaps, WorkAfterAWaitIsTheWaitsDoing) {
  MadeTrace made;
  made.kernel(10, 100, made.call("cudaLaunchKernel", 0, 5));
  // The host waits for the kernel from 20 to 112, then works 30 until it launches again.
  made.python("train.py(42): main", 0, 400);
  made.op("aten::item", 18, 96);
  made.call("cudaStreamSynchronize", 20, 92);
  made.kernel(148, 10, made.call("cudaLaunchKernel", 142, 4));
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  EXPECT_EQ(got.idle, microseconds(38));
  EXPECT_EQ(gap_of(got, Why::kSync), microseconds(32));
  ASSERT_FALSE(got.places.empty());
  EXPECT_EQ(got.places.front().what, "aten::item") << "the call that waited is the place";
  EXPECT_EQ(gap_of(got, Why::kLaunch), microseconds(6));
  EXPECT_EQ(got.places.front().line, "train.py:42 (main)");
}

TEST(Gaps, ShortWaitsOweLittle) {
  MadeTrace made;
  made.kernel(10, 15, made.call("cudaLaunchKernel", 0, 5));
  // It waited 5 for the device, so that 5 of the 95 that follow would be gone without the wait.
  made.call("cudaStreamSynchronize", 20, 6);
  made.kernel(125, 10, made.call("cudaLaunchKernel", 121, 4));
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  EXPECT_EQ(gap_of(got, Why::kSync), microseconds(1 + 5));
  EXPECT_EQ(gap_of(got, Why::kHost), microseconds(90));
  EXPECT_EQ(gap_of(got, Why::kLaunch), microseconds(4));
}

TEST(Gaps, AFunctionIsNotChargedWithWhatFollowedItsLaunch) {
  MadeTrace made;
  made.kernel(10, 5, made.call("cudaLaunchKernel", 0, 5));
  // The function is over after 30; the kernel that it launched begins 666,000 later.
  made.python("train.py(42): step", 20, 30);
  made.op("aten::mm", 24, 20);
  made.kernel(666'040, 5, made.call("cudaLaunchKernel", 30, 10), "gemm");
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  Nanos charged{};
  for (const GapPlace& place : got.places) {
    if (place.line == "train.py:42 (step)") charged += place.time;
  }
  EXPECT_EQ(charged, microseconds(20)) << "from its beginning to the return of its launch";
  ASSERT_FALSE(got.places.empty());
  EXPECT_EQ(got.places.front().what, "before gemm");
  EXPECT_EQ(got.places.front().line, "");
  EXPECT_EQ(sum(got), got.idle);
}

TEST(Gaps, ACallThatTwoGapsBeginInHasWaitedOnce) {
  MadeTrace made;
  made.kernel(0, 100, 0);
  // One thread waits from 10 to 210, and works then; another keeps the device busy meanwhile.
  made.op("aten::item", 10, 200);
  made.call("cudaStreamSynchronize", 10, 200);
  made.kernel(130, 10, 0);
  made.kernel(160, 10, 0);
  made.kernel(500, 10, made.call("cudaLaunchKernel", 490, 5));
  made.on_stream(9);
  made.kernel(600, 10, made.call("cudaLaunchKernel", 205, 3));
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  Nanos charged{};
  for (const GapPlace& place : got.places) {
    if (place.what == "aten::item") charged += place.time;
  }
  EXPECT_LE(charged, microseconds(200));
  EXPECT_EQ(sum(got), got.idle);
}

TEST(Gaps, AnotherThreadOfTheProcessMayBeAtWork) {
  MadeTrace made;
  made.kernel(5, 5, made.call("cudaLaunchKernel", 0, 5));
  made.on_thread(2);
  made.op("autograd::engine::evaluate_function: AddmmBackward0", 20, 30);
  made.kernel(56, 10, made.call("cudaLaunchKernel", 52, 3));
  made.on_thread(1);
  made.annotation("save_checkpoint", 10, 8);
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  EXPECT_EQ(gap_of(got, Why::kCheckpoint), microseconds(8));
  EXPECT_EQ(gap_of(got, Why::kHost), microseconds(34));
  EXPECT_EQ(gap_of(got, Why::kLaunch), microseconds(4));
  EXPECT_EQ(sum(got), got.idle);
}

// As Nsight Systems records with --trace=osrt: a thread that watches sleeps in poll all the time.
TEST(Gaps, AnotherThreadThatSleepsIsNotAtWork) {
  MadeTrace made;
  made.kernel(5, 5, made.call("cudaLaunchKernel", 0, 5));
  made.python("train.py(42): main", 0, 1000);
  made.kernel(500, 10, made.call("cudaLaunchKernel", 490, 8));
  made.on_thread(2);
  made.call("cudaEventCreate", 1, 1);
  for (const char* name : {"poll", "pthread_cond_timedwait", "read", "ioctl"}) {
    made.system_call(name, 3, 900);
  }
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  ASSERT_FALSE(got.places.empty());
  EXPECT_EQ(got.places.front().what, "train.py(42): main");
  EXPECT_EQ(got.places.front().line, "train.py:42 (main)");
  EXPECT_EQ(got.places.front().time, microseconds(480));
}

TEST(Gaps, ALaunchingThreadThatSleepsLeavesTheIdleTimeToTheOneAtWork) {
  MadeTrace made;
  made.kernel(5, 5, made.call("cudaLaunchKernel", 0, 5));
  made.system_call("pthread_cond_wait", 10, 300);
  made.system_call("read", 310, 90);
  made.kernel(500, 10, made.call("cudaLaunchKernel", 490, 8));
  made.on_thread(2);
  made.op("aten::conv2d", 50, 200);
  const model::Trace trace = made.finish();
  std::map<std::string, Nanos> times;
  const DeviceGaps got = gaps(Prepared(trace)).front();
  for (const GapPlace& place : got.places) times[place.what] = place.time;
  EXPECT_EQ(times["aten::conv2d"], microseconds(200));
  EXPECT_EQ(times["pthread_cond_wait"], microseconds(100)) << "while nobody is at work";
  EXPECT_EQ(times["read"], microseconds(90)) << "its own work";
}

TEST(Gaps, AFirstLaunchThatLoadsIsWarmUp) {
  MadeTrace made;
  made.kernel(10, 5, made.call("cudaLaunchKernel", 0, 5), "first");
  // The module of "second" is loaded by its first launch; a later one of it is only slow.
  made.kernel(9'020, 5, made.call("cudaLaunchKernel", 20, 8'990), "second");
  made.kernel(9'060, 5, made.call("cudaLaunchKernel", 9'050, 5), "second");
  made.kernel(13'080, 5, made.call("cudaLaunchKernel", 9'070, 4'000), "second");
  made.kernel(13'100, 5, made.call("cudaLaunchKernel", 13'090, 5), "first");
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  EXPECT_EQ(gap_of(got, Why::kWarmup), microseconds(8'990));
  EXPECT_EQ(gap_of(got, Why::kLaunch), microseconds(10 + 10 + 4'010 + 10));
  EXPECT_EQ(sum(got), got.idle);
}

TEST(Gaps, WhatLoadsOrCompilesIsWarmUp) {
  MadeTrace made;
  made.kernel(10, 5, made.call("cudaLaunchKernel", 0, 5));
  made.call("cuModuleLoadData", 20, 100);
  made.python("torch/_inductor/compile_fx.py(700): compile_fx", 130, 300);
  made.call("cudaStreamCreateWithFlags", 450, 2'000);
  made.call("cudaStreamCreateWithFlags", 2'460, 2'000);
  made.kernel(4'500, 5, made.call("cudaLaunchKernel", 4'490, 5));
  const model::Trace trace = made.finish();
  const DeviceGaps got = gaps(Prepared(trace)).front();
  EXPECT_EQ(gap_of(got, Why::kWarmup), microseconds(100 + 300 + 2'000))
      << "of the calls, the first";
}

TEST(Gaps, CapturingAGraphIsWarmUp) {
  MadeTrace made;
  made.kernel(0, 100, made.call("cudaLaunchKernel", 0, 5));
  made.call("hipStreamBeginCapture", 200, 5);
  made.op("aten::linear", 300, 5'000);
  made.call("hipStreamEndCapture", 5'400, 100);
  made.kernel(5'600, 100, made.call("hipGraphLaunch", 5'510, 10));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const DeviceGaps got = gaps(prepared).front();
  EXPECT_GE(gap_of(got, Why::kWarmup), microseconds(5'000));
  EXPECT_LT(got.in_graphs, microseconds(500));
}

TEST(Gaps, PreparingInputsOutsideALoaderIsInput) {
  MadeTrace made;
  made.kernel(0, 100, made.call("cudaLaunchKernel", 0, 5));
  made.python("transformers/pipelines/video_classification.py(174): read_video_pyav", 150, 2'000);
  made.python("transformers/image_transforms.py(390): normalize", 2'200, 3'000);
  made.kernel(5'300, 100, made.call("cudaLaunchKernel", 5'250, 10));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const DeviceGaps got = gaps(prepared).front();
  EXPECT_EQ(gap_of(got, Why::kInput), microseconds(5'000));
}

// Nobody knows what a device is at that does not begin with what it has.
TEST(Gaps, AHoleAfterALaunchIsNotExplained) {
  MadeTrace made;
  made.kernel(10, 100, made.call("cudaLaunchKernel", 0, 5));
  made.kernel(115, 5, made.call("cudaLaunchKernel", 20, 5));     // Queued, and on in 5.
  made.kernel(50'000, 5, made.call("cudaLaunchKernel", 30, 5));  // Queued, and nothing happens.
  made.kernel(90'000, 5, made.call("cudaLaunchKernel", 50'010, 5));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const DeviceGaps got = gaps(prepared).front();
  EXPECT_EQ(gap_of(got, Why::kQueue), microseconds(5));
  EXPECT_EQ(gap_of(got, Why::kUnknown), microseconds(50'000 - 120 + 90'000 - 50'015));
}

TEST(Gaps, AreOfEachDeviceByItself) {
  MadeTrace made;
  made.kernel(0, 10, made.call("cudaLaunchKernel", 0, 1));
  made.kernel(20, 10, made.call("cudaLaunchKernel", 15, 1));
  made.on_device(1);
  made.kernel(0, 30, made.call("cudaLaunchKernel", 0, 1));
  const model::Trace trace = made.finish();
  const std::vector<DeviceGaps> all = gaps(Prepared(trace));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].idle, microseconds(10));
  EXPECT_EQ(all[1].idle, microseconds(0));
}

TEST(Gaps, QueueDepthCountsWhatWasLaunchedAndNotStarted) {
  MadeTrace made;
  made.kernel(10, 10, made.call("cudaLaunchKernel", 0, 1));
  made.kernel(20, 10, made.call("cudaLaunchKernel", 2, 1));
  made.kernel(30, 10, made.call("cudaLaunchKernel", 4, 1));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  std::vector<int> depths;
  for (const Depth& depth : queue_depth(prepared, prepared.devices.of_stream(0))) {
    depths.push_back(depth.waiting);
  }
  EXPECT_EQ(depths, (std::vector{1, 2, 3, 2, 1, 0}));
}

}  // namespace
}  // namespace amdahl::profile
