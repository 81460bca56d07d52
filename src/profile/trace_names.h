// trace_names.h: what the names in a trace speak of, looked at once for each name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "profile/why.h"

namespace amdahl::profile {

// What a call of a device's runtime or driver does, by its name: cuda, hip and mtia alike.
enum class Api : std::uint8_t {
  kOther,
  kLaunch,  // Kernels and graphs.
  kCopy,    // That may return before the copy is done.
  kBlockingCopy,
  kSet,
  kSync,        // Blocks until a device, a stream or an event is done.
  kFree,        // Blocks on many devices until all is done.
  kStreamWait,  // Makes a stream wait; the host goes on.
};

Api api_of(std::string_view call);

// Why a host event of this name and kind takes time; kHost if its name says nothing.
Why host_why(std::string_view name, model::HostKind kind);

class TraceNames {
 public:
  explicit TraceNames(const model::Trace& trace);  // Keeps a reference.

  Api api(const model::HostEvent& event) const;
  // Its kind, but for ranges that old traces write as operators (steps, loaders, optimizers) and
  // operators that other profilers write as ranges (NVTX of PyTorch: "aten::to, op_id = 7").
  model::HostKind kind(const model::HostEvent& event) const;
  // An annotation, Python, or a call of the system that sleeps (poll, futex): it only says where
  // the thread is, not that it is at work.
  bool is_silent(const model::HostEvent& event) const;
  // A call of the system, as Nsight Systems records them (OSRT): work or sleep of its own thread,
  // and nothing that other threads are known to wait for.
  bool is_of_system(const model::HostEvent& event) const;
  // A launch of a whole graph.
  bool is_graph(const model::HostEvent& event) const { return rows_[event.name].is_graph; }
  // A call that waits for all of a device, not for one stream or event.
  bool syncs_device(const model::HostEvent& event) const { return rows_[event.name].syncs_device; }
  bool is_step(const model::HostEvent& event) const { return rows_[event.name].is_step; }
  // The name under which events are summed: the first of those that differ by a number only.
  std::uint32_t label(std::uint32_t name) const { return rows_[name].label; }
  // "aten::to, op_id = 7" without its number.
  static std::string_view without_number(std::string_view name);
  bool is_communication(const model::DeviceEvent& event) const;
  // Of the event alone, not of those around it.
  Why host(const model::HostEvent& event) const;
  // kKernel, kCopy or kComm.
  Why device(const model::DeviceEvent& event) const;

 private:
  struct Row {
    Api api = Api::kOther;
    bool is_communication = false;
    std::uint32_t label = 0;
    bool is_range = false;
    bool is_op = false;
    bool is_step = false;
    bool is_graph = false;
    bool sleeps = false;
    bool loads = false;
    bool syncs_device = false;
    Why op = Why::kHost;
    Why python = Why::kHost;
    Why annotation = Why::kHost;
    Why overhead = Why::kProfiler;
  };
  std::vector<Row> rows_;  // By name.
};

}  // namespace amdahl::profile
