#include "profile/kernel_advice.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"

namespace amdahl::profile {
namespace {

constexpr double kWorthSaying = 0.05;                       // Of the time of all kernels.
constexpr Nanos kLeastTime = std::chrono::milliseconds(1);  // Of all kernels, to say anything.
constexpr double kWorthGaining = 1.5;  // Of the peak, to change a precision for it.

class Advisor {
 public:
  Advisor(const KernelTable& table, const KernelSigns& signs) : table_{table}, signs_{signs} {}

  std::vector<KernelAdvice> take() {
    precision();
    say("kernels.unaligned", share(signs_.unaligned),
        "GEMMs or convolutions with unaligned operands (align1, align2): pad dimensions to a "
        "multiple of 8");
    say("kernels.layout", share(signs_.relaid),
        "conversions between NCHW and NHWC around convolutions: keep tensors in NHWC "
        "(model.to(memory_format=torch.channels_last), the same for inputs)");
    attention();
    if (share(signs_.unfused) >= 0.2) {
      say("kernels.elementwise", share(signs_.unfused),
          "elementwise kernels, which move memory and hardly compute: fuse them (torch.compile)");
    }
    say("kernels.small-grid", share(signs_.sparse),
        "kernels with too few blocks for the device (estimated occupancy below 5 %): give each "
        "launch more work (larger batches, sequences or tiles)");
    say("kernels.unified-memory", share(signs_.migrated),
        "pages of unified memory on their way between host and device: prefetch them "
        "(cudaMemPrefetchAsync), or copy explicitly");
    tiny();
    padding();
    std::ranges::stable_sort(advice_, std::greater<>{}, &KernelAdvice::share);
    return std::move(advice_);
  }

 private:
  double share(Nanos time) const { return to_seconds(time) / to_seconds(table_.time); }
  double share(KernelKind kind) const {
    const auto row = std::ranges::find(table_.kinds, kind, &KernelKindRow::kind);
    return row == table_.kinds.end() ? 0.0 : row->share;
  }

  void say(std::string_view id, double part, std::string_view what) {
    if (part < kWorthSaying) return;
    advice_.push_back(
        {id, fmt::format("{} of the device time is {}", show_percent(part), what), part});
  }

  void precision() {
    const bool has_tf32 = signs_.tensor32_gain >= kWorthGaining;
    if (!has_tf32 && signs_.half_gain < kWorthGaining) return;
    say("kernels.fp32-gemm", share(signs_.fp32),
        has_tf32 ? "GEMMs and convolutions in FP32 without tensor cores: allow TF32 "
                   "(torch.set_float32_matmul_precision('high')) or use bf16 autocast"
                 : "GEMMs and convolutions in FP32: this device multiplies faster in half "
                   "precision only (autocast); check the accuracy");
  }

  void attention() {
    const double softmax = share(signs_.softmax_between);
    if (share(KernelKind::kAttention) >= softmax) return;
    say("kernels.unfused-attention", softmax,
        "softmax kernels between GEMMs, as attention that is not fused: use "
        "torch.nn.functional.scaled_dot_product_attention (Transformers: "
        "attn_implementation=\"sdpa\")");
  }

  void tiny() {
    const double part = share(signs_.tiny);
    if (2 * signs_.tiny_launches <= table_.launches || part < kWorthSaying) return;
    advice_.push_back(
        {"kernels.tiny",
         fmt::format("{} of {} launches are shorter than 10 µs ({} of the device time): fuse them, "
                     "or use larger batches or CUDA graphs",
                     signs_.tiny_launches, table_.launches, show_percent(part)),
         part});
  }

  // What pads sequences to one length computes on nothing.
  void padding() {
    constexpr double kVaries = 1.25;
    const AttentionShapes& seen = signs_.attention;
    const double part = share(KernelKind::kAttention) + share(KernelKind::kSoftmax);
    if (seen.calls == 0 || part < kWorthSaying) return;
    if (2 * seen.masked > seen.calls) {
      advice_.push_back(
          {"kernels.padding",
           fmt::format("{} of {} calls of attention take a mask: if it hides padding, "
                       "pack sequences (varlen attention, nested tensors) or sort "
                       "batches by length",
                       seen.masked, seen.calls),
           part});
    } else if (seen.longest > kVaries * seen.mean) {
      advice_.push_back({"kernels.ragged",
                         fmt::format("sequences of attention have {:.0f} to {:.0f} tokens, {:.0f} "
                                     "on average: put those of similar length into a batch, so "
                                     "that steps take equally long",
                                     seen.shortest, seen.longest, seen.mean),
                         part});
    }
  }

  const KernelTable& table_;
  const KernelSigns& signs_;
  std::vector<KernelAdvice> advice_;
};

}  // namespace

void add_signs(KernelSigns& signs, std::string_view name, KernelKind kind, bool is_single,
               Nanos time) {
  const std::string low = lower(name);
  const bool is_product = kind == KernelKind::kGemm || kind == KernelKind::kConvolution;
  if (is_product && is_single) signs.fp32 += time;
  if (kind == KernelKind::kElementwise && !contains(low, "triton_")) signs.unfused += time;
  if (is_product && (contains(low, "align1") || contains(low, "align2"))) signs.unaligned += time;
  for (const std::string_view layout : {"nchwtonhwc", "nhwctonchw", "batched_transpose_"}) {
    if (contains(low, layout)) signs.relaid += time;
  }
  if (kind == KernelKind::kCopy && contains(low, "(unified)")) signs.migrated += time;
}

std::vector<KernelAdvice> kernel_advice(const KernelTable& table, const KernelSigns& signs) {
  if (table.time < kLeastTime) return {};
  return Advisor(table, signs).take();
}

}  // namespace amdahl::profile
