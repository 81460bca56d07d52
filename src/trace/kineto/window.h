// window.h: the rows of one piece of a trace, before they are merged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/trace.h"
#include "trace/time_range.h"

namespace amdahl::trace::kineto {

// Interns pairs of ids as small numbers; 0 is never used. For threads (pid, tid) and streams
// (device, stream), of which there are few.
class PairPool {
 public:
  std::uint32_t intern(std::int64_t first, std::int64_t second);
  std::uint32_t size() const { return pool_.size(); }
  std::pair<std::int64_t, std::int64_t> operator[](std::uint32_t number) const;

 private:
  model::StringPool pool_;
  std::pair<std::int64_t, std::int64_t> last_{};
  std::uint32_t last_number_ = 0;
};

// One end of a flow between events, or of a range without a thread ("ph": "b" and "e").
struct FlowEnd {
  std::int64_t id = 0;
  Nanos at{};
  std::uint32_t thread = 0;
  std::uint32_t name = 0;
  bool start = false;
};

// The name of a process (tid -1) or thread.
struct Label {
  std::uint32_t thread = 0;
  std::uint32_t name = 0;
  bool of_process = false;
};

// The begin ("ph": "B") or end ("E") of a host event. An end closes the last open event of its
// thread.
struct Mark {
  Nanos at{};
  std::uint32_t thread = 0;
  std::uint32_t name = 0;
  model::HostKind kind = model::HostKind::kOther;
  bool begins = false;
  bool has_category = false;
};

// Rows as in model::Trace, but names, threads, streams and details are indices within the window;
// a host event's stack is the name of its whole call stack; and correlations with kWideBit are
// indices into `wide`.
struct Window {
  model::StringPool names;
  PairPool threads;
  PairPool streams;
  std::vector<std::int64_t> wide;
  std::vector<model::DeviceEvent> device_events;
  std::vector<model::DeviceDetail> details;
  std::vector<model::HostEvent> host_events;
  std::vector<model::SyncEvent> syncs;
  std::vector<FlowEnd> flow_ends;
  std::vector<FlowEnd> async_ends;
  std::vector<Mark> marks;
  std::vector<model::Sample> samples;  // `device` is a device's id.
  std::vector<model::KernelMetric> metrics;
  std::vector<Label> labels;
  std::string room;  // For texts that are put together before they get a number.
  // By name of an operator, whether its inputs are kept; 0: unknown, 1: no, 2: yes.
  std::vector<std::uint8_t> keeps;

  static constexpr std::size_t kLossKinds =
      static_cast<std::size_t>(model::LossKind::kMissingTable) + 1;
  std::array<std::uint64_t, kLossKinds> lost{};
  std::array<std::string, kLossKinds> examples;  // First example of each kind.

  std::uint64_t events = 0;            // All events examined.
  std::optional<Nanos> first_started;  // Start of the first one, if it has a duration.

  // Stream range from the first key of an event to that of the next, for events so long that they
  // may contain others.
  struct ByteRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<ByteRange> long_events;

  void note_long(std::uint64_t begin, std::uint64_t end);
  void lose(model::LossKind kind, std::uint64_t offset, std::string_view what);
};

inline constexpr std::uint32_t kWideBit = std::uint32_t{1} << 31;
// Name of the pseudo thread for ranges without a thread, and of flows from calls to devices.
inline constexpr std::string_view kAsyncLine = "async ranges";
inline constexpr std::string_view kLaunchFlowName = "HostToDevice";
inline constexpr std::size_t kLongestName = 16 * 1024;

}  // namespace amdahl::trace::kineto
