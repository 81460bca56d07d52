#include "trace/kineto/event.h"

#include <algorithm>
#include <array>
#include <optional>

#include "trace/kineto/decimal.h"
#include "trace/kineto/op_inputs.h"

namespace amdahl::trace::kineto {
namespace {

using model::LossKind;

struct Named {
  std::string_view name;
  Category category;
};

// Most frequent first. docs/format/trace-kineto.md documents how each is used.
constexpr auto kCategories = std::to_array<Named>({
    {"cpu_op", Category::kOp},
    {"ac2g", Category::kLaunchFlow},
    {"cuda_runtime", Category::kRuntime},
    {"python_function", Category::kPython},
    {"kernel", Category::kKernel},
    {"gpu_memcpy", Category::kCopy},
    {"gpu_memset", Category::kSet},
    {"user_annotation", Category::kAnnotation},
    {"gpu_user_annotation", Category::kDeviceAnnotation},
    {"cuda_driver", Category::kDriver},
    {"fwdbwd", Category::kFlow},
    {"cuda_sync", Category::kSync},
    {"overhead", Category::kOverhead},
    {"Operator", Category::kOp},
    {"Runtime", Category::kRuntime},
    {"Kernel", Category::kKernel},
    {"Memcpy", Category::kCopy},
    {"Memset", Category::kSet},
    {"async", Category::kLaunchFlow},
    {"async_gpu", Category::kLaunchFlow},
    {"async_cpu_to_gpu", Category::kLaunchFlow},
    {"HostToDevice", Category::kDeviceFlow},
    {"forward_backward", Category::kFlow},
    {"cpu_instant_event", Category::kIgnored},
    {"Trace", Category::kIgnored},
    {"mtia_runtime", Category::kRuntime},
    {"mtia_ccp_events", Category::kMtia},
    {"cuda_profiler_range", Category::kRange},
    {"hip_runtime", Category::kRuntime},
    {"hip_driver", Category::kDriver},
    {"xpu_runtime", Category::kRuntime},
    {"xpu_driver", Category::kDriver},
    {"privateuse1_runtime", Category::kRuntime},
    {"privateuse1_driver", Category::kDriver},
    {"glow_runtime", Category::kRuntime},
    {"hpu_op", Category::kKernel},
    {"collective_comm", Category::kKernel},
    {"cuda_event", Category::kIgnored},
    {"mtia_insight", Category::kIgnored},
    {"gpu_pm_counter", Category::kIgnored},
    {"gpu_user_Annotation", Category::kDeviceAnnotation},
    {"privateuse1_kernel", Category::kKernel},
    {"privateuse1_memcpy", Category::kCopy},
    {"privateuse1_memset", Category::kSet},
    {"privateuse1_sync", Category::kSync},
    {"privateuse1_user_annotation", Category::kDeviceAnnotation},
    {"privateuse1_external_correlation", Category::kIgnored},
    {"mtia_collective_comm", Category::kMtia},
    {"mtia_workloadd", Category::kIgnored},
    {"mtia_counters", Category::kIgnored},
    {"xpu_sync", Category::kIgnored},
    {"enqueue", Category::kOp},
    {"dequeue", Category::kOp},
    {"xpu_scope_profiler", Category::kIgnored},
    {"hardware_counters", Category::kIgnored},
    {"External correlation", Category::kIgnored},
    {"external_correlation", Category::kIgnored},
});

// What becomes of an event.
enum class Rows : std::uint8_t {
  kNothing,  // Or decided by its phase.
  kHost,
  kDevice,
  kSync,
  kUnknown,  // A host event, counted as unknown until its process is known (device_process.h).
};

struct Kept {
  Category category;
  Rows rows;
  Wanted wanted;  // Of an event with a duration.
  model::HostKind host = model::HostKind::kOther;
  model::DeviceKind device = model::DeviceKind::kKernel;
};

// In the order of Category.
constexpr auto kKept = std::to_array<Kept>({
    {Category::kNone, Rows::kUnknown, kWantAll},
    {Category::kUnknown, Rows::kUnknown, kWantAll},
    {Category::kOp, Rows::kHost, kWantStack, model::HostKind::kOp},
    {Category::kRuntime, Rows::kHost, kWantCall, model::HostKind::kRuntime},
    {Category::kDriver, Rows::kHost, kWantCall, model::HostKind::kDriver},
    {Category::kPython, Rows::kHost, kWantNothing, model::HostKind::kPython},
    {Category::kAnnotation, Rows::kHost, kWantNothing, model::HostKind::kAnnotation},
    {Category::kOverhead, Rows::kHost, kWantNothing, model::HostKind::kOverhead},
    {Category::kKernel, Rows::kDevice, kWantDevice},
    {Category::kCopy, Rows::kDevice, kWantDevice, {}, model::DeviceKind::kCopy},
    {Category::kSet, Rows::kDevice, kWantDevice, {}, model::DeviceKind::kSet},
    {Category::kMtia, Rows::kDevice, kWantDevice},
    {Category::kDeviceAnnotation, Rows::kDevice, kWantDevice, {}, model::DeviceKind::kAnnotation},
    {Category::kSync, Rows::kSync, kWantAll},
    {Category::kRange, Rows::kNothing, kWantAll},
    {Category::kLaunchFlow, Rows::kNothing, kWantNothing},
    {Category::kDeviceFlow, Rows::kNothing, kWantNothing},
    {Category::kFlow, Rows::kNothing, kWantNothing},
    {Category::kIgnored, Rows::kNothing, kWantNothing},
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < kKept.size(); ++i) {
    if (static_cast<std::size_t>(kKept[i].category) != i) return false;
  }
  return kKept.back().category == Category::kIgnored;
}
static_assert(in_order());

const Kept& kept(Category category) { return kKept[static_cast<std::size_t>(category)]; }

// Ids are mostly numbers; a word such as "Spans" becomes a number that no process has.
std::int64_t id_of(std::string_view token) {
  if (const auto number = integer_of(token)) return *number;
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a.
  for (const char c : token) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return -static_cast<std::int64_t>(hash >> 2) - 2;
}

std::uint64_t amount_of(std::string_view token) {
  const auto number = integer_of(token);
  return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
}

std::uint32_t small_amount_of(std::string_view token) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(amount_of(token), UINT32_MAX));
}

std::uint32_t correlation_of(std::string_view token, Window& window) {
  const auto number = integer_of(token);
  if (!number || *number <= 0) return 0;
  if (*number < kWideBit) return static_cast<std::uint32_t>(*number);
  window.wide.push_back(*number);
  return kWideBit | static_cast<std::uint32_t>(window.wide.size() - 1);
}

std::uint32_t name_of(const RawEvent& event, std::string_view text, Window& window) {
  if (text.size() > kLongestName) {
    window.lose(LossKind::kTooLong, event.offset, text);
    text = text.substr(0, kLongestName);
  }
  return window.names.intern(text);
}

std::uint32_t thread_of(const RawEvent& event, Window& window) {
  return window.threads.intern(id_of(event.pid), id_of(event.tid));
}

// The start and the duration, or nothing and a count of why.
struct Times {
  Nanos start{};
  Nanos duration{};
};

// A time that can be added to and taken from others, or nothing and a count of why not.
std::optional<Nanos> instant_of(const RawEvent& event, Window& window) {
  const auto at = nanos_of(event.ts);
  if (!at) {
    window.lose(LossKind::kNoTime, event.offset, event.name);
    return {};
  }
  if (Nanos(*at) < kEarliest || Nanos(*at) > kLatest) {
    window.lose(LossKind::kTimeRange, event.offset, event.name);
    return {};
  }
  return Nanos(*at);
}

std::optional<Times> times_of(const RawEvent& event, Window& window) {
  const auto start = instant_of(event, window);
  if (!start) return {};
  const auto duration = event.dur.empty() ? std::optional<std::int64_t>(0) : nanos_of(event.dur);
  if (!duration) {
    window.lose(LossKind::kNoTime, event.offset, event.name);
    return {};
  }
  if (Nanos(*duration) > kLongest) {
    window.lose(LossKind::kTimeRange, event.offset, event.name);
    return {};
  }
  if (*duration < 0) window.lose(LossKind::kNegativeDuration, event.offset, event.name);
  return Times{*start, Nanos(std::max<std::int64_t>(*duration, 0))};
}

// Operators are many and their names few.
bool keeps_inputs_of(std::uint32_t name, Window& window) {
  if (name >= window.keeps.size()) window.keeps.resize(name + 64, 0);
  std::uint8_t& known = window.keeps[name];
  if (known == 0) known = keeps_inputs(window.names[name]) ? 2 : 1;
  return known == 2;
}

void keep_host(const RawEvent& event, model::HostKind kind, Window& window) {
  const auto times = times_of(event, window);
  if (!times) return;
  model::HostEvent row;
  row.start = times->start;
  row.duration = times->duration;
  row.name = name_of(event, event.name, window);
  row.thread = thread_of(event, window);
  if (kind == model::HostKind::kRuntime || kind == model::HostKind::kDriver ||
      kind == model::HostKind::kOther) {
    row.correlation = correlation_of(event.correlation, window);
  }
  if (!event.call_stack.empty()) row.stack = name_of(event, event.call_stack, window);
  if (!event.inputs.empty() && keeps_inputs_of(row.name, window)) {
    row.inputs =
        name_of(event, inputs_of_args(event.inputs, window.room), window) & model::kLastInputs;
  }
  row.kind = kind;
  window.host_events.push_back(row);
}

// If no argument says so, the process of a device event is the device and its thread the stream.
std::optional<std::uint32_t> stream_of(const RawEvent& event, Window& window) {
  const auto device = integer_of(event.device.empty() ? event.pid : event.device);
  if (!device) {
    window.lose(LossKind::kNoDevice, event.offset, event.name);
    return {};
  }
  const bool named = !event.stream.empty() && integer_of(event.stream);
  return window.streams.intern(*device, id_of(named ? event.stream : event.tid));
}

std::uint32_t detail_of(const RawEvent& event, Window& window) {
  if (event.bytes.empty() && event.graph_node.empty() && event.collective.empty()) {
    return model::kNone;
  }
  model::DeviceDetail detail;
  detail.bytes = amount_of(event.bytes);
  detail.graph_node = amount_of(event.graph_node);
  detail.elements = amount_of(event.elements);
  detail.collective = name_of(event, event.collective, window);
  detail.element_type = name_of(event, event.element_type, window);
  detail.group = name_of(event, event.group, window);
  detail.group_size = small_amount_of(event.group_size);
  if (detail.bytes == 0 && detail.graph_node == 0 && detail.collective == 0) return model::kNone;
  window.details.push_back(detail);
  return static_cast<std::uint32_t>(window.details.size() - 1);
}

std::uint8_t occupancy_of(std::string_view token) {
  const auto percent = real_of(token);
  if (!percent || *percent < 0 || *percent > 100) return model::kUnknownOccupancy;
  return static_cast<std::uint8_t>(*percent + 0.5);
}

void keep_device(const RawEvent& event, model::DeviceKind kind, Window& window) {
  const auto times = times_of(event, window);
  if (!times) return;
  const auto stream = stream_of(event, window);
  if (!stream) return;
  model::DeviceEvent row;
  row.start = times->start;
  row.duration = times->duration;
  row.name = name_of(event, event.name, window);
  row.stream = *stream;
  row.correlation = correlation_of(event.correlation, window);
  row.detail = detail_of(event, window);
  row.kind = kind;
  if (!event.occupancy.empty()) row.occupancy = occupancy_of(event.occupancy);
  window.device_events.push_back(row);
}

model::SyncKind sync_kind(std::string_view name) {
  if (name.starts_with("Stream Wait")) return model::SyncKind::kStreamWait;
  if (name.starts_with("Stream")) return model::SyncKind::kStream;
  if (name.starts_with("Event")) return model::SyncKind::kEvent;
  if (name.starts_with("Context") || name.starts_with("Device")) return model::SyncKind::kDevice;
  return model::SyncKind::kUnknown;
}

void keep_sync(const RawEvent& event, Window& window) {
  const auto times = times_of(event, window);
  if (!times) return;
  const auto stream = stream_of(event, window);
  if (!stream) return;
  model::SyncEvent row;
  row.start = times->start;
  row.duration = times->duration;
  row.kind = sync_kind(event.sync_kind.empty() ? event.name : event.sync_kind);
  row.stream = *stream;
  row.correlation = correlation_of(event.correlation, window);
  if (const auto awaited = integer_of(event.awaited_stream); awaited && *awaited >= 0) {
    const auto device = integer_of(event.device.empty() ? event.pid : event.device);
    row.awaited_stream = window.streams.intern(*device, *awaited);
  }
  row.record_correlation = correlation_of(event.record_correlation, window);
  window.syncs.push_back(row);
}

void keep_flow(const RawEvent& event, Window& window) {
  if (event.category == Category::kLaunchFlow) return;
  const auto at = instant_of(event, window);
  if (!at || event.id.empty()) return;
  // Each has a unique name: "HostToDevice81604378623".
  const bool launches = event.category == Category::kDeviceFlow;
  window.flow_ends.push_back({id_of(event.id), *at, thread_of(event, window),
                              name_of(event, launches ? kLaunchFlowName : event.name, window),
                              event.phase == 's'});
}

// Ends need not repeat the name; device events are never written in two halves.
void keep_mark(const RawEvent& event, Window& window) {
  const Kept& as = kept(event.category);
  if (as.rows != Rows::kHost && as.rows != Rows::kUnknown) {
    return window.lose(LossKind::kUnknownKind, event.offset, event.name);
  }
  const auto at = instant_of(event, window);
  if (!at) return;
  window.marks.push_back({*at, thread_of(event, window), name_of(event, event.name, window),
                          as.host, event.phase == 'B', event.category != Category::kNone});
}

// A range without a thread: those of a process have their own line.
void keep_async(const RawEvent& event, bool begins, Window& window) {
  const auto at = instant_of(event, window);
  if (!at) return;
  const std::uint32_t line = window.threads.intern(id_of(event.pid), id_of(kAsyncLine));
  window.async_ends.push_back(
      {id_of(event.id), *at, line, name_of(event, event.name, window), begins});
}

void keep_label(const RawEvent& event, Window& window) {
  const bool process = event.name == "process_name";
  if (!process && event.name != "thread_name") return;
  window.labels.push_back({thread_of(event, window), name_of(event, event.label, window), process});
}

// The allocator's total at that time, as profile_memory=True writes it.
void keep_memory(const RawEvent& event, Window& window) {
  const auto total = real_of(event.allocated);
  if (!total) return;
  const auto at = instant_of(event, window);
  if (!at) return;
  const auto device = integer_of(event.memory_device);
  model::Sample row;
  row.at = *at;
  row.value = *total;
  row.name = window.names.intern("allocated bytes");
  row.device = device && *device >= 0 && *device < 1 << 16 ? static_cast<std::uint32_t>(*device)
                                                           : model::kNone;
  window.samples.push_back(row);
}

// A call of a device's runtime by its name, in files without categories.
bool is_call(const RawEvent& event) {
  if (event.correlation.empty()) return false;
  for (const std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (!event.name.starts_with(prefix) || event.name.size() <= prefix.size()) continue;
    const char next = event.name[prefix.size()];
    if (next >= 'A' && next <= 'Z') return true;
  }
  return false;
}

void keep_unknown(const RawEvent& event, Window& window) {
  if (is_call(event)) return keep_host(event, model::HostKind::kRuntime, window);
  window.lose(LossKind::kUnknownKind, event.offset, event.name);
  const std::size_t before = window.host_events.size();
  keep_host(event, model::HostKind::kOther, window);
  if (event.category == Category::kNone && window.host_events.size() > before) {
    window.host_events.back().parent = kNoCategory;
  }
}

// Streams of MTIA show as events that they wait for other streams.
model::DeviceKind mtia_kind(std::string_view name) {
  if (name == "dma_request") return model::DeviceKind::kCopy;
  const bool waits = name == "event_wait" || name == "event_record";
  return waits ? model::DeviceKind::kSync : model::DeviceKind::kKernel;
}

void keep_complete(const RawEvent& event, Window& window) {
  const Kept& as = kept(event.category);
  switch (as.rows) {
    case Rows::kNothing:
      return;
    case Rows::kHost:
      return keep_host(event, as.host, window);
    case Rows::kDevice:
      return keep_device(
          event, event.category == Category::kMtia ? mtia_kind(event.name) : as.device, window);
    case Rows::kSync:
      return keep_sync(event, window);
    case Rows::kUnknown:
      return keep_unknown(event, window);
  }
}

}  // namespace

Category category_of(std::string_view name) {
  for (const Named& row : kCategories) {
    if (row.name == name) return row.category;
  }
  return Category::kUnknown;
}

Wanted wanted_args(Category category, char phase) {
  if (phase == 's' || phase == 'f' || phase == 't') return kWantNothing;
  return phase == 'X' ? kept(category).wanted : kWantAll;
}

void keep_event(const RawEvent& event, Window& window) {
  if (window.events++ == 0 && event.phase == 'X' && event.category != Category::kIgnored) {
    const auto start = nanos_of(event.ts);
    if (start && Nanos(*start) >= kEarliest && Nanos(*start) <= kLatest) {
      window.first_started = Nanos(*start);
    }
  }
  if (event.duplicate) window.lose(LossKind::kDuplicateKey, event.offset, event.name);
  switch (event.phase) {
    case 'X':
      return keep_complete(event, window);
    case 'B':
    case 'E':
      return keep_mark(event, window);
    case 's':
    case 'f':
      return keep_flow(event, window);
    case 't':
      return;  // A step of a flow between its ends.
    case 'M':
      return keep_label(event, window);
    case 'b':
    case 'S':
      return keep_async(event, true, window);
    case 'e':
    case 'F':
      return keep_async(event, false, window);
    case 'n':
    case 'T':
    case 'p':
      return;  // A moment of such a range.
    case 'i':
    case 'I':
      return keep_memory(event, window);
    case 'C':
      return;  // keep_value() had its values.
    default:
      window.lose(LossKind::kUnknownKind, event.offset, event.name);
  }
}

void keep_value(const RawEvent& event, std::string_view key, std::string_view value,
                Window& window) {
  const auto number = real_of(value);
  if (!number) return;
  if (event.category == Category::kRange) {
    model::KernelMetric row;
    row.kernel = name_of(event, event.name, window);
    row.launch = static_cast<std::uint32_t>(window.events);
    row.metric = name_of(event, key, window);
    row.value = *number;
    window.metrics.push_back(row);
  } else if (event.phase == 'C') {
    const auto at = instant_of(event, window);
    if (!at) return;
    std::string name(event.name.substr(0, kLongestName / 2));
    name.append(" ").append(key.substr(0, kLongestName / 2));
    model::Sample row;
    row.at = *at;
    row.value = *number;
    row.name = window.names.intern(name);
    window.samples.push_back(row);
  }
}

}  // namespace amdahl::trace::kineto
