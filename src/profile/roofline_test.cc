// How much work operators are, how close kernels come to the peak of their device, and what
// follows.
#include "profile/roofline.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profile/kernel_table.h"
#include "profile/trace_testing.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

// One operator that launches one kernel of 1 ms on an A100 of 80 GB.
std::string json_of(std::string_view op, std::string_view args, std::string_view kernel) {
  return fmt::format(
      R"({{"deviceProperties": [{{"id": 0, "name": "NVIDIA A100-SXM4-80GB", )"
      R"("totalGlobalMem": 84990623744}}], "traceEvents": [)"
      R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": 0, "dur": 100, )"
      R"("args": {{"External id": 5, {}}}}},)"
      R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, )"
      R"("ts": 10, "dur": 5, "args": {{"correlation": 7}}}},)"
      R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": 100, )"
      R"("dur": 1000, "args": {{"device": 0, "stream": 7, "correlation": 7}}}}]}})",
      op, args, kernel);
}

Result<KernelTable> table_of(std::string_view op, std::string_view args, std::string_view kernel) {
  const Result<model::Trace> trace = trace::load_kineto(json_of(op, args, kernel));
  if (!trace) return trace.error();
  return kernel_table(*trace);
}

TEST(Roofline, FlopsAndBytesFollowFromShapes) {
  struct Case {
    const char* op;
    const char* args;
    double flops;
    double bytes;
  };
  const Case cases[] = {
      {"aten::mm", R"("Input Dims": [[64, 32], [32, 16]], "Input type": ["float", "float"])",
       2.0 * 64 * 32 * 16, 4.0 * (64 * 32 + 32 * 16 + 64 * 16)},
      {"aten::addmm",
       R"("Input Dims": [[16], [64, 32], [32, 16], [], []],
          "Input type": ["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])",
       2.0 * 64 * 32 * 16, 2.0 * (64 * 32 + 32 * 16 + 64 * 16)},
      {"aten::bmm",
       R"("Input Dims": [[8, 64, 32], [8, 32, 16]], "Input type": ["double", "double"])",
       2.0 * 8 * 64 * 32 * 16, 8.0 * 8 * (64 * 32 + 32 * 16 + 64 * 16)},
      {"aten::linear",
       R"("Input Dims": [[2, 5, 32], [16, 32], [16]], "Input type": ["float", "float", "float"])",
       2.0 * 10 * 32 * 16, 4.0 * (10 * 32 + 32 * 16 + 10 * 16)},
      // 3 x 3, padded by 1, with a stride of 2: 112 becomes 56.
      {"aten::convolution",
       R"("Input Dims": [[4, 8, 112, 112], [16, 8, 3, 3], [], [], [], [], [], [], []],
          "Input type": ["float", "float", "", "", "", "", "", "", ""],
          "Concrete Inputs": ["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])",
       2.0 * 4 * 16 * 56 * 56 * 8 * 9, 4.0 * (4 * 8 * 112 * 112 + 16 * 8 * 9 + 4 * 16 * 56 * 56)},
      // The same backwards, towards the weight only.
      {"aten::convolution_backward",
       R"("Input Dims": [[4, 16, 56, 56], [4, 8, 112, 112], [16, 8, 3, 3]],
          "Input type": ["float", "float", "float"],
          "Concrete Inputs": ["", "", "", "", "", "", "", "", "", "", "[False, True, False]"])",
       2.0 * 4 * 16 * 56 * 56 * 8 * 9, 4.0 * (4 * 8 * 112 * 112 + 16 * 8 * 9 + 4 * 16 * 56 * 56)},
      {"aten::_scaled_dot_product_flash_attention",
       R"("Input Dims": [[2, 4, 128, 64], [2, 4, 256, 64], [2, 4, 256, 64], [], [], []],
          "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", ""],
          "Concrete Inputs": ["", "", "", "0.", "True", "False"])",
       4.0 * 2 * 4 * 128 * 256 * 64 / 2, 2.0 * 2 * (2 * 4 * 128 * 64 + 2 * 4 * 256 * 64)},
      // Inductor's: every tensor once.
      {"triton_poi_fused_add_0",
       R"("Input Dims": [[10, 10], [10, 10], []], "Input type": ["float", "float", "Scalar"])", 0,
       800},
      {"triton_tem_fused_mm_1",
       R"("Input Dims": [[64, 32], [32, 16], [64, 16]], "Input type": ["float", "float", "float"])",
       2.0 * 64 * 32 * 16, 4.0 * (64 * 32 + 32 * 16 + 64 * 16)},
      // Not known: shapes that do not fit, no stride, nothing recorded.
      {"aten::mm", R"("Input Dims": [[64, 31], [32, 16]], "Input type": ["float", "float"])", 0, 0},
      {"aten::convolution",
       R"("Input Dims": [[4, 8, 9, 9], [16, 8, 3, 3]], "Input type": ["float", "float"])", 0, 0},
      {"aten::mm", R"("Ev Idx": 4)", 0, 0},
      {"aten::relu", R"("Input Dims": [[64, 31]], "Input type": ["float"])", 0, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.op);
    const auto table = table_of(c.op, c.args, "some_gemm_kernel");
    ASSERT_TRUE(table) << table.error().text;
    EXPECT_DOUBLE_EQ(table->work.flops, c.flops);
    EXPECT_DOUBLE_EQ(table->work.bytes, c.bytes);
    EXPECT_EQ(table->work.is_known(), c.bytes > 0);
    EXPECT_EQ(table->mfu.has_value(), c.flops > 0);
  }
}

constexpr std::string_view kLarge =
    R"("Input Dims": [[4096, 4096], [4096, 1024]], "Input type": ["float", "float"])";

TEST(Roofline, SharesAreOfThePeakAtThePrecisionUsed) {
  const double flops = 2.0 * 4096 * 4096 * 1024;  // In 1 ms: 34 TFLOP/s, above 19.5 in FP32.
  const auto tf32 = table_of("aten::mm", kLarge, "ampere_sgemm_or_not");
  ASSERT_TRUE(tf32);
  EXPECT_EQ(tf32->work.implausible, 1U);  // Its name says that it is FP32, so it cannot be.
  EXPECT_FALSE(tf32->mfu);
  const auto named = table_of("aten::mm", kLarge, "cutlass_tensorop_s1688gemm_tf32_align4");
  ASSERT_TRUE(named);
  ASSERT_TRUE(named->mfu);
  EXPECT_NEAR(*named->mfu, flops / 1e-3 / 156e12, 1e-9);
  EXPECT_NEAR(*named->kinds.front().work.of_peak(), flops / 1e-3 / 156e12, 1e-9);
  EXPECT_EQ(named->kinds.front().work.side(), "compute");
  EXPECT_DOUBLE_EQ(named->shaped, 1);
  EXPECT_TRUE(named->advice.empty());
  // Types say float; only the speed shows that TF32 was allowed.
  const auto quick = table_of("aten::mm", kLarge, "some_gemm");
  ASSERT_TRUE(quick && quick->mfu);
  EXPECT_NEAR(*quick->mfu, *named->mfu, 1e-9);
  EXPECT_TRUE(quick->advice.empty());
}

// 1688 is a shape of an instruction, that of TF32 only where the name says no other type.
TEST(Roofline, HalfPrecisionIsNotTakenForTf32) {
  const auto half =
      table_of("aten::mm", kLarge, "cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1");
  ASSERT_TRUE(half && half->mfu);
  EXPECT_NEAR(*half->mfu, 2.0 * 4096 * 4096 * 1024 / 1e-3 / 312e12, 1e-9);
}

TEST(KernelTable, SoftmaxBetweenGemmsIsAttentionThatIsNotFused) {
  const auto advised = [](const char* softmax) {
    MadeTrace made;
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t at = i * 1000;
      made.kernel(at, 200, 0, "ampere_sgemm_128x64_tn");
      made.kernel(at + 200, 100, 0, "void at::native::vectorized_elementwise_kernel<4>(int)");
      made.kernel(at + 300, 400, 0, softmax);
      made.kernel(at + 700, 200, 0, "ampere_sgemm_128x64_nn");
    }
    const std::vector<KernelAdvice> advice = kernel_table(made.finish()).advice;
    return std::ranges::count(advice, "kernels.unfused-attention", &KernelAdvice::id) == 1;
  };
  EXPECT_TRUE(advised("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>(float*)"));
  EXPECT_FALSE(advised("cunn_SoftMaxForward<8, float, LogSoftMaxForwardEpilogue>(float*)"));
}

TEST(Roofline, SinglePrecisionIsAdvisedAgainstWhereTensorCoresAre) {
  constexpr std::string_view kSmall =
      R"("Input Dims": [[512, 512], [512, 512]], "Input type": ["float", "float"])";
  const auto plain = table_of("aten::mm", kSmall, "some_gemm");  // Known by its types alone.
  ASSERT_TRUE(plain);
  ASSERT_EQ(plain->advice.size(), 1U);
  EXPECT_EQ(plain->advice[0].id, "kernels.fp32-gemm");
  EXPECT_EQ(plain->kinds.front().work.side(), "compute");
  const auto half = table_of(
      "aten::mm",
      R"("Input Dims": [[512, 512], [512, 512]], "Input type": ["c10::Half", "c10::Half"])",
      "some_gemm");
  ASSERT_TRUE(half);
  EXPECT_TRUE(half->advice.empty());
}

// Sums of 2 m n k over the operators of the files, by a script of its own.
TEST(Roofline, FlopsOfPublicTraces) {
  const std::string corpus = trace::corpus();
  if (corpus.empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  struct Case {
    const char* file;
    double flops;
  };
  const Case cases[] = {
      {"hta/a100_8rank_rank3.json.gz", 2068206096384},
      {"hta/a100_16rank_rank0.json.gz", 22528655360},
      {"hta/v100_2rank_test_rank1.json.gz", 156046983168},
      {"hta/mi250_rocm62_minitoy.json.gz", 327680},
      // Convolutions without strides; Winograd's are faster than the peak.
      {"kineto_tb/resnet50_nw4_1623212756351.pt.trace.json.gz", 4710740262912},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    const auto trace = trace::load(*trace::reader_named("kineto"), c.file,
                                   trace::bytes_of(corpus + "traces/" + c.file));
    ASSERT_TRUE(trace) << trace.error().text;
    const KernelTable table = kernel_table(*trace);
    EXPECT_NEAR(table.work.flops, c.flops, c.flops * 1e-9);
    EXPECT_EQ(table.work.implausible, 0U);
    EXPECT_LT(table.mfu.value_or(0), 1);
  }
}

TEST(KernelTable, TooFewBlocksAreToldByOccupancyWhereItIsKnown) {
  for (const auto& [occupancy, want] : {std::pair("2", 1U), {"0", 0U}, {"40", 0U}}) {
    std::string json = json_of("aten::sin", R"("Ev Idx": 1)", "some_kernel");
    json.insert(json.rfind("\"stream\""),
                fmt::format("\"est. achieved occupancy %\": {}, ", occupancy));
    const auto trace = trace::load_kineto(json);
    ASSERT_TRUE(trace) << trace.error().text;
    const KernelTable table = kernel_table(*trace);
    ASSERT_EQ(table.advice.size(), want) << occupancy;
    EXPECT_TRUE(want == 0 || table.advice[0].id == "kernels.small-grid");
    EXPECT_EQ(table.kernels[0].occupancy.has_value(), std::string_view(occupancy) != "0");
  }
}

TEST(DevicePeaks, AreFoundByNameAndMemory) {
  struct Case {
    const char* device;
    double gigabytes;
    double half;   // TFLOP/s.
    double bytes;  // GB/s.
  };
  const Case cases[] = {
      {"NVIDIA A100-PG509-200", 42, 312, 1555},
      {"NVIDIA A100-SXM4-80GB", 85, 312, 2039},
      {"NVIDIA H100 80GB HBM3", 85, 989, 3352},
      {"NVIDIA H100 PCIe", 85, 756, 2039},
      {"NVIDIA GH200 480GB", 100, 989, 4000},
      {"NVIDIA GH200 144G HBM3e", 151, 989, 4900},
      {"NVIDIA H200", 150, 989, 4800},
      {"NVIDIA H200 NVL", 150, 835, 4800},
      {"NVIDIA B200", 192, 2250, 7700},
      {"NVIDIA GB200", 199, 2500, 8000},
      {"NVIDIA A100 80GB PCIe", 85, 312, 1935},
      {"NVIDIA A100-PCIE-40GB", 42, 312, 1555},
      {"NVIDIA A10", 24, 125, 600},
      {"NVIDIA A10G", 24, 0, 600},
      {"Tesla V100S-PCIE-32GB", 34, 130, 1134},
      {"Tesla P100-PCIE-16GB", 17, 18.7, 732},
      {"Tesla P100-PCIE-12GB", 12.8, 18.7, 549},
      {"NVIDIA GeForce RTX 2080 Ti", 11.5, 53.8, 616},
      {"NVIDIA L40S", 48, 362, 864},
      {"NVIDIA L4", 24, 121, 300},
      {"Tesla V100-SXM2-32GB", 34, 125, 900},
      {"AMD Instinct MI300X", 192, 1307.4, 5300},
      {"NVIDIA Quadro X", 8, 0, 0},
  };
  model::TraceBuilder builder;
  for (const Case& c : cases) {
    model::TraceDevice device;
    device.name = builder.intern(c.device);
    device.memory_bytes = static_cast<std::uint64_t>(c.gigabytes * 1e9);
    const DevicePeaks peaks = device_peaks(builder.trace(), device);
    EXPECT_DOUBLE_EQ(peaks.of(Precision::kHalf), c.half * 1e12) << c.device;
    EXPECT_DOUBLE_EQ(peaks.bytes, c.bytes * 1e9) << c.device;
  }
}

}  // namespace
}  // namespace amdahl::profile
