#include "profile/bandwidth.h"

#include <gtest/gtest.h>

#include "profile/page.h"
#include "profile/trace_report.h"
#include "profile/trace_testing.h"

namespace amdahl::profile {
namespace {

void collective(MadeTrace& made, std::int64_t start, std::int64_t duration, const char* name,
                std::uint64_t elements, std::uint32_t ranks) {
  const std::uint32_t launch = made.call("cudaLaunchKernel", start - 5, 2);
  made.kernel(start, duration, launch, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  model::Trace& trace = made.builder().trace();
  trace.device_events.back().detail = static_cast<std::uint32_t>(trace.details.size());
  trace.details.push_back({.elements = elements,
                           .collective = made.builder().intern(name),
                           .element_type = made.builder().intern("Float"),
                           .group_size = ranks});
}

void name_devices(MadeTrace& made, const char* name) {
  for (model::TraceDevice& device : made.builder().trace().devices) {
    device.name = made.builder().intern(name);
  }
}

TEST(Bandwidth, IsThatOfTheTransferWithoutTheWait) {
  MadeTrace made;
  // 40 MB in 200 µs once both are there; the first waits for 300 µs more.
  collective(made, 1000, 500, "allreduce", 10'000'000, 2);
  made.on_stream(9);
  made.kernel(1400, 50, made.call("cudaLaunchKernel", 990, 2));
  made.next_rank();
  collective(made, 1300, 200, "allreduce", 10'000'000, 2);
  name_devices(made, "NVIDIA A100-SXM4-80GB");
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const std::vector<CollectiveSpeed> speeds = collective_speeds(prepared, ranks(prepared));
  ASSERT_EQ(speeds.size(), 1u);
  EXPECT_EQ(speeds[0].bytes, 40'000'000u);
  EXPECT_EQ(speeds[0].times, 2u);
  EXPECT_EQ(speeds[0].transfer, std::chrono::microseconds(200));
  EXPECT_NEAR(speeds[0].algorithm, 200e9, 1);
  EXPECT_NEAR(speeds[0].bus, 200e9, 1);  // Of two ranks each link carries all of it once.
  EXPECT_DOUBLE_EQ(speeds[0].peak, 300e9);
  EXPECT_NEAR(speeds[0].overlapped, 50.0 / 700, 1e-9);
  const std::string page = draw(report(prepared), 200, false);
  EXPECT_NE(page.find("200.0 GB/s"), std::string::npos) << page;
}

TEST(Bandwidth, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("allreduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor("_allgather_base", 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor("reduce_scatter_tensor_coalesced", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_to_allv", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor("barrier", 4), 0);
  EXPECT_DOUBLE_EQ(bus_factor("allreduce", 1), 0);
}

// The message of an all-gather is what comes out.
TEST(Bandwidth, GatheringCountsItsOutput) {
  MadeTrace made;
  collective(made, 1000, 100, "_allgather_base", 1'000'000, 4);
  const model::Trace trace = made.finish();
  const Prepared prepared(trace);
  const std::vector<CollectiveSpeed> speeds = collective_speeds(prepared, ranks(prepared));
  ASSERT_EQ(speeds.size(), 1u);
  EXPECT_EQ(speeds[0].bytes, 16'000'000u);
  EXPECT_NEAR(speeds[0].bus, 160e9 * 0.75, 1);
  EXPECT_DOUBLE_EQ(speeds[0].peak, 0);
}

// Their operator says how much they move; they go to all ranks.
TEST(Bandwidth, CollectivesOverSymmetricMemory) {
  MadeTrace made;
  made.op("symm_mem::multimem_all_reduce_", 0, 50);
  model::Trace& trace = made.builder().trace();
  trace.sources.front().world_size = 8;
  trace.host_events.back().inputs =
      made.builder().intern(R"([[2557440], [], []]|["c10::BFloat16", "", ""]|["", "", ""])") &
      model::kLastInputs;
  made.kernel(30, 25, made.call("cudaLaunchKernel", 10, 5), "multimem_all_reduce_kernel<T>(int)");
  const model::Trace whole = made.finish();
  const Prepared prepared(whole);
  const std::vector<CollectiveSpeed> speeds = collective_speeds(prepared, ranks(prepared));
  ASSERT_EQ(speeds.size(), 1u);
  EXPECT_EQ(speeds[0].bytes, 5'114'880u);
  EXPECT_EQ(speeds[0].ranks, 8u);
  EXPECT_NEAR(speeds[0].bus, 5'114'880 / 25e-6 * 1.75, 1);
}

TEST(Bandwidth, SizesAndLinksByName) {
  EXPECT_EQ(element_bytes("BFloat16"), 2u);
  EXPECT_EQ(element_bytes("Float8_e4m3fn"), 1u);
  EXPECT_EQ(element_bytes("other"), 0u);
  EXPECT_DOUBLE_EQ(link_peak("NVIDIA H100 PCIe"), 300e9);
  EXPECT_DOUBLE_EQ(link_peak("NVIDIA H100 80GB HBM3"), 450e9);
  EXPECT_DOUBLE_EQ(link_peak("Tesla T4"), 0);
}

TEST(Span, HasAtMostThreeDigitsAndNoExponent) {
  EXPECT_EQ(show_span(Nanos{999}), "999 ns");
  EXPECT_EQ(show_span(Nanos{1'234}), "1.23 µs");
  EXPECT_EQ(show_span(Nanos{999'700}), "1 ms");
  EXPECT_EQ(show_span(Nanos{999'700'000}), "1 s");
  EXPECT_EQ(show_span(Nanos{59'990'000'000}), "60 s");
}

}  // namespace
}  // namespace amdahl::profile
