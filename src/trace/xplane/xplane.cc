#include "trace/xplane/xplane.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/time_range.h"
#include "trace/xplane/wire.h"

namespace amdahl::trace::xplane {
namespace {

using model::CopyKind;
using model::DeviceKind;
using model::HostKind;
using model::LossKind;

constexpr std::size_t kLongestName = std::size_t{4} << 10U;
constexpr std::size_t kBlock = std::size_t{1} << 20U;
// Steps that a device derives belong to this thread, which no line is.
constexpr std::int64_t kDerivedSteps = std::numeric_limits<std::int64_t>::min();

// Numbers of fields in xplane.proto.
enum SpaceField : std::uint8_t { kPlane = 1, kHostname = 4 };
enum PlaneField : std::uint8_t { kName = 2, kLine, kEventMetadata, kStatMetadata, kPlaneStat };
enum LineField : std::uint8_t { kLineId = 1, kLineName, kTimestamp, kEvent, kDisplayName = 11 };
enum EventField : std::uint8_t { kMetadata = 1, kOffset, kDuration, kStat };
enum StatField : std::uint8_t { kStatName = 1, kUnsigned = 3, kSigned, kText, kBytesValue, kRef };
enum MetadataField : std::uint8_t { kTitle = 2, kShown = 4 };

constexpr auto kHosts = std::to_array<std::string_view>(
    {"/host:", "/device:", "Task Environment", "Host CPUs", "Syscalls", "#Chip"});

// Lines that tell again, by model or by source, what the streams of a GPU tell.
constexpr auto kDerived = std::to_array<std::string_view>(
    {"Steps", "XLA Modules", "XLA Ops", "XLA TraceMe", "Framework Ops", "Framework Name Scope",
     "TensorFlow Ops", "TensorFlow Name Scope", "Launch Stats", "Source code", "_counters_",
     "Async XLA Ops"});

struct Stats {
  std::uint64_t correlation = 0;
  std::uint64_t bytes = 0;
  std::int64_t step = -1;
};

struct Event {
  std::int64_t metadata = 0;
  Nanos start{};
  Nanos duration{};
  Stats stats{};
};

struct Line {
  std::int64_t id = 0;
  std::string_view name{};
  std::vector<Event> events{};
};

// "kind_src:pageable kind_dst:device size:4096": the size.
std::uint64_t size_in(std::string_view details) {
  constexpr std::string_view kSize = "size:";
  const std::size_t at = details.find(kSize);
  if (at == details.npos) return 0;
  std::uint64_t size = 0;
  std::from_chars(details.data() + at + kSize.size(), details.data() + details.size(), size);
  return size;
}

// "$train.py:12 step" of the Python tracer as other profilers write it: "train.py(12): step".
std::string python_name(std::string_view name) {
  name.remove_prefix(1);
  const std::size_t colon = name.find(':');
  const std::size_t space = name.find(' ', colon == name.npos ? 0 : colon);
  if (colon == name.npos || space == name.npos) return std::string(name);
  return fmt::format("{}({}): {}", name.substr(0, colon), name.substr(colon + 1, space - colon - 1),
                     name.substr(space + 1));
}

CopyKind copy_of(std::string_view name) {
  if (contains(name, "H2D")) return CopyKind::kHostToDevice;
  if (contains(name, "D2H")) return CopyKind::kDeviceToHost;
  if (contains(name, "D2D")) return CopyKind::kDeviceToDevice;
  if (contains(name, "P2P")) return CopyKind::kPeerToPeer;
  return CopyKind::kUnknown;
}

class Plane {
 public:
  Plane(std::string_view bytes, std::uint32_t source, const Limits& limits,
        model::TraceBuilder& builder)
      : bytes_{bytes}, source_{source}, limits_{limits}, builder_{builder} {}

  void read() {
    read_names();
    const bool is_gpu = name_.starts_with("/device:GPU:");
    const bool is_tpu = name_.starts_with("/device:TPU:") && !contains(name_, " ");
    const bool is_host = name_.starts_with("/host:") && name_ != "/host:metadata";
    if (!is_gpu && !is_tpu && !is_host) return;
    Message message(bytes_);
    Field field;
    while (message.next(field)) {
      if (field.number != kLine) continue;
      const Line line = line_of(field.bytes);
      if (is_host) add_host(line);
      if (is_gpu && std::ranges::find(kDerived, line.name) == kDerived.end()) add_stream(line);
      if (is_tpu) add_core(line);
      if (!has_room()) return lose(LossKind::kBudget, fmt::format("{}: the rest of it", name_));
    }
    if (!message.is_whole()) lose(LossKind::kTruncated, name_);
  }

 private:
  void lose(LossKind kind, std::string_view example) { builder_.lose(source_, kind, 1, example); }

  bool has_room() const {
    const model::Trace& trace = builder_.trace();
    return 40 * (trace.device_events.size() + trace.host_events.size()) < limits_.memory_bytes;
  }

  // Names come behind the lines that refer to them.
  void read_names() {
    Message message(bytes_);
    Field field;
    while (message.next(field)) {
      if (field.number == kName) name_ = field.bytes;
      if (field.number == kEventMetadata) add_name(field.bytes, events_);
      if (field.number == kStatMetadata) add_name(field.bytes, stats_);
    }
    Message again(bytes_);
    while (again.next(field)) {
      if (field.number == kPlaneStat) add_fact(field.bytes);
    }
  }

  using Names = std::unordered_map<std::int64_t, std::string_view>;

  // An entry of a map from ids to messages with names. A name for people wins.
  static void add_name(std::string_view entry, Names& names) {
    Message message(entry);
    Field field;
    std::int64_t id = 0;
    std::string_view name;
    std::string_view shown;
    while (message.next(field)) {
      if (field.number == 1) id = static_cast<std::int64_t>(field.value);
      if (field.number != 2) continue;
      Message inner(field.bytes);
      while (inner.next(field)) {
        if (field.number == kTitle) name = field.bytes;
        if (field.number == kShown) shown = field.bytes;
      }
    }
    names[id] = shown.empty() ? name : shown;
  }

  std::string_view text(const Names& names, std::int64_t id) const {
    const auto found = names.find(id);
    return found == names.end() ? std::string_view{"(name is not in the file)"} : found->second;
  }

  struct Stat {
    std::string_view name;
    std::uint64_t value = 0;
    std::string_view text;
  };

  Stat stat_of(std::string_view bytes) const {
    Message message(bytes);
    Field field;
    Stat stat;
    while (message.next(field)) {
      if (field.number == kStatName) {
        stat.name = text(stats_, static_cast<std::int64_t>(field.value));
      }
      if (field.number == kUnsigned || field.number == kSigned) stat.value = field.value;
      if (field.number == kText || field.number == kBytesValue) stat.text = field.bytes;
      if (field.number == kRef) stat.text = text(stats_, static_cast<std::int64_t>(field.value));
    }
    return stat;
  }

  // Of the device.
  void add_fact(std::string_view bytes) {
    const Stat stat = stat_of(bytes);
    if (stat.name == "memory_size") memory_ = stat.value;
    if (stat.name == "core_count") cores_ = static_cast<std::uint32_t>(stat.value);
    if (stat.name == "device_type_string") device_ = stat.text;
  }

  Line line_of(std::string_view bytes) {
    Line line;
    std::int64_t base = 0;
    Message message(bytes);
    Field field;
    std::string_view shown;
    while (message.next(field)) {
      if (field.number == kLineId) line.id = static_cast<std::int64_t>(field.value);
      if (field.number == kLineName) line.name = field.bytes;
      if (field.number == kDisplayName) shown = field.bytes;
      if (field.number == kTimestamp) base = static_cast<std::int64_t>(field.value);
      if (field.number == kEvent) add_event(field.bytes, base, line);
    }
    if (line.name.empty()) line.name = shown;
    return line;
  }

  void add_event(std::string_view bytes, std::int64_t base, Line& line) {
    Event event;
    std::uint64_t offset = 0;
    std::uint64_t duration = 0;
    Message message(bytes);
    Field field;
    while (message.next(field)) {
      if (field.number == kMetadata) event.metadata = static_cast<std::int64_t>(field.value);
      if (field.number == kOffset) offset = field.value;
      if (field.number == kDuration) duration = field.value;
      if (field.number == kStat) add_stat(field.bytes, event.stats);
    }
    constexpr std::uint64_t kPerNano = 1000;  // Picoseconds.
    const auto late = static_cast<std::int64_t>(offset / kPerNano);
    const auto end = static_cast<std::int64_t>((offset % kPerNano + duration) / kPerNano);
    if (Nanos(base) < kEarliest || Nanos(base) > kLatest / 2 || Nanos(late) > kLongest ||
        Nanos(end) > kLongest) {
      return lose(LossKind::kTimeRange, fmt::format("{}: {} ns and {} ps", name_, base, offset));
    }
    event.start = Nanos(base + late);
    event.duration = Nanos(end);
    line.events.push_back(event);
  }

  void add_stat(std::string_view bytes, Stats& stats) const {
    const Stat stat = stat_of(bytes);
    if (stat.name == "correlation_id") stats.correlation = stat.value;
    if (stat.name == "memcpy_details") stats.bytes = size_in(stat.text);
    if (stat.name == "step_num") stats.step = static_cast<std::int64_t>(stat.value);
  }

  std::uint32_t device() {
    std::int64_t number = 0;
    const std::size_t colon = name_.rfind(':');
    std::from_chars(name_.data() + colon + 1, name_.data() + name_.size(), number);
    const std::uint32_t device = builder_.device(source_, number);
    model::TraceDevice& row = builder_.trace().devices[device];
    row.memory_bytes = memory_;
    row.multiprocessors = cores_;
    if (!device_.empty()) row.name = builder_.intern(device_.substr(0, kLongestName));
    return device;
  }

  std::uint32_t intern(std::string_view text) {
    return builder_.intern(text.substr(0, kLongestName));
  }

  void add_device_event(const Event& event, std::uint32_t stream, DeviceKind kind) {
    const std::string_view name = text(events_, event.metadata);
    model::DeviceEvent row{.start = event.start, .duration = event.duration};
    row.name = intern(name);
    row.stream = stream;
    row.kind = kind;
    if (kind == DeviceKind::kCopy) row.copy = copy_of(name);
    if (event.stats.correlation != 0)
      row.correlation = builder_.correlation(event.stats.correlation);
    if (event.stats.bytes > 0) {
      builder_.trace().details.push_back({.bytes = event.stats.bytes});
      row.detail = static_cast<std::uint32_t>(builder_.trace().details.size() - 1);
    }
    builder_.trace().device_events.push_back(row);
  }

  void add_stream(const Line& line) {
    const std::uint32_t stream = builder_.stream(device(), model::kNone, line.id);
    for (const Event& event : line.events) {
      const std::string_view name = text(events_, event.metadata);
      const bool is_copy = name.starts_with("Memcpy");
      const bool is_set = name.starts_with("Memset");
      add_device_event(event, stream,
                       is_copy  ? DeviceKind::kCopy
                       : is_set ? DeviceKind::kSet
                                : DeviceKind::kKernel);
    }
  }

  // A core runs one operation at a time; loops and calls contain theirs and are ranges.
  void add_core(Line line) {
    const bool is_async = line.name == "Async XLA Ops";
    if (line.name == "Steps") return add_steps(line);
    if (line.name != "XLA Ops" && !is_async) return;
    const std::uint32_t stream = builder_.stream(device(), model::kNone, line.id);
    std::ranges::stable_sort(line.events, [](const Event& a, const Event& b) {
      return std::pair(a.start, b.duration) < std::pair(b.start, a.duration);
    });
    for (std::size_t i = 0; i < line.events.size(); ++i) {
      const Event& event = line.events[i];
      const bool contains_next = !is_async && i + 1 < line.events.size() &&
                                 line.events[i + 1].start < event.start + event.duration;
      const std::string_view name = text(events_, event.metadata);
      const bool is_copy = name.starts_with("copy-") || name.starts_with("copy.");
      add_device_event(event, stream,
                       contains_next || is_async ? DeviceKind::kAnnotation
                       : is_copy                 ? DeviceKind::kCopy
                                                 : DeviceKind::kKernel);
    }
  }

  // Named by their numbers.
  void add_steps(const Line& line) {
    const std::uint32_t thread = builder_.thread(builder_.process(source_, 0), kDerivedSteps);
    for (const Event& event : line.events) {
      const std::string_view name = text(events_, event.metadata);
      std::int64_t number = event.stats.step;
      std::from_chars(name.data(), name.data() + name.size(), number);
      if (number < 0) continue;
      builder_.trace().steps.push_back({event.start, event.duration, number, thread});
    }
  }

  void add_host(const Line& line) {
    const std::uint32_t thread = builder_.thread(builder_.process(source_, 0), line.id);
    builder_.trace().threads[thread].name = intern(line.name);
    const bool is_driver = name_ == "/host:CUPTI" || name_ == "/host:ROCTRACER";
    for (const Event& event : line.events) {
      const std::string_view name = text(events_, event.metadata);
      const bool is_python = name.starts_with('$');
      model::HostEvent row{.start = event.start, .duration = event.duration};
      row.name = is_python ? intern(python_name(name)) : intern(name);
      row.thread = thread;
      row.kind = is_python               ? HostKind::kPython
                 : is_driver             ? HostKind::kRuntime
                 : event.stats.step >= 0 ? HostKind::kAnnotation
                                         : HostKind::kOp;
      if (event.stats.correlation != 0) {
        row.correlation = builder_.correlation(event.stats.correlation);
        if (row.kind == HostKind::kOp) row.kind = HostKind::kRuntime;
      }
      if (event.stats.step >= 0) {
        builder_.trace().steps.push_back({event.start, event.duration, event.stats.step, thread});
      }
      builder_.trace().host_events.push_back(row);
    }
  }

  std::string_view bytes_;
  std::uint32_t source_;
  const Limits& limits_;
  model::TraceBuilder& builder_;
  std::string_view name_;
  Names events_;
  Names stats_;
  std::string_view device_;
  std::uint64_t memory_ = 0;
  std::uint32_t cores_ = 0;
};

Result<std::string> all_of(const Input& input, const Limits& limits) {
  std::string bytes;
  std::string block(kBlock, '\0');
  while (true) {
    const std::size_t got = TRY(input.next(block));
    if (got == 0) return bytes;
    bytes.append(block, 0, got);
    if (bytes.size() > limits.memory_bytes) {
      return bad_input(
          fmt::format("has more than {} bytes; record fewer steps", limits.memory_bytes));
    }
  }
}

// Steps that the job marked count before those that a device derives.
void keep_host_steps(model::Trace& trace, std::size_t from) {
  const auto is_derived = [&](const model::Step& step) {
    return trace.threads[step.thread].id == kDerivedSteps;
  };
  const auto first = trace.steps.begin() + static_cast<std::ptrdiff_t>(from);
  if (std::all_of(first, trace.steps.end(), is_derived)) return;
  trace.steps.erase(std::remove_if(first, trace.steps.end(), is_derived), trace.steps.end());
}

}  // namespace

bool claims(std::string_view head) {
  if (!head.starts_with('\n')) return false;
  Message space(head);
  Field field;
  if (!space.next(field) || field.number != kPlane) return false;
  Message plane(field.bytes);
  for (int i = 0; i < 2 && plane.next(field); ++i) {
    if (field.number != kName) continue;
    return std::ranges::any_of(
        kHosts, [&](std::string_view host) { return field.bytes.starts_with(host); });
  }
  return false;
}

Result<> read(const Input& input, const Limits& limits, model::TraceBuilder& builder) {
  const std::string bytes = TRY(all_of(input, limits));
  model::TraceSource source;
  source.file = input.name;
  source.format = "xplane";
  source.bytes = bytes.size();
  const std::uint32_t number = builder.source(std::move(source));
  const std::size_t before =
      builder.trace().device_events.size() + builder.trace().host_events.size();
  const std::size_t steps_before = builder.trace().steps.size();
  Message space(bytes);
  Field field;
  while (space.next(field)) {
    if (field.number == kPlane) Plane(field.bytes, number, limits, builder).read();
    if (field.number == kHostname && builder.trace().sources[number].host.empty()) {
      builder.trace().sources[number].host = field.bytes.substr(0, kLongestName);
    }
  }
  if (!space.is_whole()) builder.lose(number, LossKind::kTruncated, 1, "the last plane");
  keep_host_steps(builder.trace(), steps_before);
  if (builder.trace().device_events.size() + builder.trace().host_events.size() == before) {
    if (!space.is_whole()) {
      return bad_input("is damaged or cut off (copied as text?): nothing of it can be read");
    }
    return bad_input("has no events of hosts or devices; record some: jax.profiler.trace(DIR)");
  }
  return Ok{};
}

}  // namespace amdahl::trace::xplane
