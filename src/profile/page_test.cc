#include "profile/page.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/text.h"
#include "profile/testing/program.h"
#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

using std::chrono::microseconds;

constexpr int kWide = 400;  // So that no line is wrapped.

std::string page_of(const model::Trace& trace) {
  return draw(report(Prepared(trace)), kWide, false);
}

std::vector<std::string> lines_of(const std::string& page) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(page, '\n')) lines.emplace_back(line);
  return lines;
}

bool has_line(const std::string& page, std::string_view start) {
  const std::vector<std::string> lines = lines_of(page);
  return std::ranges::any_of(lines,
                             [&](const std::string& line) { return line.starts_with(start); });
}

// Ten steps: 600 of one thing on the host, then 200 of compute that the host waits for.
Program steps_with(Why why) {
  Program program;
  program.lags = {.launch = Nanos{4'000}, .queue = Nanos{1'000}, .stream_wait = Nanos{1'000}};
  program.ranks.resize(1);
  std::vector<Act>& acts = program.ranks[0].threads.emplace_back();
  for (int step = 0; step < 10; ++step) {
    acts.push_back({.kind = ActKind::kBeginStep});
    acts.push_back({.why = why, .host = microseconds(600)});
    acts.push_back({.kind = ActKind::kLaunch, .host = Nanos{2'000}, .device = microseconds(200)});
    acts.push_back({.kind = ActKind::kSyncDevice, .host = Nanos{2'000}});
    acts.push_back({.kind = ActKind::kEndStep, .event = step});
  }
  return program;
}

// What a person reads first: the class, the cause with its numbers, and what to try.
TEST(Page, TheCauseComesFirst) {
  const struct {
    Why why;
    const char* bottleneck;
    const char* rule;
    const char* cause;
    const char* place;
    const char* advice;
  } cases[] = {
      {Why::kInput, "bottleneck: input (data starvation)",
       "  largest cause: waiting for input 72 %, speed-up at most 3.91x (5.4 ms of 7.45 ms on 1 "
       "device, most in enumerate(DataLoader)#_Iter.__next__",
       "1. waiting for input", "   enumerate(DataLoader)#_Iter.__next__, 5.4 ms",
       "   try: more loader workers"},
      {Why::kGc, "bottleneck: serial (serial CPU work between launches)",
       "  largest cause: garbage collection 72 %, speed-up at most 3.91x", "1. garbage collection",
       "   gc.collect, 5.4 ms", "   try: gc.freeze() after start-up"},
      {Why::kLogging, "bottleneck: sync (", "  largest cause: logging 72 %, speed-up at most 3.91x",
       "1. logging", "   log metrics, 5.4 ms", "   try: log less often"},
      {Why::kCheckpoint, "bottleneck: lifecycle (start-up, checkpoint and teardown)",
       "  largest cause: checkpoints 72 %, speed-up at most 3.91x", "1. checkpoints",
       "   save_checkpoint, 5.4 ms", "   try: save in the background"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.cause);
    const std::string page = page_of(run(steps_with(c.why)).trace);
    SCOPED_TRACE(page);
    const std::vector<std::string> lines = lines_of(page);
    ASSERT_GT(lines.size(), 8u);
    EXPECT_TRUE(lines[1].starts_with(c.bottleneck));
    EXPECT_TRUE(lines[2].starts_with(c.rule));
    EXPECT_TRUE(lines[5].starts_with(c.cause));
    EXPECT_EQ(lines[6], c.place);
    EXPECT_TRUE(lines[7].starts_with(c.advice));
  }
}

// The page has one ceiling for one fix, wherever it stands.
TEST(Page, ACauseAndItsFixHaveTheSameCeiling) {
  const Course course = run(steps_with(Why::kCheckpoint));
  const TraceReport got = report(Prepared(course.trace));
  ASSERT_FALSE(got.gains.alone.empty());
  EXPECT_EQ(got.gains.alone.front().first, Why::kCheckpoint);
  EXPECT_DOUBLE_EQ(got.profile.causes.front().ceiling, got.gains.alone.front().ceiling);
}

constexpr const char* kReduceKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)";

// Two ranks that reduce after each step; the second computes 300 longer.
TEST(Page, AStragglerIsNamed) {
  MadeTrace made;
  for (int rank = 0; rank < 2; ++rank) {
    if (rank == 1) made.next_rank();
    for (std::int64_t t = 0; t < 10'000; t += 1000) {
      const std::int64_t compute = rank == 1 ? 800 : 500;
      made.kernel(t + 10, compute, made.call("cudaLaunchKernel", t, 4));
      made.kernel(t + 11 + compute, 861 - compute, made.call("cudaLaunchKernel", t + 5, 4),
                  kReduceKernel);
    }
  }
  const std::string page = page_of(made.finish());
  SCOPED_TRACE(page);
  const std::vector<std::string> lines = lines_of(page);
  EXPECT_TRUE(lines[1].starts_with("bottleneck: communication"));
  EXPECT_NE(lines[2].find("waiting for slower ranks 15 %"), std::string::npos);
  EXPECT_NE(lines[2].find("rank 1 arrived last 10 times and made others wait 3 ms"),
            std::string::npos);
  EXPECT_TRUE(has_line(page, "1. waiting for slower ranks"));
  EXPECT_TRUE(has_line(page, "   try: balance the work of the ranks"));
  EXPECT_TRUE(has_line(page, "rank 1 is the straggler: it arrived last 10 times"));
  EXPECT_NE(page.find("Arrival at collectives"), std::string::npos) << page;
}

// Steps of 1000: 500 of compute, 400 in the kernels of one library.
TEST(Page, CommunicationOfAnyLibraryIsCommunication) {
  for (const char* name : {kReduceKernel, "void deep_ep::internode::dispatch<true, 4>(int4*)",
                           "void vllm::cross_device_reduce_2stage<bf16, 8>(RankData*)",
                           "multimem_all_reduce_kernel<c10::BFloat16>(int)",
                           "nvshmemi_proxy_putmem_block(void*)", "rcclGenericKernel<1>(int)"}) {
    MadeTrace made;
    for (std::int64_t t = 0; t < 10'000; t += 1000) {
      made.kernel(t + 10, 500, made.call("cudaLaunchKernel", t, 4));
      made.kernel(t + 510, 400, made.call("cudaLaunchKernel", t + 5, 4), name);
    }
    const std::string page = page_of(made.finish());
    SCOPED_TRACE(page);
    EXPECT_TRUE(has_line(page, "bottleneck: communication"));
    EXPECT_TRUE(has_line(page, "1. communication that nothing hides"));
    EXPECT_TRUE(has_line(page, "   try: overlap communication with backward"));
  }
}

void add_metric(MadeTrace& made, const char* kernel, const char* metric, double percent) {
  model::TraceBuilder& builder = made.builder();
  builder.trace().kernel_metrics.push_back(
      {builder.intern(kernel), 0, builder.intern(metric), builder.intern("%"), percent});
}

// A report of Nsight Compute alone: no timeline, and yet something to do.
TEST(Page, KernelReportsSayWhatBoundsAKernel) {
  MadeTrace made;
  add_metric(made, "scatter", "Memory Throughput", 91);
  add_metric(made, "scatter", "Compute (SM) Throughput", 7);
  add_metric(made, "scatter", "Achieved Occupancy", 12);
  model::TraceBuilder& builder = made.builder();
  builder.trace().kernel_advice.push_back({builder.intern("scatter"), 0,
                                           builder.intern("UncoalescedGlobalAccess"),
                                           builder.intern("use contiguous accesses"), 50, true});
  add_metric(made, "tiny", "Memory Throughput", 3);
  add_metric(made, "tiny", "Compute (SM) Throughput", 4);
  add_metric(made, "counted", "smsp__inst_executed.sum", 17);
  const std::string page = page_of(made.finish());
  SCOPED_TRACE(page);
  const std::vector<std::string> lines = lines_of(page);
  EXPECT_EQ(lines[0], "1 trace, 3 measured kernels");
  EXPECT_EQ(lines[1], "bottleneck: unknown");
  EXPECT_EQ(lines[2],
            "  unknown: no file has a timeline of the job; kernel scatter is bound by memory "
            "(memory 91.0 % and compute 7.0 % of the peak, occupancy 12.0 %, low; "
            "UncoalescedGlobalAccess estimates 50.0 % less time)");
  EXPECT_TRUE(has_line(page, "scatter         1  memory     2.00x"));
  EXPECT_TRUE(has_line(page, "  try: use contiguous accesses"));
  EXPECT_TRUE(has_line(page, "tiny            1  latency  unknown"));
  EXPECT_TRUE(
      has_line(page, "  bound unknown from 1 counters, such as smsp__inst_executed.sum 17"));
}

// With a timeline, a kernel is weighed by its part of the work.
TEST(Page, AKernelThatComputesAllTheTimeIsWhatToTry) {
  MadeTrace made;
  add_metric(made, "scatter", "Memory Throughput", 91);
  add_metric(made, "scatter", "Compute (SM) Throughput", 7);
  for (std::int64_t t = 0; t < 10'000; t += 1000) {
    made.kernel(t + 10, 990, made.call("cudaLaunchKernel", t, 4), "scatter");
  }
  const std::string page = page_of(made.finish());
  SCOPED_TRACE(page);
  EXPECT_TRUE(has_line(page, "bottleneck: compute"));
  EXPECT_NE(page.find("kernel scatter is bound by memory"), std::string::npos);
  EXPECT_NE(page.find("100 % of device work"), std::string::npos);
}

TEST(Page, SaysWhatGraphsLaunchedAndHowFullTheQueueIs) {
  MadeTrace made;
  const std::uint32_t graph = made.call("cudaGraphLaunch", 0, 5);
  for (std::int64_t i = 0; i < 8; ++i) made.kernel(10 + i * 10, 10, graph, "node");
  made.copy(90, 10, graph, model::CopyKind::kDeviceToDevice);
  made.kernel(100, 10, made.call("cudaLaunchKernel", 6, 2));
  made.kernel(110, 10, made.call("cudaLaunchKernel", 8, 2));
  const std::string page = page_of(made.finish());
  SCOPED_TRACE(page);
  EXPECT_TRUE(has_line(page, "CUDA graphs launched 8 of 10 kernels (80 %)."));
  // 10 events wait at first, one less every 10 of 110.
  EXPECT_TRUE(has_line(page, "  launch queue: 5.0 launches waiting on average, 10 at most"));
  MadeTrace blind;
  blind.kernel(0, 10, 0);
  blind.kernel(50, 10, 0);
  const std::string plain = page_of(blind.finish());
  EXPECT_EQ(plain.find("CUDA graphs"), std::string::npos);
  EXPECT_EQ(plain.find("launch queue"), std::string::npos);
}

// What waits before a device's first event is no part of its mean.
TEST(Page, TheMeanOfAQueueIsNotAboveItsMost) {
  MadeTrace made;
  made.kernel(100'000, 10, made.call("cudaLaunchKernel", 0, 2));
  made.on_stream(8);
  made.kernel(100'002, 10, made.call("cudaLaunchKernel", 4, 2));
  const model::Trace trace = made.finish();
  const TraceReport got = report(Prepared(trace));
  ASSERT_EQ(got.devices.size(), 1u);
  EXPECT_EQ(got.devices[0].waiting_most, 1);
  EXPECT_LE(got.devices[0].waiting_mean, 1);
}

// A device that shows something for a moment of a long trace does not tell what the job waits for.
TEST(Page, AMomentOfADeviceNamesNoCause) {
  MadeTrace made;
  made.op("aten::rand", 0, 100'000);
  made.kernel(100'010, 10, made.call("cudaLaunchKernel", 100'001, 4));
  made.op("aten::mul", 100'020, 200);
  made.kernel(100'300, 10, made.call("cudaLaunchKernel", 100'220, 4));
  const std::string page = page_of(made.finish());
  SCOPED_TRACE(page);
  const std::vector<std::string> lines = lines_of(page);
  EXPECT_EQ(lines[1], "bottleneck: unknown");
  EXPECT_TRUE(lines[2].starts_with(
      "  unknown: all device events lie within 300 µs of 100 ms; record whole steps in steady "
      "state; most of the critical path (100 %) is host: aten::rand"));
}

// A step that waits for a collective of its own host's threads.
TEST(Page, CollectivesOnTheHostAreOnThePath) {
  MadeTrace made;
  made.annotation("ProfilerStep#1", 0, 1000);
  made.op("aten::mm", 0, 100);
  made.op("aten::mm", 900, 100);
  made.on_thread(2);
  made.annotation("gloo:all_reduce", 120, 760);
  const std::string page = page_of(made.finish());
  SCOPED_TRACE(page);
  EXPECT_TRUE(has_line(page, "bottleneck: communication"));
  EXPECT_NE(
      page.find("communication that nothing hides 76 %, speed-up at most 4.17x (760 µs of 1 ms "
                "of the steps, most in gloo:all_reduce (760 µs))"),
      std::string::npos);
  EXPECT_NE(page.find("gloo:all_reduce"), std::string::npos);
}

}  // namespace
}  // namespace amdahl::profile
