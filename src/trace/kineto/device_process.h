// device_process.h: devices that a trace shows as processes with a name, and no categories.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/trace_builder.h"

namespace amdahl::trace::kineto {

// Whether a process of this name is a device: "/device:GPU:0", as XLA (JAX, TensorFlow) writes it,
// or "Ascend Hardware"; and its number, -1 if the name has none.
struct DeviceProcess {
  bool is_device = false;
  std::int64_t number = -1;
};
DeviceProcess device_process(std::string_view name);

// Where the rows of a source begin.
struct SourceRows {
  std::size_t host_events = 0;
  std::size_t device_events = 0;
  std::size_t flows = 0;
};

// Turns host events of no category into device events where their process is a device: those of
// its streams into work, all other lines (modules, steps, waits) into annotations; collectives that
// Ascend shows in a process of their own (HCCL) into work of its device, whose streams then show
// only their tasks; and into operators elsewhere, as PyTorch builds without Kineto write them.
// Takes them off the count of events of an unknown kind. Where only flows lead from a call to what
// it launched, both get a correlation, and the flows go.
void take_device_processes(std::uint32_t source, const SourceRows& first,
                           model::TraceBuilder& builder);

}  // namespace amdahl::trace::kineto
