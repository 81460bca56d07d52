#include "profile/breakdown.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/testing.h"
#include "profile/communication.h"
#include "source_dir.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

// A row as in timeline.csv, up to the percentages, which follow from it.
std::string row_of(const std::string& file, const model::Trace& trace, const DeviceBreakdown& row) {
  const auto gap = [&](GapCause cause) { return row.gap(cause).count(); };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", file,
                     trace.devices[row.device].id, row.events, row.kernels, row.streams,
                     row.span.count(), row.busy.count(), row.idle.count(), row.compute.count(),
                     row.communication.count(), row.memory.count(), row.overlapped.count(),
                     row.exposed_communication.count(), row.exposed_memory.count(), row.gaps,
                     gap(GapCause::kHostWait), gap(GapCause::kKernelWait), gap(GapCause::kOther),
                     gap(GapCause::kUnknown), row.gap_median.count(), row.gap_longest.count(),
                     row.short_kernels);
}

TEST(BreakdownCorpus, EveryRowOfTheTimelineIsExact) {
  const std::string golden = golden_folder(AMDAHL_SOURCE_DIR);
  std::ifstream csv(golden + "/expected/timeline.csv");
  std::string line;
  std::getline(csv, line);
  std::map<std::string, std::vector<std::string>> expected;  // By file.
  while (std::getline(csv, line)) {
    std::size_t end = line.size();
    for (int percentages = 0; percentages < 5; ++percentages) end = line.rfind(',', end - 1);
    expected[line.substr(0, line.find(','))].push_back(line.substr(0, end));
  }
  ASSERT_EQ(expected.size(), trace::corpus().empty() ? 4U : 29U);
  for (const auto& [file, rows] : expected) {
    SCOPED_TRACE(file);
    const Result<model::Trace> trace = trace::load(*trace::reader_named("kineto"), file,
                                                   trace::bytes_of(golden + "/traces/" + file));
    ASSERT_TRUE(trace) << trace.error().text;
    std::vector<std::string> got;
    for (const DeviceBreakdown& row : break_down(*trace)) got.push_back(row_of(file, *trace, row));
    EXPECT_EQ(got, rows);
  }
}

// Events in microseconds: name, stream, start, duration, and the start of the launch or -1.
struct Made {
  const char* name;
  int stream;
  int start;
  int duration;
  int launch = -1;
  model::DeviceKind kind = model::DeviceKind::kKernel;
};

model::Trace made_of_events(const std::vector<Made>& events) {
  using std::chrono::microseconds;
  model::TraceBuilder builder;
  const std::uint32_t source = builder.source({});
  const std::uint32_t device = builder.device(source, 0);
  const std::uint32_t thread = builder.thread(builder.process(source, 1), 1);
  std::uint32_t correlation = 0;
  for (const Made& event : events) {
    ++correlation;
    model::DeviceEvent row;
    row.start = microseconds(event.start);
    row.duration = microseconds(event.duration);
    row.name = builder.intern(event.name);
    row.stream = builder.stream(device, model::kNone, event.stream);
    row.correlation = correlation;
    row.kind = event.kind;
    builder.trace().device_events.push_back(row);
    if (event.launch < 0) continue;
    model::HostEvent call;
    call.start = microseconds(event.launch);
    call.thread = thread;
    call.correlation = correlation;
    call.kind = model::HostKind::kRuntime;
    builder.trace().host_events.push_back(call);
  }
  return std::move(builder).finish();
}

TEST(Breakdown, WhatOverlapsCountsOnce) {
  const std::vector<DeviceBreakdown> rows =
      break_down(made_of_events({{"gemm", 7, 0, 10},
                                 {"ncclDevKernel_AllReduce", 9, 5, 10},
                                 {"Memcpy HtoD", 11, 12, 8, -1, model::DeviceKind::kCopy},
                                 {"note", 7, 0, 1000, -1, model::DeviceKind::kAnnotation}}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].span.count(), 20'000);
  EXPECT_EQ(rows[0].busy.count(), 20'000);
  EXPECT_EQ(rows[0].compute.count(), 10'000);
  EXPECT_EQ(rows[0].communication.count(), 10'000);
  EXPECT_EQ(rows[0].memory.count(), 8'000);
  EXPECT_EQ(rows[0].overlapped.count(), 5'000);
  EXPECT_EQ(rows[0].exposed_communication.count(), 5'000);
  EXPECT_EQ(rows[0].exposed_memory.count(), 5'000);
  EXPECT_EQ(rows[0].streams, 3u);
  EXPECT_EQ(rows[0].gaps, 0u);
}

TEST(Breakdown, GapsAreOfTheDeviceAndSumToItsIdleTime) {
  const model::Trace trace = made_of_events({{"a", 7, 0, 10, 0},
                                             {"late", 7, 100, 10, 50},  // Launched 40 into the gap.
                                             {"soon", 7, 120, 10, 0},   // In time, 10 later.
                                             {"slow", 9, 230, 10, 0},   // In time, 100 later.
                                             {"lost", 7, 300, 10},      // No launch.
                                             {"nothing", 7, 250, 0, 0}});  // Takes no time.
  const std::vector<DeviceBreakdown> rows = break_down(trace);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].gap(GapCause::kHostWait).count(), 90'000);
  EXPECT_EQ(rows[0].gap(GapCause::kKernelWait).count(), 10'000);
  EXPECT_EQ(rows[0].gap(GapCause::kOther).count(), 100'000);
  EXPECT_EQ(rows[0].gap(GapCause::kUnknown).count(), 60'000);
  EXPECT_EQ(rows[0].idle.count(), 260'000);
  EXPECT_EQ(rows[0].gap_longest.count(), 100'000);
  EXPECT_EQ(rows[0].gap_median.count(), 90'000);
}

TEST(Communication, IsMoreThanNccl) {
  struct Case {
    std::string_view kernel;
    std::string_view library;
  };
  constexpr Case kCases[] = {
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "NCCL"},
      {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL"},
      {"void rcclGenericKernel<1, false>(ncclDevKernelArgsStorage<4096ul>)", "RCCL"},
      {"void deep_ep::internode::dispatch<8>(int4*)", "DeepEP"},
      {"void deep_ep::intranode::combine<8>(int4*)", "DeepEP"},
      {"void deep_ep::layout::get_dispatch_layout<256>(int*)", ""},
      {"hcom_allReduce__123_0", "HCCL"},
      {"void deep::ep::internode::dispatch<8>(int4*)", "DeepEP"},
      {"void vllm::cross_device_reduce_1stage<__half, 8>(vllm::RankData*)", "custom all-reduce"},
      {"multimem_all_reduce_kernel", "symmetric memory"},
      {"(anonymous namespace)::multimem_all_reduce_kernel<float, 16>(float*)", "symmetric memory"},
      {"void (anonymous namespace)::multimem_one_shot_all_reduce_kernel<4>(int)",
       "symmetric memory"},
      {"void c10d::symmetric_memory::(anonymous "
       "namespace)::two_shot_all_reduce_kernel<c10::Half>()",
       "symmetric memory"},
      {"void <unnamed>::cross_device_reduce_2stage<8>(int)", "custom all-reduce"},
      {"_ZN4c10d12_GLOBAL__N_126multimem_all_reduce_kernelIfLi16EEEvPT_", "symmetric memory"},
      {"_Z18ncclKernel_SendRecv", "NCCL"},
      {"_Z4gemmP11ncclDevComm", ""},
      {"_ZN99", ""},
      {"(anonymous namespace)::elementwise_kernel<ncclFunctor>(int)", ""},
      {"NVSHMEM_barrier_kernel", "NVSHMEM"},
      {"void at::native::elementwise_kernel<128, ncclFunctor>(int)", ""},
      {"my_nccl_like_gemm", ""},
      {"ampere_sgemm_128x64_nn", ""},
      {"", ""},
  };
  for (const Case& c : kCases) EXPECT_EQ(communication_library(c.kernel), c.library) << c.kernel;
}

}  // namespace
}  // namespace amdahl::profile
