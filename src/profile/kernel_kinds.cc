#include "profile/kernel_kinds.h"

#include <string>

#include "base/text.h"
#include "profile/communication.h"

namespace amdahl::profile {
namespace {

constexpr std::array<std::string_view, kKernelKinds> kNames = {
    "gemm",        "attention",     "convolution", "normalisation", "softmax",
    "elementwise", "reduction",     "moe",         "embedding",     "optimizer",
    "copy",        "communication", "other"};

struct Pattern {
  std::string_view part;  // Lower case, anywhere in the name.
  KernelKind kind;
};

// The first that fits counts, so what is more telling comes first.
constexpr auto kPatterns = std::to_array<Pattern>({
    {"flash", KernelKind::kAttention},
    {"fmha", KernelKind::kAttention},
    {"attention", KernelKind::kAttention},
    {"attn", KernelKind::kAttention},
    {"sdpa", KernelKind::kAttention},
    {"batchprefill", KernelKind::kAttention},
    {"batchdecode", KernelKind::kAttention},
    {"sage_fwd", KernelKind::kAttention},
    {"moe", KernelKind::kMoe},
    {"expert", KernelKind::kMoe},
    {"topkgating", KernelKind::kMoe},
    {"_routing", KernelKind::kMoe},
    {"grouped_gemm", KernelKind::kMoe},
    {"layer_norm", KernelKind::kNormalisation},
    {"layernorm", KernelKind::kNormalisation},
    {"rms_norm", KernelKind::kNormalisation},
    {"rmsnorm", KernelKind::kNormalisation},
    {"batch_norm", KernelKind::kNormalisation},
    {"batchnorm", KernelKind::kNormalisation},
    {"group_norm", KernelKind::kNormalisation},
    {"groupnorm", KernelKind::kNormalisation},
    {"bn_fw", KernelKind::kNormalisation},
    {"bn_bw", KernelKind::kNormalisation},
    {"gammabeta", KernelKind::kNormalisation},
    {"rowwisemoments", KernelKind::kNormalisation},
    {"conv", KernelKind::kConvolution},
    {"igemm_fwd", KernelKind::kConvolution},
    {"igemm_bwd", KernelKind::kConvolution},
    {"igemm_wrw", KernelKind::kConvolution},
    {"im3d2col", KernelKind::kConvolution},
    {"col2im", KernelKind::kConvolution},
    {"winograd", KernelKind::kConvolution},
    {"fft2d_", KernelKind::kConvolution},
    {"fprop", KernelKind::kConvolution},
    {"dgrad", KernelKind::kConvolution},
    {"wgrad", KernelKind::kConvolution},
    {"im2col", KernelKind::kConvolution},
    {"scudnn", KernelKind::kConvolution},
    {"nchwtonhwc", KernelKind::kConvolution},
    {"nhwctonchw", KernelKind::kConvolution},
    {"batched_transpose_", KernelKind::kConvolution},  // MIOpen's, of layouts.
    {"multi_tensor_apply", KernelKind::kOptimizer},
    {"adam", KernelKind::kOptimizer},
    {"softmax", KernelKind::kSoftmax},
    {"triton_tem", KernelKind::kGemm},
    {"triton_mm", KernelKind::kGemm},
    {"triton_poi", KernelKind::kElementwise},
    {"triton_red", KernelKind::kReduction},
    {"triton_per", KernelKind::kReduction},
    {"gemm", KernelKind::kGemm},
    {"gemv", KernelKind::kGemm},
    {"cublas", KernelKind::kGemm},
    {"cijk_", KernelKind::kGemm},
    {"nvjet", KernelKind::kGemm},
    {"bmm_", KernelKind::kGemm},
    {"wmma", KernelKind::kGemm},
    {"matmul", KernelKind::kGemm},
    {"splitkreduce", KernelKind::kGemm},
    {"dot_kernel", KernelKind::kGemm},
    {"embedding", KernelKind::kEmbedding},
    {"gather", KernelKind::kEmbedding},
    {"scatter", KernelKind::kEmbedding},
    {"index", KernelKind::kEmbedding},
    {"sort", KernelKind::kEmbedding},
    {"catarray", KernelKind::kCopy},
    {"copy_kernel", KernelKind::kCopy},
    {"memcpy", KernelKind::kCopy},
    {"memset", KernelKind::kCopy},
    {"transpose", KernelKind::kCopy},
    {"fillbuffer", KernelKind::kCopy},
    {"copybuffer", KernelKind::kCopy},
    {"copydevicetodevice", KernelKind::kCopy},
    {"elementwise", KernelKind::kElementwise},
    {"pointwise", KernelKind::kElementwise},
    {"dropout", KernelKind::kElementwise},
    {"vectorized", KernelKind::kElementwise},
    {"reduce", KernelKind::kReduction},
    {"reduction", KernelKind::kReduction},
    {"subtensorop", KernelKind::kElementwise},
    {"act_and_mul", KernelKind::kElementwise},
    {"silu", KernelKind::kElementwise},
    {"gelu", KernelKind::kElementwise},
    {"convert", KernelKind::kElementwise},
    {"_fusion", KernelKind::kElementwise},
});

// Whether a name has a part; "convert" is no "conv".
bool has(std::string_view text, std::string_view part) {
  std::size_t at = text.find(part);
  while (at != text.npos && part == "conv" && text.substr(at).starts_with("convert")) {
    at = text.find(part, at + 1);
  }
  return at != text.npos;
}

KernelKind kind_in(const std::string& text) {
  for (const Pattern& pattern : kPatterns) {
    if (has(text, pattern.part)) return pattern.kind;
  }
  return KernelKind::kOther;
}

}  // namespace

std::string_view name(KernelKind kind) { return kNames[at(kind)]; }

std::string kernel_title(std::string_view kernel) {
  constexpr std::string_view kVoid = "void ";
  std::string title = function_name(kernel);
  if (title.starts_with(kVoid)) title.erase(0, kVoid.size());
  if (!title.starts_with("cutlass::") || title.find("::Kernel") == std::string::npos) return title;
  const std::size_t open = kernel.find('<');
  if (open == std::string_view::npos) return title;
  const std::size_t end = kernel.find_first_of(",>", open);
  const std::string_view argument = trim(kernel.substr(open + 1, end - open - 1));
  return argument.empty() ? title : std::string(argument);
}

KernelKind kernel_kind(std::string_view kernel) {
  if (!communication_library(kernel).empty()) return KernelKind::kCommunication;
  const KernelKind own = kind_in(lower(function_name(kernel)));
  return own == KernelKind::kOther ? kind_in(lower(kernel)) : own;
}

}  // namespace amdahl::profile
