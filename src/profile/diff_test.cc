#include "profile/diff.h"

#include <cmath>

#include <gtest/gtest.h>

#include "profile/kernel_kinds.h"

namespace amdahl::profile {
namespace {

DiffSide side_of(std::vector<double> steps, std::vector<DiffPart> parts = {}) {
  DiffSide side;
  side.label = "a.json";
  for (const double step : steps) side.wall += step;
  side.steps = std::move(steps);
  side.parts = std::move(parts);
  return side;
}

TEST(Diff, TellsAChangeFromTheNoiseOfTheSteps) {
  const Diff same = diff(side_of({1.0, 1.1, 0.9}), side_of({1.05, 0.95, 1.1}));
  EXPECT_NEAR(same.relative, 0.0333, 1e-3);
  EXPECT_FALSE(same.whole.can_tell);
  EXPECT_FALSE(is_regression(same, 0.03)) << "within the noise";
  const Diff slower = diff(side_of({1.00, 1.01, 0.99}), side_of({1.10, 1.11, 1.09}));
  EXPECT_NEAR(slower.relative, 0.1, 1e-9);
  // By Welch: equal variances of 1e-4, so 4 degrees of freedom and t = 2.776.
  EXPECT_NEAR(*slower.relative_lower, 0.1 - 2.776 * 0.01 * std::sqrt(2.0 / 3), 1e-4);
  EXPECT_TRUE(is_regression(slower, 0.03));
  EXPECT_FALSE(is_regression(slower, 0.11));
  EXPECT_FALSE(is_regression(diff(side_of({1.1, 1.1}), side_of({1, 1})), 0));
}

TEST(Diff, SaysWhatMoved) {
  const DiffSide before = side_of({1, 1}, {{DiffBy::kCause, "input", {0.4, 0.4}},
                                           {DiffBy::kKernel, "gemm", {0.5, 0.5}},
                                           {DiffBy::kKernel, "gone", {0.1, 0.1}}});
  const DiffSide after = side_of({0.7, 0.7}, {{DiffBy::kCause, "input", {0.1, 0.1}},
                                              {DiffBy::kKernel, "gemm", {0.5, 0.5}},
                                              {DiffBy::kKernel, "new", {0.1, 0.1}}});
  const Diff moved = diff(before, after);
  ASSERT_EQ(moved.rows.size(), 3U) << "gemm did not move";
  EXPECT_EQ(moved.rows[0].name, "input");
  EXPECT_NEAR(moved.rows[0].change, -0.3, 1e-12);
  EXPECT_TRUE(moved.rows[0].can_tell);
  EXPECT_NEAR(moved.rows[1].change, -0.1, 1e-12);
  EXPECT_NEAR(moved.rows[2].change, 0.1, 1e-12);
}

TEST(Diff, WithoutStepsNothingIsKnownOfTheNoise) {
  DiffSide before = side_of({});
  DiffSide after = side_of({});
  before.wall = 10;
  after.wall = 11;
  const Diff whole = diff(before, after);
  EXPECT_FALSE(whole.by_step);
  EXPECT_FALSE(whole.relative_lower);
  EXPECT_NEAR(whole.relative, 0.1, 1e-12);
  EXPECT_EQ(whole.notes.size(), 1U);
  EXPECT_TRUE(is_regression(whole, 0.03));
}

TEST(Diff, ConditionsAreRead) {
  EXPECT_DOUBLE_EQ(*parse_fail_if("regression>3%"), 0.03);
  EXPECT_DOUBLE_EQ(*parse_fail_if("regression > 0.5 %"), 0.005);
  for (const char* bad :
       {"", "3%", "regression>3", "regression>x%", "regression>-1%", "slower>3%"}) {
    EXPECT_FALSE(parse_fail_if(bad)) << bad;
  }
}

TEST(KernelKinds, AreToldByTheirNames) {
  struct Case {
    std::string_view kernel;
    KernelKind want;
  };
  constexpr Case kCases[] = {
      {"ampere_sgemm_128x64_tn", KernelKind::kGemm},
      {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_nn_align8>(P)",
       KernelKind::kGemm},
      {"Cijk_Ailk_Bljk_SB_MT64x64x16", KernelKind::kGemm},
      {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", KernelKind::kGemm},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Params)",
       KernelKind::kAttention},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(P)", KernelKind::kAttention},
      {"void cudnn::winograd_nonfused::winogradForwardData4x4<float>(P)", KernelKind::kConvolution},
      {"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32", KernelKind::kConvolution},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)",
       KernelKind::kNormalisation},
      {"void at::native::(anonymous namespace)::softmax_warp_forward<float, 8>(float*)",
       KernelKind::kSoftmax},
      {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)",
       KernelKind::kElementwise},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(R)",
       KernelKind::kReduction},
      {"triton_poi_fused_add_relu_0", KernelKind::kElementwise},
      {"triton_red_fused_native_layer_norm_1", KernelKind::kNormalisation},
      {"void vllm::moe::topkGatingSoftmax<4, 8>(float)", KernelKind::kMoe},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<T>(T)",
       KernelKind::kOptimizer},
      {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", KernelKind::kCommunication},
      {"some_kernel_of_mine(float*)", KernelKind::kOther},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x8x512_s6_et128x8_m128x8x32_cga1x1x1", KernelKind::kGemm},
      {"igemm_wrw_gtcx2_nhwc_bf16_bx0_ex1_bt256x128x16", KernelKind::kConvolution},
      {"Im3d2Col.kd", KernelKind::kConvolution},
      {"wrapped_convert.kd", KernelKind::kElementwise},
      {"loop_add_fusion.kd", KernelKind::kElementwise},
      {"input_transpose_fusion.kd", KernelKind::kCopy},
      {"CopyDeviceToDevice", KernelKind::kCopy},
      {"__amd_rocclr_fillBufferAligned.kd", KernelKind::kCopy},
      {"sage_fwd", KernelKind::kAttention},
      {"_combined_routing_compute", KernelKind::kMoe},
      {"SubTensorOpWithScalar1d", KernelKind::kElementwise},
      {"void sgl_hip::activation::act_and_mul_kernel<__hip_bfloat16>(P)", KernelKind::kElementwise},
      {"void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<float>(long)",
       KernelKind::kNormalisation},
  };
  EXPECT_EQ(kernel_title("void cutlass::Kernel2<cutlass_80_tensorop_gemm_align8>(P)"),
            "cutlass_80_tensorop_gemm_align8");
  EXPECT_EQ(kernel_title("void at::native::reduce_kernel<512, 1>(R)"), "at::native::reduce_kernel");
  for (const Case& c : kCases) EXPECT_EQ(name(kernel_kind(c.kernel)), name(c.want)) << c.kernel;
}

}  // namespace
}  // namespace amdahl::profile
