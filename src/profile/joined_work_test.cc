// What is joined from elsewhere: work of kernels in graphs, sizes of NVTX ranges and of
// collectives' operators, figures of Nsight Compute, and what attention and layouts show.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profile/attention_shapes.h"
#include "profile/bandwidth.h"
#include "profile/kernel_table.h"
#include "profile/kernels.h"
#include "profile/op_work.h"
#include "profile/trace_testing.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

std::string file_of(const std::string& events) {
  return fmt::format(R"({{"deviceProperties": [{{"id": 0, "name": "NVIDIA A100-SXM4-80GB", )"
                     R"("totalGlobalMem": 84990623744}}], "traceEvents": [{}]}})",
                     events);
}

std::string op_of(std::string_view name, int at, std::string_view args) {
  return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, )"
                     R"("ts": {}, "dur": 100, "args": {{{}}}}},)",
                     name, at, args);
}

std::string kernel_of(int at, int correlation, std::string_view name, std::string_view more = "") {
  return fmt::format(
      R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )"
      R"("ts": {}, "dur": 5, "args": {{"correlation": {}}}}},)"
      R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": 1000, )"
      R"("args": {{"device": 0, "stream": 7, "correlation": {}{}}}}})",
      at + 10, correlation, name, at + 100, correlation, more);
}

constexpr std::string_view kHalfShapes =
    R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::Half", "c10::Half"])";

TEST(JoinedWork, AKernelOfAGraphDoesWhatItsTwinDidOutside) {
  const std::string events = op_of("aten::mm", 0, kHalfShapes) + kernel_of(0, 1, "h16816gemm") +
                             "," + kernel_of(5000, 2, "h16816gemm", R"(, "graph node id": 9)");
  const auto trace = trace::load_kineto(file_of(events));
  ASSERT_TRUE(trace) << trace.error().text;
  const KernelTable table = kernel_table(*trace);
  const double each = 2.0 * 4096 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(table.work.flops, 2 * each);
  EXPECT_DOUBLE_EQ(table.shaped, 1);
}

TEST(JoinedWork, TwinsOfDifferentShapesTellNothing) {
  const std::string other =
      R"("Input Dims": [[64, 64], [64, 64]], "Input type": ["c10::Half", "c10::Half"])";
  const std::string events = op_of("aten::mm", 0, kHalfShapes) + kernel_of(0, 1, "h16816gemm") +
                             "," + op_of("aten::mm", 2000, other) +
                             kernel_of(2000, 2, "h16816gemm") + "," +
                             kernel_of(5000, 3, "h16816gemm", R"(, "graph node id": 9)");
  const auto trace = trace::load_kineto(file_of(events));
  ASSERT_TRUE(trace) << trace.error().text;
  EXPECT_NEAR(kernel_table(*trace).shaped, 2.0 / 3, 1e-9);
}

TEST(JoinedWork, MasksAndLengthsOfAttention) {
  const auto call = [](int at, int length, std::string_view mask) {
    return op_of("aten::scaled_dot_product_attention", at,
                 fmt::format(R"("Input Dims": [[8, 16, {0}, 64], [8, 16, {0}, 64], )"
                             R"([8, 16, {0}, 64], {1}]{2})",
                             length, mask, R"(, "Input type": [])"));
  };
  const std::string events = call(0, 128, "[]") + call(2000, 512, "[8, 1, 512, 512]") +
                             kernel_of(2000, 1, "flash_fwd_kernel");
  const auto trace = trace::load_kineto(file_of(events));
  ASSERT_TRUE(trace) << trace.error().text;
  const AttentionShapes shapes = attention_shapes(*trace);
  EXPECT_EQ(shapes.calls, 2U);
  EXPECT_EQ(shapes.masked, 1U);
  EXPECT_EQ(shapes.shortest, 128);
  EXPECT_EQ(shapes.longest, 512);
  const KernelTable table = kernel_table(*trace);
  ASSERT_EQ(table.advice.size(), 1U);
  EXPECT_EQ(table.advice[0].id, "kernels.ragged");
}

TEST(JoinedWork, ConversionsOfLayoutAreTold) {
  for (const char* name :
       {"cudnn::ops::nchwToNhwcKernel", "batched_transpose_16x64_pack_1x4_ediv_1x2_half"}) {
    SCOPED_TRACE(name);
    const auto trace = trace::load_kineto(file_of(kernel_of(0, 1, name)));
    ASSERT_TRUE(trace);
    const KernelTable table = kernel_table(*trace);
    ASSERT_EQ(table.kinds.size(), 1U);
    EXPECT_EQ(table.kinds[0].kind, KernelKind::kConvolution);
    ASSERT_EQ(table.advice.size(), 1U);
    EXPECT_EQ(table.advice[0].id, "kernels.layout");
  }
}

TEST(JoinedWork, SizesOfACollectiveComeFromItsOperator) {
  const std::string events =
      op_of("record_param_comms", 0,
            R"("Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000000, )"
            R"("Group size": 8, "Process Group Name": "0")") +
      kernel_of(0, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)");
  const auto trace = trace::load_kineto(file_of(events));
  ASSERT_TRUE(trace) << trace.error().text;
  const Prepared prepared(*trace);
  const auto speeds = collective_speeds(prepared, ranks(prepared));
  ASSERT_EQ(speeds.size(), 1U);
  EXPECT_EQ(speeds[0].bytes, 4'000'000U);
  EXPECT_EQ(speeds[0].ranks, 8U);
  EXPECT_NEAR(speeds[0].algorithm, 4e9, 1);
  EXPECT_NEAR(speeds[0].bus, 7e9, 1);
}

TEST(JoinedWork, NsightComputesFiguresStandAtTheKernelOfThatName) {
  const std::string events = kernel_of(0, 1, "void ns::copy_blocked<float>(float*, int)");
  const auto trace = trace::load_kineto(file_of(events));
  ASSERT_TRUE(trace);
  KernelTable table = kernel_table(*trace);
  KernelFacts measured;
  measured.kernel = "copy_blocked(const float *, float *)";
  measured.compute_percent = 12;
  measured.memory_percent = 85;
  measured.occupancy_percent = 50;
  join_measured({measured}, table);
  ASSERT_EQ(table.kernels.size(), 1U);
  EXPECT_DOUBLE_EQ(table.kernels[0].measured_compute.value_or(0), 0.12);
  EXPECT_DOUBLE_EQ(table.kernels[0].measured_memory.value_or(0), 0.85);
  EXPECT_DOUBLE_EQ(table.kernels[0].occupancy.value_or(0), 0.5);
}

TEST(JoinedWork, RangesOfEmitNvtxCarryShapes) {
  MadeTrace made;
  made.annotation("aten::mm, op_id = 3, sizes = [[64, 32], [32, 16]]", 0, 100);
  auto& trace = made.builder().trace();
  trace.host_events.back().inputs =
      made.builder().intern("[[64, 32], [32, 16]]||") & model::kLastInputs;
  made.kernel(200, 100, made.call("cudaLaunchKernel", 10, 5), "sgemm");
  const model::Trace finished = made.finish();
  EXPECT_DOUBLE_EQ(kernel_table(finished).work.flops, 2.0 * 64 * 32 * 16);
}

}  // namespace
}  // namespace amdahl::profile
