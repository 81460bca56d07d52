// What Holistic Trace Analysis gets wrong, each beside what we say of the same file.
#include <map>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "profile/breakdown.h"
#include "profile/critical_path.h"
#include "profile/hta.h"
#include "profile/trace_report.h"
#include "profile/trace_testing.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

struct Both {
  HtaFigures hta;
  model::Trace trace;
};

Both read(const std::string& file, bool round = true) {
  model::TraceBuilder builder;
  trace::Input input;
  input.name = file;
  input.next = trace::bytes_of(trace::corpus() + "traces/" + file);
  EXPECT_TRUE(trace::reader_named("kineto")->read(input, {}, builder));
  Both both;
  both.hta = hta_figures(builder.trace(), 0, {.round = round}).value_or(HtaFigures{});
  both.trace = std::move(builder).finish();
  return both;
}

TEST(HtaMistakes, RoundingToMicrosecondsMakesIdleTime) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  const Both rounded = read("hta/v100_ns_rank0.json.gz");
  const Both exact = read("hta/v100_ns_rank0.json.gz", false);
  EXPECT_GT(rounded.hta.temporal.idle_us, 1.5 * exact.hta.temporal.idle_us);
  // Ours are the file's nanoseconds: no sum of them is a whole number of microseconds by luck.
  const std::vector<DeviceBreakdown> rows = break_down(rounded.trace);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].busy + rows[0].idle, rows[0].span);
  EXPECT_NE(rows[0].idle.count() % 1000, 0);
}

TEST(HtaMistakes, IdleCausesOfStreamsSumToManyTimesThatOfTheDevice) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  const Both both = read("hta/a100_8rank_rank3.json.gz");
  double of_streams = 0;
  for (const HtaIdle& idle : both.hta.idle) of_streams += idle.idle_us;
  EXPECT_GT(of_streams, 3 * both.hta.temporal.idle_us);
  const TraceReport report = profile::report(Prepared(both.trace));
  ASSERT_EQ(report.devices.size(), 1u);
  const auto& by_why = report.devices[0].gaps.by_why;
  EXPECT_EQ(std::accumulate(by_why.begin(), by_why.end(), Nanos{}), report.devices[0].split.idle);
}

// HTA: 100 % bound by the CPU wherever no cuda_sync events are recorded.
TEST(HtaMistakes, ThePathGoesThroughTheDeviceWithoutSyncEvents) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  const Both both = read("hta/v100_2rank_test_rank1.json.gz");
  EXPECT_TRUE(both.trace.syncs.empty());
  const TraceReport report = profile::report(Prepared(both.trace));
  ASSERT_FALSE(report.devices.empty());
  const double busy = to_seconds(report.devices[0].split.busy) / to_seconds(report.wall);
  const double on_path = to_seconds(device_time(report.path.by_why)) / to_seconds(report.wall);
  EXPECT_GT(on_path, busy / 2) << "busy " << busy;
}

TEST(HtaMistakes, OtherLibrariesCommunicateToo) {
  for (const char* name :
       {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(RankData*)",
        "void deep_ep::internode::dispatch<false>(int4*)", "multimem_all_reduce_kernel<float>"}) {
    SCOPED_TRACE(name);
    MadeTrace made;
    made.kernel(10, 50, made.call("cudaLaunchKernel", 0, 5), "gemm");
    made.kernel(60, 40, made.call("cudaLaunchKernel", 6, 5), name);
    const auto hta = hta_figures(made.builder().trace(), 0);
    ASSERT_TRUE(hta);
    EXPECT_FALSE(hta->overlap_percent) << "HTA sees no communication at all";
    const model::Trace trace = made.finish();
    const std::vector<DeviceBreakdown> rows = break_down(trace);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].communication, Nanos{40'000});
    EXPECT_EQ(rows[0].exposed_communication, Nanos{40'000});
    EXPECT_EQ(rows[0].compute, Nanos{50'000});
  }
}

TEST(HtaMistakes, KernelsOfGraphsStay) {
  MadeTrace made;
  const std::uint32_t graph = made.call("cudaGraphLaunch", 0, 5);
  for (int i = 0; i < 4; ++i) made.kernel(10 + 20 * i, 15, graph, "node");
  const model::Trace trace = made.finish();
  const TraceReport report = profile::report(Prepared(trace));
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_EQ(report.devices[0].split.kernels, 4u);
  EXPECT_EQ(report.devices[0].split.busy, Nanos{60'000});
  EXPECT_EQ(report.ranks.graph_kernels, 4u);
}

}  // namespace
}  // namespace amdahl::profile
