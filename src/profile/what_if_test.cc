#include "profile/what_if.h"

#include <gtest/gtest.h>

#include "profile/critical_path.h"
#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

using std::chrono::microseconds;

Nanos replayed(const Prepared& prepared, const WorkGraph& graph, const char* text) {
  return replay(prepared, graph, *parse_what_if(text));
}

// Three steps of 100 of input, 20 of launching work and a kernel of 50 that the host waits for.
model::Trace loop_with_input_and_item() {
  MadeTrace made;
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t t = step * 200;
    made.annotation(step == 0   ? "ProfilerStep#0"
                    : step == 1 ? "ProfilerStep#1"
                                : "ProfilerStep#2",
                    t, 200);
    made.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", t, 100);
    made.op("aten::linear", t + 110, 20);
    made.kernel(t + 130, 50, made.call("cudaLaunchKernel", t + 120, 10));
    made.op("aten::item", t + 140, 50);
    made.call("cudaStreamSynchronize", t + 141, 44);
  }
  return made.finish();
}

TEST(WhatIf, WithoutAChangeTheReplayIsTheMeasurement) {
  const model::Trace trace = loop_with_input_and_item();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  EXPECT_EQ(graph.to - graph.from, microseconds(600));
  EXPECT_EQ(replay(prepared, graph, {}), graph.to - graph.from);
}

TEST(WhatIf, RemovesWhatItIsToldTo) {
  const model::Trace trace = loop_with_input_and_item();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  // Each step waits for its kernel, so that 100 of input go from each of the three.
  EXPECT_EQ(replayed(prepared, graph, "input=0"), microseconds(300));
  EXPECT_EQ(replayed(prepared, graph, "input=0.5"), microseconds(450));
  // Half of each kernel is 25.
  EXPECT_EQ(replayed(prepared, graph, "kernel:GEMM=0.5"), microseconds(525));
  EXPECT_EQ(replayed(prepared, graph, "kernel:conv=0"), microseconds(600));
  // Without the wait the host goes on 39 earlier and saves the 5 after it; all the same, the last
  // step's kernel is waited for by no one and ends when it ends.
  EXPECT_LT(replayed(prepared, graph, "sync=0"), microseconds(600));
  EXPECT_GT(replayed(prepared, graph, "sync=0"), microseconds(600 - 3 * 44));
}

TEST(WhatIf, PairsDoNotAdd) {
  const model::Trace trace = loop_with_input_and_item();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  const Gains found = gains(prepared, graph);
  ASSERT_GE(found.alone.size(), 2u);
  EXPECT_EQ(found.alone.front().first, Why::kInput);
  EXPECT_DOUBLE_EQ(found.alone.front().share, 0.5);
  EXPECT_DOUBLE_EQ(found.alone.front().ceiling, 2);
  EXPECT_DOUBLE_EQ(found.alone.front().expected, 2);
  for (const Gain& gain : found.alone) EXPECT_LE(gain.expected, gain.ceiling);
  for (const Gain& gain : found.pairs) EXPECT_LE(gain.expected, gain.ceiling);
}

TEST(WhatIf, SaysWhatItDoesNotKnow) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"inptu=0",
       "--what-if knows no 'inptu', did you mean 'input'? it knows kernel, copy, comm, input, "
       "host, sync, launch, queue, logging, checkpoint, gc, straggler, kernel:PART-OF-ITS-NAME"},
      {"weather=0.5",
       "--what-if knows no 'weather'; it knows kernel, copy, comm, input, host, sync, launch, "
       "queue, logging, checkpoint, gc, straggler, kernel:PART-OF-ITS-NAME"},
      {"input", "--what-if 'input' has no factor; try input=0"},
      {"", "--what-if '' has no factor; try input=0"},
      {"input=-1",
       "--what-if 'input=-1': '-1' is not a factor from 0 (removed) to 100; try input=0"},
      {"input=nan",
       "--what-if 'input=nan': 'nan' is not a factor from 0 (removed) to 100; try input=0"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    const auto got = parse_what_if(c.text);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text, c.error);
  }
  EXPECT_EQ(describe(*parse_what_if("kernel:gemm=0.8, input=0")), "input=0,kernel:gemm=0.8");
}

TEST(CriticalPath, CoversTheWallTimeAndSaysWhatItWentTo) {
  const model::Trace trace = loop_with_input_and_item();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared));
  Nanos sum{};
  Nanos at_time = path.from;
  for (const PathSegment& segment : path.segments) {
    EXPECT_EQ(segment.from, at_time);
    at_time = segment.to;
    sum += segment.to - segment.from;
  }
  EXPECT_EQ(at_time, path.to);
  EXPECT_EQ(sum, microseconds(600));
  EXPECT_EQ(path.by_why[at(Why::kInput)], microseconds(300));
  EXPECT_EQ(path.by_why[at(Why::kKernel)], microseconds(150));
  EXPECT_EQ(device_time(path_within(path, Nanos{}, microseconds(200))), microseconds(50));
}

TEST(CriticalPath, IsTheDevicesWhereTheQueueIsFull) {
  // The host launches all at once and waits at the end: no sync event says so.
  MadeTrace made;
  for (std::int64_t i = 0; i < 10; ++i) {
    made.kernel(10 + i * 100, 99, made.call("cudaLaunchKernel", i * 5, 4));
  }
  made.call("cudaDeviceSynchronize", 60, 960);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared));
  EXPECT_EQ(path.to - path.from, microseconds(1020));
  EXPECT_EQ(path.by_why[at(Why::kKernel)], microseconds(990));
  EXPECT_EQ(path.by_why[at(Why::kQueue)], microseconds(9));
  EXPECT_EQ(path.by_why[at(Why::kHost)], Nanos{});
}

TEST(CriticalPath, GoesThroughTheThreadThatDidTheWork) {
  MadeTrace made;
  made.annotation("ProfilerStep#1", 0, 1000);
  made.op("aten::linear", 0, 300);
  made.on_thread(2);
  made.op("autograd::engine::evaluate_function: AddmmBackward0", 350, 400);
  made.call("cudaEventQuery", 360, 1);
  made.on_thread(1);
  made.op("Optimizer.step#SGD.step", 800, 200);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  const CriticalPath path = critical_path(prepared, graph);
  EXPECT_EQ(replay(prepared, graph, {}), microseconds(1000));
  bool seen = false;
  for (const PathShare& share : path.shares) {
    seen = seen || share.what == "autograd::engine::evaluate_function: AddmmBackward0";
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace amdahl::profile
