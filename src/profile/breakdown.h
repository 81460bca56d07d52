// breakdown.h: where the time of each device went, and why it waited.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "model/trace.h"

namespace amdahl::profile {

// A gap shorter than this, after a launch that was early enough, is the device's own turn-around.
inline constexpr Nanos kShortGap = std::chrono::microseconds(30);
inline constexpr Nanos kShortKernel = std::chrono::microseconds(10);

// Why nothing ran between two stretches of work, told by the event that ended the gap.
enum class GapCause : std::uint8_t {
  kHostWait,    // It was launched only after the gap had begun: the host was late.
  kKernelWait,  // It was launched in time, and the gap is short.
  kOther,       // It was launched in time, and the gap is long: it waited for something else.
  kUnknown,     // Its launch is not in the trace.
};
inline constexpr std::size_t kGapCauses = 4;

// Of one device over the whole capture; exact. Kernels, copies and sets keep a device busy.
// Whatever its streams do at the same time counts once; events of no length only count as events.
struct DeviceBreakdown {
  std::uint32_t device = model::kNone;  // Of Trace::devices.
  std::uint64_t events = 0;
  std::uint64_t kernels = 0;
  std::uint64_t short_kernels = 0;  // Below kShortKernel.
  std::uint32_t streams = 0;

  Nanos start{};
  Nanos span{};  // Last end less first start: busy + idle.
  Nanos busy{};
  Nanos idle{};
  Nanos compute{};                // Kernels that are not communication.
  Nanos communication{};          // Those that are (communication.h).
  Nanos memory{};                 // Copies and sets.
  Nanos overlapped{};             // Communication while something computes.
  Nanos exposed_communication{};  // Communication while nothing computes.
  Nanos exposed_memory{};         // Copies and sets while no kernel runs.

  std::uint64_t gaps = 0;
  Nanos gap_time[kGapCauses] = {};  // By GapCause; they sum to `idle`.
  std::uint64_t gap_count[kGapCauses] = {};
  Nanos gap_median{};  // Of the middle two the longer.
  Nanos gap_longest{};

  Nanos gap(GapCause cause) const { return gap_time[static_cast<std::size_t>(cause)]; }
};

// Devices that were busy at all, in the order of Trace::devices. One pass over sorted events.
std::vector<DeviceBreakdown> break_down(const model::Trace& trace);

}  // namespace amdahl::profile
