#include "profile/device_peaks.h"

#include <algorithm>

#include "base/text.h"

namespace amdahl::profile {
namespace {

struct PeakRow {
  std::string_view part;  // Of the device's name.
  // TFLOP/s: FP64 (with tensor cores), FP32, TF32, FP16/BF16 with FP32 sums, FP8/INT8.
  std::array<double, kPrecisions> tera;
  double giga;               // GB/s.
  double least_gigabytes{};  // Memory from which on this row holds.
};

// Dense figures of the vendors' data sheets with FP32 sums, per device as programs see it (one die
// of an MI250). The first row that fits counts: longer names and larger memories first. Figures
// with sparsity were halved; 0 where no text confirmed a figure. Read in:
//   [1] Blackwell data sheet, "Individual Blackwell GPU Specifications" (GB200 NVL72, HGX B200)
//   [2] H100 and H200 data sheets as in Lightning's throughput.py and torchtitan's get_peak_flops
//   [3] quotes of the data sheet of the H20 (LLM-Prof hardware_spec.md)
//   [4] "NVIDIA Ampere Architecture In-Depth" (A100 40 GB; V100 and P100 SXM), A100 data sheet r4
//   [5] A10, A30, A40 data sheets; the A6000 from its clocks and the GA102 white paper
//   [6] table of L40 and L40S data sheets; L4 data sheet
//   [7] white papers of Turing, GA102 and Ada v2.1; the RTX 5090 from its clocks and sparse figures
//   [8] V100 data sheet r5 (SXM2, PCIe, V100S), P100 PCIe and T4 data sheets
//   [9] AMD's product pages (per die as in torchtitan), CDNA white papers: matrix cores
constexpr auto kPeaks = std::to_array<PeakRow>({
    {"GB200", {40, 80, 1250, 2500, 5000}, 8000},              // [1]
    {"B200", {37, 75, 1100, 2250, 4500}, 7700},               // [1]
    {"GH200", {67, 67, 494, 989, 1979}, 4900, 120},           // [2] 144 GB of HBM3e
    {"GH200", {67, 67, 494, 989, 1979}, 4000},                // [2]
    {"H200 NVL", {60, 60, 418, 835, 1671}, 4800},             // [2] computes as an H100 NVL
    {"H200", {67, 67, 494, 989, 1979}, 4800},                 // [2]
    {"H100 80GB HBM2e", {51, 51, 378, 756, 1513}, 2039},      // [2] PCIe by its memory
    {"H100 PCIe", {51, 51, 378, 756, 1513}, 2039},            // [2]
    {"H100 NVL", {60, 60, 418, 835, 1671}, 3938},             // [2]
    {"H100", {67, 67, 494, 989, 1979}, 3352},                 // [2] SXM
    {"H800 PCIe", {0, 0, 0, 0, 0}, 2039},                     // not confirmed
    {"H800", {1, 67, 494, 989, 1979}, 3352},                  // [2] with FP64 cut
    {"H20", {1, 44, 74, 148, 296}, 4000},                     // [3]
    {"A100-PCI", {19.5, 19.5, 156, 312, 624}, 1935, 75},      // [4]
    {"A100 80GB PCIe", {19.5, 19.5, 156, 312, 624}, 1935},    // [4]
    {"A100", {19.5, 19.5, 156, 312, 624}, 2039, 75},          // [4]
    {"A100", {19.5, 19.5, 156, 312, 624}, 1555},              // [4] 40 GB
    {"A800 80GB PCIe", {19.5, 19.5, 156, 312, 624}, 1935},    // [4]
    {"A800", {19.5, 19.5, 156, 312, 624}, 2039, 75},          // [4]
    {"A6000", {0.6, 38.7, 77.4, 154.8, 309.7}, 768},          // [5]
    {"A40", {0.6, 37.4, 74.8, 149.7, 299.3}, 696},            // [5]
    {"A30", {10.3, 10.3, 82, 165, 330}, 933},                 // [5]
    {"A10G", {0.5, 31.2, 0, 0, 0}, 600},                      // tensor cores not confirmed
    {"A10", {0.5, 31.2, 62.5, 125, 250}, 600},                // [5]
    {"L40S", {1.4, 91.6, 183, 362, 733}, 864},                // [6]
    {"L40", {1.4, 90.5, 90.5, 181, 362}, 864},                // [6]
    {"L4", {0.5, 30.3, 60, 121, 242}, 300},                   // [6]
    {"RTX 5090", {1.6, 104.8, 104.8, 209.5, 419}, 1792},      // [7]
    {"RTX 4090", {1.3, 82.6, 82.6, 165.2, 330.3}, 1008},      // [7]
    {"RTX 3090", {0.6, 35.6, 35.6, 71, 284}, 936},            // [7]
    {"RTX 2080 Ti", {0.4, 13.4, 0, 53.8, 215.2}, 616},        // [7] reference clocks
    {"V100S-PCI", {8.2, 16.4, 0, 130, 0}, 1134},              // [8]
    {"V100-PCI", {7, 14, 0, 112, 0}, 900},                    // [8]
    {"V100", {7.8, 15.7, 0, 125, 0}, 900},                    // [4] [8] SXM2
    {"P100-PCI", {4.7, 9.3, 0, 18.7, 0}, 732, 14},            // [8]
    {"P100-PCI", {4.7, 9.3, 0, 18.7, 0}, 549},                // [8] 12 GB
    {"P100", {5.3, 10.6, 0, 21.2, 0}, 732},                   // [4] SXM
    {"T4", {0.25, 8.1, 0, 65, 130}, 320},                     // [8]
    {"MI355X", {78.6, 157.3, 0, 2500, 5000}, 8000},           // [9]
    {"MI325X", {163.4, 163.4, 653.7, 1307.4, 2614.9}, 6000},  // [9]
    {"MI300X", {163.4, 163.4, 653.7, 1307.4, 2614.9}, 5300},  // [9]
    {"MI250X", {47.9, 47.9, 0, 191.5, 191.5}, 1638},          // [9]
    {"MI250", {45.3, 45.3, 0, 181, 181}, 1638},               // [9]
    {"MI210", {45.3, 45.3, 0, 181, 181}, 1638},               // [9]
    {"MI100", {11.5, 46.1, 0, 184.6, 184.6}, 1229},           // [9] BF16: half of it
});

constexpr std::array<std::string_view, kPrecisions> kPrecisionNames = {"fp64", "fp32", "tf32",
                                                                       "fp16/bf16", "fp8/int8"};

// Whether `part` stands in `name` as a word: an L4 is no L40.
bool has_model(std::string_view name, std::string_view part) {
  const std::size_t at = name.find(part);
  if (at == std::string_view::npos) return false;
  const auto is_letter = [](char c) { return c >= 'A' && c <= 'Z'; };
  const bool begins = at == 0 || !is_letter(name[at - 1]);
  const std::size_t end = at + part.size();
  return begins && (end == name.size() || !is_digit(name[end]));
}

}  // namespace

std::string_view name(Precision precision) {
  return kPrecisionNames[static_cast<std::size_t>(precision)];
}

DevicePeaks device_peaks(const model::Trace& trace, const model::TraceDevice& device) {
  const std::string_view name = trace.names[device.name];
  const double gigabytes = static_cast<double>(device.memory_bytes) / 1e9;
  const auto row = std::ranges::find_if(kPeaks, [&](const PeakRow& one) {
    return has_model(name, one.part) && gigabytes >= one.least_gigabytes;
  });
  DevicePeaks peaks;
  if (row == kPeaks.end()) return peaks;
  for (std::size_t i = 0; i < kPrecisions; ++i) peaks.flops[i] = row->tera[i] * 1e12;
  peaks.bytes = row->giga * 1e9;
  return peaks;
}

}  // namespace amdahl::profile
