// merge.h: merges the windows of one file, in order, into a trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/trace_builder.h"
#include "trace/kineto/window.h"
#include "trace/reader.h"

namespace amdahl::trace::kineto {

class Merger {
 public:
  Merger(std::uint32_t source, const Limits& limits, model::TraceBuilder& builder);

  void add(const Window& window);

  // Whether the memory budget is used up although short host events are already dropped.
  bool full() const;

  std::uint64_t events() const { return events_; }

  // Sets base time, clock, flows and losses; call after the last window.
  void finish(Nanos base);

 private:
  struct Maps;
  std::uint32_t name(const Window& window, Maps& maps, std::uint32_t local);
  std::uint32_t correlation(const Window& window, std::uint32_t local);
  std::uint32_t thread(const Window& window, Maps& maps, std::uint32_t local);
  std::uint32_t stream(const Window& window, Maps& maps, std::uint32_t local);
  std::uint32_t stack(std::uint32_t name);
  void add_host(const Window& window, Maps& maps);
  void add_device(const Window& window, Maps& maps);
  void add_syncs(const Window& window, Maps& maps);
  void add_flows(const Window& window, Maps& maps);
  void add_marks(const Window& window, Maps& maps);
  void add_async(const Window& window, Maps& maps);
  void add_rest(const Window& window, Maps& maps);
  bool may_go(const model::HostEvent& event);
  void thin_host_events();
  Nanos last_time() const;
  bool drop_strays();
  void add_base(Nanos base);
  std::uint64_t bytes_held() const;

  struct FirstRows {
    std::size_t device_events = 0;
    std::size_t host_events = 0;
    std::size_t syncs = 0;
    std::size_t samples = 0;
    std::size_t flows = 0;
  };

  struct FlowKey {
    std::uint32_t name = 0;
    std::int64_t id = 0;
    std::uint32_t line = 0;  // Pseudo thread of ranges that belong to no thread.
    friend bool operator==(const FlowKey&, const FlowKey&) = default;
  };
  struct HashFlow {
    std::size_t operator()(const FlowKey& key) const {
      return static_cast<std::size_t>(key.id) * 0x9E3779B97F4A7C15 + key.name + key.line * 31;
    }
  };

  std::uint32_t source_;
  Limits limits_;
  model::TraceBuilder& builder_;
  FirstRows first_;
  std::unordered_map<FlowKey, FlowEnd, HashFlow> open_flows_;
  // Per thread.
  struct OpenMarks {
    std::vector<Mark> marks;    // Outermost first.
    std::uint64_t skipped = 0;  // Begun inside those, without room.
  };
  std::unordered_map<std::uint32_t, OpenMarks> open_marks_;
  std::unordered_map<FlowKey, std::vector<Nanos>, HashFlow> open_async_;  // Start times.
  std::size_t marks_open_ = 0;                                            // Of both kinds.
  std::unordered_map<std::uint32_t, std::uint32_t> stacks_;  // By name of the call stack.
  std::optional<Nanos> first_event_;
  std::uint64_t name_bytes_ = 0;
  std::uint64_t events_ = 0;
  std::map<std::uint32_t, std::uint64_t> thinned_;  // Dropped host events by source.
  std::vector<std::uint8_t> matters_;               // By name of a call; 0: unknown, 1: no, 2: yes.
  Nanos shortest_{};                                // Host operators shorter than this are dropped.
};

}  // namespace amdahl::trace::kineto
