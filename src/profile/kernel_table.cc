#include "profile/kernel_table.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "base/text.h"
#include "profile/breakdown.h"

namespace amdahl::profile {
namespace {

constexpr double kWorthSaying = 0.05;                       // Of the time of all kernels.
constexpr Nanos kLeastTime = std::chrono::milliseconds(1);  // Of all kernels, to say anything.

// What the advice is drawn from.
struct Signs {
  Nanos fp32_gemm{};  // Of GEMMs that do not use tensor cores.
  Nanos unfused{};    // Of elementwise kernels that no compiler made.
  Nanos unaligned{};  // Of GEMMs and convolutions whose operands are not aligned.
  Nanos tiny{};       // Of kernels below kShortKernel.
  std::uint64_t tiny_launches = 0;
};

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Devices whose GEMMs in single precision can run on tensor cores (TF32), by name.
bool has_tf32(const model::Trace& trace) {
  return std::ranges::any_of(trace.devices, [&](const model::TraceDevice& device) {
    const std::string_view name = trace.names[device.name];
    return std::ranges::any_of(
        std::to_array<std::string_view>({"A100", "A800", "A40", "A30", "A10", "A6000", "L4", "L40",
                                         "H100", "H200", "H800", "H20", "B200", "GB200", "RTX 30",
                                         "RTX 40", "RTX 50"}),
        [&](std::string_view known) { return has(name, known); });
  });
}

void add_signs(Signs& signs, std::string_view name, KernelKind kind, Nanos time) {
  const std::string low = lower(name);
  const bool is_single = has(low, "sgemm") && !has(low, "tf32") && !has(low, "tensorop");
  if (kind == KernelKind::kGemm && is_single) signs.fp32_gemm += time;
  if (kind == KernelKind::kElementwise && !has(low, "triton_")) signs.unfused += time;
  const bool is_product = kind == KernelKind::kGemm || kind == KernelKind::kConvolution;
  if (is_product && (has(low, "align1") || has(low, "align2"))) signs.unaligned += time;
}

std::vector<KernelAdvice> advice_of(const KernelTable& table, const Signs& signs, bool tf32) {
  std::vector<KernelAdvice> advice;
  if (table.time < kLeastTime) return advice;
  const auto share = [&](Nanos time) { return to_seconds(time) / to_seconds(table.time); };
  const auto kind_share = [&](KernelKind kind) {
    const auto row = std::ranges::find(table.kinds, kind, &KernelKindRow::kind);
    return row == table.kinds.end() ? 0.0 : row->share;
  };
  const auto say = [&](std::string_view id, double part, std::string says) {
    if (part >= kWorthSaying) advice.push_back({id, std::move(says), part});
  };
  if (tf32) {
    say("kernels.fp32-gemm", share(signs.fp32_gemm),
        fmt::format("{} of the device time is GEMMs in FP32 without tensor cores: allow TF32 "
                    "(torch.set_float32_matmul_precision('high')) or use bf16 autocast",
                    show_percent(share(signs.fp32_gemm))));
  }
  say("kernels.unaligned", share(signs.unaligned),
      fmt::format("{} of the device time is GEMMs or convolutions with unaligned operands "
                  "(align1, align2): pad dimensions to a multiple of 8",
                  show_percent(share(signs.unaligned))));
  const double softmax = kind_share(KernelKind::kSoftmax);
  if (kind_share(KernelKind::kAttention) == 0 && kind_share(KernelKind::kGemm) > softmax) {
    say("kernels.unfused-attention", softmax,
        fmt::format("{} of the device time is softmax kernels, and no fused attention ran: if this "
                    "is attention, use torch.nn.functional.scaled_dot_product_attention",
                    show_percent(softmax)));
  }
  const double elementwise = share(signs.unfused);
  if (elementwise >= 0.2) {
    say("kernels.elementwise", elementwise,
        fmt::format("{} of the device time is elementwise kernels, which move memory and hardly "
                    "compute: fuse them (torch.compile)",
                    show_percent(elementwise)));
  }
  const double tiny = share(signs.tiny);
  if (table.launches > 0 && 2 * signs.tiny_launches > table.launches) {
    say("kernels.tiny", tiny,
        fmt::format("{} of {} launches are shorter than 10 µs ({} of the device time): fuse them, "
                    "or use larger batches or CUDA graphs",
                    signs.tiny_launches, table.launches, show_percent(tiny)));
  }
  std::ranges::stable_sort(advice, std::greater<>{}, &KernelAdvice::share);
  return advice;
}

}  // namespace

KernelTable kernel_table(const model::Trace& trace) {
  struct OfName {
    std::uint64_t launches = 0;
    Nanos time{};
    bool is_copy = false;
  };
  std::unordered_map<std::uint32_t, OfName> by_name;
  KernelTable table;
  Signs signs;
  for (const model::DeviceEvent& event : trace.device_events) {
    const bool is_copy =
        event.kind == model::DeviceKind::kCopy || event.kind == model::DeviceKind::kSet;
    if (!is_copy && event.kind != model::DeviceKind::kKernel) continue;
    OfName& of = by_name[event.name];
    ++of.launches;
    of.time += event.duration;
    of.is_copy = is_copy;
    if (is_copy || event.duration >= kShortKernel) continue;
    ++signs.tiny_launches;
    signs.tiny += event.duration;
  }
  std::map<std::pair<std::string, KernelKind>, KernelRow> rows;
  std::array<KernelKindRow, kKernelKinds> kinds{};
  for (const auto& [id, of] : by_name) {
    const std::string_view full = trace.names[id];
    const KernelKind kind = of.is_copy ? KernelKind::kCopy : kernel_kind(full);
    KernelRow& row = rows[{of.is_copy ? std::string(full) : kernel_title(full), kind}];
    row.kind = kind;
    row.launches += of.launches;
    row.time += of.time;
    add_signs(signs, full, kind, of.time);
    kinds[at(kind)].launches += of.launches;
    kinds[at(kind)].time += of.time;
    table.time += of.time;
    table.launches += of.launches;
  }
  for (auto& [key, row] : rows) {
    row.name = key.first;
    table.kernels.push_back(std::move(row));
  }
  std::ranges::stable_sort(table.kernels, std::greater<>{}, &KernelRow::time);
  for (std::size_t k = 0; k < kKernelKinds; ++k) {
    KernelKindRow& row = kinds[k];
    if (row.launches == 0) continue;
    row.kind = static_cast<KernelKind>(k);
    row.share = table.time > Nanos{} ? to_seconds(row.time) / to_seconds(table.time) : 0;
    row.largest = std::ranges::find(table.kernels, row.kind, &KernelRow::kind)->name;
    table.kinds.push_back(std::move(row));
  }
  std::ranges::stable_sort(table.kinds, std::greater<>{}, &KernelKindRow::time);
  table.advice = advice_of(table, signs, has_tf32(trace));
  return table;
}

}  // namespace amdahl::profile
