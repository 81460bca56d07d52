// kernel_table.h: what the devices of a trace computed, by kind of work and by kernel.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "profile/kernel_kinds.h"

namespace amdahl::profile {

// Times are sums over events; events of several streams may overlap.
struct KernelRow {
  std::string name;  // Without arguments: see kernel_title().
  KernelKind kind = KernelKind::kOther;
  std::uint64_t launches = 0;
  Nanos time{};
};

struct KernelKindRow {
  KernelKind kind = KernelKind::kOther;
  std::uint64_t launches = 0;
  Nanos time{};
  double share = 0;     // Of the time of all kernels, copies and sets.
  std::string largest;  // Its kernel with most time.
};

// What the names and lengths of kernels show that one could do.
struct KernelAdvice {
  std::string_view id = "";  // "kernels.fp32-gemm": for programs.
  std::string says;          // One sentence with the numbers.
  double share = 0;          // Of the time of all kernels, copies and sets, that it is about.
};

struct KernelTable {
  Nanos time{};  // Of all.
  std::uint64_t launches = 0;
  std::vector<KernelKindRow> kinds;  // Most time first.
  std::vector<KernelRow> kernels;    // All of them, most time first.
  std::vector<KernelAdvice> advice;  // Largest share first.
};

KernelTable kernel_table(const model::Trace& trace);

}  // namespace amdahl::profile
