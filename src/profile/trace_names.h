// trace_names.h: classifies the names in a trace, each name once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/trace.h"
#include "profile/why.h"

namespace amdahl::profile {

// What a runtime or driver call does, by its name; for cuda, hip and mtia.
enum class Api : std::uint8_t {
  kOther,
  kLaunch,  // Kernels and graphs.
  kCopy,    // May return before the copy is done.
  kBlockingCopy,
  kSet,
  kSync,        // Blocks until a device, a stream or an event is done.
  kFree,        // Blocks on many devices until all work is done.
  kStreamWait,  // Makes a stream wait; the host continues.
};

Api api_of(std::string_view call);

// Why a host event of this name and kind takes time; kHost if the name says nothing.
Why host_why(std::string_view name, model::HostKind kind);

class TraceNames {
 public:
  explicit TraceNames(const model::Trace& trace);  // Keeps a reference.

  Api api(const model::HostEvent& event) const;
  // The event's kind, corrected for ranges that old traces write as operators (steps, loaders,
  // optimizers) and operators that other profilers write as ranges (NVTX of PyTorch: "aten::to,
  // op_id = 7").
  model::HostKind kind(const model::HostEvent& event) const;
  // An annotation, Python, or a system call that sleeps (poll, futex): says where the thread is,
  // not that it works.
  bool is_silent(const model::HostEvent& event) const;
  // A system call recorded by Nsight Systems (OSRT): work or sleep of its own thread; other
  // threads are not known to wait for it.
  bool is_of_system(const model::HostEvent& event) const;
  // Launches a whole graph.
  bool is_graph(const model::HostEvent& event) const { return rows_[event.name].is_graph; }
  // Waits for the whole device, not for one stream or event.
  bool syncs_device(const model::HostEvent& event) const { return rows_[event.name].syncs_device; }
  bool is_step(const model::HostEvent& event) const { return rows_[event.name].is_step; }
  // The name under which events are summed: the first of those that differ only by a number.
  std::uint32_t label(std::uint32_t name) const { return rows_[name].label; }
  // "aten::to, op_id = 7" without its number.
  static std::string_view without_number(std::string_view name);
  bool is_communication(const model::DeviceEvent& event) const;
  // For the event alone, without enclosing events.
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
