// serving.h: prefill and decode steps of inference servers, as vLLM and SGLang mark them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profile/gaps.h"
#include "profile/kernel_table.h"

namespace amdahl::profile {

enum class ServingKind : std::uint8_t { kPrefill, kDecode, kMixed };
std::string_view name(ServingKind kind);  // "prefill", "decode", "mixed".

// What the name of a step says: "execute_context_2(640)_generation_3(3)" of vLLM,
// "step[EXTEND bs=2 toks=640]" and "step[DECODE bs=3]" of SGLang.
struct ServingStep {
  ServingKind kind = ServingKind::kDecode;
  double requests = 0;
  double tokens = 0;
};
std::optional<ServingStep> serving_step(std::string_view range);

// All steps of a kind. Times are those of the devices' ranges; where only hosts have ranges,
// theirs, or if work launched in one ends after it, that of this work.
struct ServingPhase {
  ServingKind kind = ServingKind::kDecode;
  std::uint64_t steps = 0;
  Nanos total{};
  Nanos median{};
  double requests = 0;  // Mean of a step.
  double tokens = 0;
  double busy = 0;  // Share of `total` during which the device was busy.
};

// Most time first; empty for other jobs.
std::vector<ServingPhase> serving_phases(const Prepared& prepared);

// What to do about them: small decode batches, idle devices in decode steps, long prefills.
// `has_graphs`: CUDA graphs launch most kernels already.
std::vector<KernelAdvice> serving_advice(const std::vector<ServingPhase>& phases, bool has_graphs);

}  // namespace amdahl::profile
