// breakdown.h: how each device spent its time, and why it was idle.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "model/trace.h"

namespace amdahl::profile {

// A shorter gap after a launch in time is the device's own latency.
inline constexpr Nanos kShortGap = std::chrono::microseconds(30);
inline constexpr Nanos kShortKernel = std::chrono::microseconds(10);

// Why a device was idle, judged by the event that ended the gap.
enum class GapCause : std::uint8_t {
  kHostWait,    // Launched after the gap began: the host was late.
  kKernelWait,  // Launched in time, and the gap is short.
  kOther,       // Launched in time, but the gap is long: it waited for something else.
  kUnknown,     // Its launch is not in the trace.
};
inline constexpr std::size_t kGapCauses = 4;

// One device over the whole capture; exact. Kernels, copies and sets keep a device busy.
// Concurrent streams count once; events of zero length count only as events.
struct DeviceBreakdown {
  std::uint32_t device = model::kNone;  // Index into Trace::devices.
  std::uint64_t events = 0;
  std::uint64_t kernels = 0;
  std::uint64_t short_kernels = 0;  // Below kShortKernel.
  std::uint32_t streams = 0;

  Nanos start{};
  Nanos span{};  // Last end minus first start: busy + idle.
  Nanos busy{};
  Nanos idle{};
  Nanos compute{};                // Kernels that are not communication.
  Nanos communication{};          // Communication kernels (communication.h).
  Nanos memory{};                 // Copies and sets.
  Nanos overlapped{};             // Communication during computation.
  Nanos exposed_communication{};  // Communication without computation.
  Nanos exposed_memory{};         // Copies and sets without a kernel.

  std::uint64_t gaps = 0;
  Nanos gap_time[kGapCauses] = {};  // By GapCause; sums to `idle`.
  std::uint64_t gap_count[kGapCauses] = {};
  Nanos gap_median{};  // The longer of the middle two.
  Nanos gap_longest{};

  Nanos gap(GapCause cause) const { return gap_time[static_cast<std::size_t>(cause)]; }
};

// Devices that were busy at all, in the order of Trace::devices. One pass over sorted events.
std::vector<DeviceBreakdown> break_down(const model::Trace& trace);

}  // namespace amdahl::profile
