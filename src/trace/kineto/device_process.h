// device_process.h: devices that a trace shows as named processes without categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/trace_builder.h"

namespace amdahl::trace::kineto {

// Whether a process name is a device: "/device:GPU:0" as XLA (JAX, TensorFlow) writes it, or
// "Ascend Hardware"; and its number, -1 if the name has none.
struct DeviceProcess {
  bool is_device = false;
  std::int64_t number = -1;
};
DeviceProcess device_process(std::string_view name);

// First row of a source, per table.
struct SourceRows {
  std::size_t host_events = 0;
  std::size_t device_events = 0;
  std::size_t flows = 0;
};

// Converts host events without a category. In a device's process, events of its streams become
// device work and all other lines (modules, steps, waits) annotations. Collectives that Ascend
// shows in a separate process (HCCL) become work of its device, whose streams then show only their
// tasks. Elsewhere they become operators, as PyTorch builds without Kineto write them. Converted
// events no longer count as unknown. Where only flows link a call to its launched work, both get a
// correlation and the flows are removed.
void take_device_processes(std::uint32_t source, const SourceRows& first,
                           model::TraceBuilder& builder);

}  // namespace amdahl::trace::kineto
