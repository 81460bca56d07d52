#include "profile/what_if.h"

#include <map>

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

// Each step: 100 of copying that nothing hides, 50 of compute, 50 of waiting for input.
TEST(WhatIf, WhatDevicesStillDoBoundsPairsToo) {
  MadeTrace made;
  for (std::int64_t t = 0; t < 1000; t += 200) {
    made.annotation("load batch", t, 50);
    made.copy(t + 50, 100, made.call("cudaMemcpyAsync", t + 50, 1), model::CopyKind::kHostToDevice);
    made.kernel(t + 150, 50, made.call("cudaLaunchKernel", t + 52, 1));
    made.call("cudaDeviceSynchronize", t + 54, 146);
  }
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  const auto ceiling = [&](const char* text) {
    return gain_of(prepared, graph, *parse_what_if(text)).ceiling;
  };
  EXPECT_DOUBLE_EQ(ceiling("copy=0"), 2);
  EXPECT_DOUBLE_EQ(ceiling("copy=0,sync=0,input=0"), 4) << "the kernels stay";
  EXPECT_DOUBLE_EQ(ceiling("sync=0,input=0"), 1000.0 / 750);
  const Gains found = gains(prepared, graph);
  ASSERT_FALSE(found.pairs.empty());
  for (const Gain& gain : found.pairs) EXPECT_LE(gain.ceiling, 4 + 1e-9);
}

// Programmatic launches let a kernel begin before the one before it has ended.
TEST(WhatIf, KernelsOfOneStreamStayOneAfterTheOther) {
  MadeTrace made;
  for (int i = 0; i < 10; ++i) {
    const int at = 300 * i;
    const std::uint32_t first = made.call("cudaLaunchKernel", at, 5);
    const std::uint32_t second = made.call("cudaLaunchKernel", at + 10, 5);
    made.op("aten::mm", at + 20, 275);
    made.kernel(at + 20, 50, first, "a");
    made.kernel(at + 65, 50, second, "b");
  }
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  const double most = to_seconds(graph.to - graph.from) / 950e-6;
  const Gains found = gains(prepared, graph, 3);
  ASSERT_FALSE(found.alone.empty());
  EXPECT_EQ(found.alone[0].first, Why::kHost);
  EXPECT_LE(found.alone[0].ceiling, most);
  EXPECT_LE(found.alone[0].expected, most);
  EXPECT_GT(found.alone[0].expected, 2);
  for (const Gain& pair : found.pairs) EXPECT_LE(pair.expected, most);
  EXPECT_EQ(replay(prepared, graph, {}), graph.to - graph.from);
}

TEST(CriticalPath, NamesTheFunctionThatTookTheTime) {
  MadeTrace made;
  made.python("train.py(1): main", 0, 2000);
  made.python("<built-in function _cuda_synchronize>", 1, 2);
  made.python("pipeline.py(2): run", 5, 1990);
  made.python("image.py(3): preprocess", 10, 900);
  for (int i = 0; i < 40; ++i) made.python("image.py(9): pixel", 20 + 20 * i, 9);
  made.kernel(1000, 500, made.call("cudaLaunchKernel", 950, 10));
  made.call("cudaDeviceSynchronize", 970, 531);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared), 3);
  ASSERT_FALSE(path.shares.empty());
  EXPECT_EQ(path.shares[0].why, Why::kHost);
  EXPECT_EQ(path.shares[0].what, "image.py(3): preprocess");
}

TEST(CriticalPath, ChargesEachFunctionWithItsOwnTime) {
  MadeTrace made;
  made.python("train.py(1): main", 0, 1000);
  // One stretch without an operator, in two functions.
  made.python("a.py(2): brief", 1, 3);
  made.python("b.py(3): long", 5, 600);
  made.kernel(640, 500, made.call("cudaLaunchKernel", 620, 10));
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  std::map<std::string, Nanos> charged;
  for (const PathShare& share : critical_path(prepared, work_graph(prepared)).shares) {
    charged[share.line] += share.time;
  }
  EXPECT_EQ(charged["a.py:2 (brief)"], microseconds(3));
  EXPECT_EQ(charged["b.py:3 (long)"], microseconds(600));
  EXPECT_LE(charged["train.py:1 (main)"], microseconds(1000 - 603));
}

// Nodes of a graph may run beside each other on what is called one stream.
TEST(CriticalPath, FollowsTheLongerOfTwoBesideEachOther) {
  MadeTrace made;
  const std::uint32_t graph_launch = made.call("cudaGraphLaunch", 0, 5);
  made.kernel(10, 1000, graph_launch, "long");
  made.kernel(20, 100, graph_launch, "short");
  made.kernel(1011, 100, graph_launch, "after");
  made.call("cudaDeviceSynchronize", 10, 1105);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared), 3);
  ASSERT_FALSE(path.shares.empty());
  EXPECT_EQ(path.shares[0].what, "long");
  EXPECT_GE(path.by_why[at(Why::kKernel)], Nanos{1'100'000});
}

TEST(WhatIf, SlowerIsBelowOne) {
  const model::Trace trace = loop_with_input_and_item();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  const Gain gain = gain_of(prepared, graph, *parse_what_if("input=2"));
  EXPECT_DOUBLE_EQ(gain.expected, 600.0 / 900);
  EXPECT_LE(gain.ceiling, 1);
}

// The capture ends before what was launched runs: launches that wait for room are no host work.
TEST(WhatIf, LaunchesOfWorkThatIsNotRecordedMayWaitForRoom) {
  MadeTrace made;
  const std::uint32_t first = made.call("cudaMemcpyAsync", 0, 5);
  for (std::int64_t i = 0; i < 6; ++i) {
    made.copy(10 + i * 1000, 1000, i == 0 ? first : 0, model::CopyKind::kHostToDevice);
    made.call("cudaLaunchKernel", 20 + i * 1000, 1000);
  }
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const WorkGraph graph = work_graph(prepared);
  EXPECT_EQ(replay(prepared, graph, {}), microseconds(6020));
  EXPECT_LT(replayed(prepared, graph, "copy=0"), microseconds(200));
  EXPECT_GT(replayed(prepared, graph, "launch=0"), microseconds(5900));
}

TEST(WhatIf, SaysWhichKernelsThereAreNot) {
  const model::Trace trace = loop_with_input_and_item();
  const WhatIf asked = *parse_what_if("kernel:GEMM=0,kernel:conv=0");
  EXPECT_EQ(unknown_kernels(trace, asked), std::vector<std::string>{"conv"});
}

TEST(WhatIf, SaysWhatItDoesNotKnow) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"inptu=0",
       "--what-if: unknown cause 'inptu', did you mean 'input'? known: kernel, copy, comm, input, "
       "host, sync, launch, queue, logging, checkpoint, gc, straggler, warmup, "
       "kernel:PART-OF-ITS-NAME"},
      {"weather=0.5",
       "--what-if: unknown cause 'weather'; known: kernel, copy, comm, input, host, sync, launch, "
       "queue, logging, checkpoint, gc, straggler, warmup, kernel:PART-OF-ITS-NAME"},
      {"input", "--what-if 'input' has no factor; try input=0"},
      {"", "--what-if '' has no factor; try input=0"},
      {"input=-1",
       "--what-if 'input=-1': '-1' is not a factor from 0 (removed) to 100; try input=0"},
      {"input=0,sync=0,input=0.5", "--what-if names 'input' twice"},
      {"kernel:gemm=0,kernel:gemm=0", "--what-if names 'kernel:gemm' twice"},
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

// No call that waits is recorded, and the host ends a little later than the device.
TEST(CriticalPath, IsTheDevicesWhereTheHostIsAheadOfIt) {
  MadeTrace made;
  for (int i = 0; i < 40; ++i) {
    made.op("aten::mm", i * 1000, 950);
    made.kernel(60 + i * 1000, 996, made.call("cudaLaunchKernel", i * 1000 - (i > 0 ? 40 : 0), 5));
  }
  made.op("aten::mm", 40'000, 90);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared));
  EXPECT_GE(device_time(path.by_why), (path.to - path.from) * 95 / 100);
  Nanos sum{};
  for (const Nanos time : path.by_why) sum += time;
  EXPECT_EQ(sum, path.to - path.from);
}

// Threads launch to streams of their own, as servers do: each stream waits for its thread, and the
// device for nothing.
TEST(CriticalPath, IsTheDevicesWhereItsStreamsTakeTurns) {
  MadeTrace made;
  for (int i = 0; i < 40; ++i) {
    made.on_thread(1 + i % 2);
    made.on_stream(7 + i % 2);
    made.op("aten::mm", i * 1000 - (i > 0 ? 990 : 0), i > 0 ? 1980 : 990);
    made.kernel(i * 1000 + 10, 996, made.call("cudaLaunchKernel", i * 1000, 5));
  }
  made.op("aten::mm", 40'990, 100);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared));
  EXPECT_GE(device_time(path.by_why), (path.to - path.from) * 95 / 100);
  Nanos at_time = path.from;
  for (const PathSegment& segment : path.segments) {
    EXPECT_EQ(segment.from, at_time);
    at_time = segment.to;
  }
  EXPECT_EQ(at_time, path.to);
}

TEST(CriticalPath, IsTheHostsWhereTheDeviceWaitsForIt) {
  MadeTrace made;
  for (int i = 0; i < 40; ++i) {
    made.op("aten::mm", i * 1000, 990);
    made.kernel(i * 1000 + 920, 900, made.call("cudaLaunchKernel", i * 1000 + 910, 5));
  }
  made.op("aten::mm", 40'000, 900);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const CriticalPath path = critical_path(prepared, work_graph(prepared));
  EXPECT_LE(device_time(path.by_why), (path.to - path.from) / 10);
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
