#include "trace/kineto/device_process.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text.h"
#include "trace/kineto/copy_name.h"
#include "trace/kineto/event.h"
#include "trace/kineto/window.h"

namespace amdahl::trace::kineto {
namespace {

using model::DeviceKind;
using model::HostKind;
using model::kNone;
using std::string_view_literals::operator""sv;

// Lines of a device that repeat what its streams show, under other names.
constexpr auto kViews =
    std::to_array({"Steps"sv, "XLA Modules"sv, "Framework"sv, "TensorFlow"sv, "Source"sv,
                   "XLA TraceMe"sv, "Async XLA Ops"sv, "Launch Stats"sv});

// Tasks of a stream that wait or signal; versions differ in letter case and underscores.
constexpr auto kNoWork = std::to_array(
    {"event wait"sv, "event record"sv, "event reset"sv, "notify wait"sv, "notify record"sv,
     "write value"sv, "memory wait"sv, "profiling enable"sv, "profiling disable"sv});

// Tasks that move data between devices: parts of a collective, where collectives are shown.
constexpr auto kTransfers =
    std::to_array({"sdma"sv, "rdmasend"sv, "rdma send"sv, "reduce inline"sv, "inline reduce"sv});

// Ascend's processes of collectives, and how their lines end; other lines are of single links.
constexpr auto kCollectives = std::to_array({"HCCL"sv, "Communication"sv});
constexpr std::string_view kGroupLine = "Communication";

bool is_one_of(std::span<const std::string_view> tasks, std::string_view name) {
  const auto same = [](char task, char c) {
    const bool upper = c >= 'A' && c <= 'Z';
    return task == (c == '_' ? ' ' : upper ? static_cast<char>(c + 32) : c);
  };
  return std::ranges::any_of(
      tasks, [&](std::string_view task) { return std::ranges::equal(task, name, same); });
}

// Processes that only sum up what devices did.
constexpr auto kSums = std::to_array({"Overlap Analysis"sv});

// What a thread of a device holds.
enum class Line : std::uint8_t { kHost, kWork, kCopies, kView, kSum, kGroup };

Line line_of(std::string_view thread, bool has_streams) {
  if (thread.starts_with("Stream"sv)) {
    return contains(thread, "Memcpy"sv) && !contains(thread, "Compute"sv) ? Line::kCopies
                                                                          : Line::kWork;
  }
  const bool view =
      std::ranges::any_of(kViews, [&](std::string_view of) { return thread.starts_with(of); });
  return has_streams || view ? Line::kView : Line::kWork;
}

DeviceKind kind_of(Line line, std::string_view name, bool has_groups) {
  if (line == Line::kGroup) return DeviceKind::kKernel;
  const bool transfers = is_one_of(kTransfers, name);
  if (line == Line::kView || is_one_of(kNoWork, name) || (transfers && has_groups)) {
    return DeviceKind::kAnnotation;
  }
  if (line == Line::kCopies || name.starts_with("Memcpy"sv) || name == "MEMCPY_ASYNC"sv ||
      transfers) {
    return DeviceKind::kCopy;
  }
  return name.starts_with("Memset"sv) ? DeviceKind::kSet : DeviceKind::kKernel;
}

struct DeviceLines {
  std::vector<Line> by_thread;
  std::vector<std::int64_t> streams;   // By thread: the number of its stream.
  std::vector<std::uint32_t> devices;  // By process; kNone: not a device.
  bool has_groups = false;             // Collectives are shown by themselves.
};

// The tools of Ascend put the number of the device into the lowest bits of a process.
constexpr std::int64_t kDeviceBits = 31;

// Gives processes of collectives to their devices, and their lines streams that no other has.
void take_collectives(std::uint32_t source, const model::Trace& trace, DeviceLines& lines) {
  std::vector<std::uint32_t> hardware;
  std::int64_t next = 0;
  for (std::uint32_t i = 0; i < trace.processes.size(); ++i) {
    if (lines.devices[i] != kNone) hardware.push_back(i);
  }
  if (hardware.empty()) return;
  for (const model::TraceThread& thread : trace.threads) {
    if (lines.devices[thread.process] != kNone) next = std::max(next, thread.id + 1);
  }
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::TraceThread& thread = trace.threads[i];
    const model::TraceProcess& process = trace.processes[thread.process];
    const bool is_one =
        process.source == source &&
        std::ranges::find(kCollectives, trace.names[process.name]) != kCollectives.end();
    if (!is_one) continue;
    const auto own = std::ranges::find_if(hardware, [&](std::uint32_t of) {
      return ((trace.processes[of].id ^ process.id) & kDeviceBits) == 0;
    });
    lines.devices[thread.process] = lines.devices[own == hardware.end() ? hardware.front() : *own];
    const bool is_group = trace.names[thread.name].ends_with(kGroupLine);
    lines.by_thread[i] = is_group ? Line::kGroup : Line::kView;
    lines.streams[i] = next++;
    lines.has_groups = lines.has_groups || is_group;
  }
}

DeviceLines lines_of(std::uint32_t source, model::TraceBuilder& builder) {
  model::Trace& trace = builder.trace();
  DeviceLines lines;
  lines.by_thread.assign(trace.threads.size(), Line::kHost);
  for (const model::TraceThread& thread : trace.threads) lines.streams.push_back(thread.id);
  lines.devices.assign(trace.processes.size(), kNone);
  std::int64_t next = 0;
  for (std::uint32_t i = 0; i < trace.processes.size(); ++i) {
    if (trace.processes[i].source != source) continue;
    const DeviceProcess found = device_process(trace.names[trace.processes[i].name]);
    if (!found.is_device) continue;
    lines.devices[i] = builder.device(source, found.number >= 0 ? found.number : next);
    trace.devices[lines.devices[i]].name = trace.processes[i].name;
    ++next;
  }
  std::vector<bool> has_streams(trace.processes.size(), false);
  for (const model::TraceThread& thread : trace.threads) {
    if (trace.names[thread.name].starts_with("Stream"sv)) has_streams[thread.process] = true;
  }
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const model::TraceThread& thread = trace.threads[i];
    const model::TraceProcess& process = trace.processes[thread.process];
    if (process.source == source &&
        std::ranges::find(kSums, trace.names[process.name]) != kSums.end()) {
      lines.by_thread[i] = Line::kSum;
    }
    if (lines.devices[thread.process] == kNone) continue;
    lines.by_thread[i] = line_of(trace.names[thread.name], has_streams[thread.process]);
  }
  take_collectives(source, trace, lines);
  return lines;
}

// How many events back an unfinished one may be.
constexpr int kTries = 64;

// The last of `order` on `line` that had started and not ended by then; kNone: none. `order` has
// indices into `rows`, by line and start.
template <class Rows, class LineOf>
std::uint32_t running_at(const Rows& rows, const std::vector<std::uint32_t>& order, LineOf line_of,
                         std::uint32_t line, Nanos time) {
  auto after = std::ranges::upper_bound(order, std::pair(line, time), {}, [&](std::uint32_t i) {
    return std::pair(line_of(rows[i]), rows[i].start);
  });
  for (int tries = 0; tries < kTries && after != order.begin(); ++tries) {
    --after;
    if (line_of(rows[*after]) != line) break;
    if (rows[*after].end() >= time) return *after;
  }
  return kNone;
}

// Positions from `first` on by line, start and, where these are equal, the longer first.
template <class Rows, class LineOf>
std::vector<std::uint32_t> ordered(const Rows& rows, std::size_t first, LineOf line_of) {
  std::vector<std::uint32_t> order(rows.size() - first);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(first));
  std::ranges::sort(order, {}, [&](std::uint32_t i) {
    return std::tuple(line_of(rows[i]), rows[i].start, -rows[i].duration, i);
  });
  return order;
}

// Of several flows to one event the last that left counts.
void join_launch_flows(const DeviceLines& lines, const SourceRows& first,
                       model::TraceBuilder& builder) {
  model::Trace& trace = builder.trace();
  const std::uint32_t name = trace.names.find(kLaunchFlowName);
  const auto launches = [&](const model::Flow& flow) {
    return flow.name == name && lines.devices[trace.threads[flow.to_thread].process] != kNone;
  };
  const auto begin = trace.flows.begin() + static_cast<std::ptrdiff_t>(first.flows);
  const auto rest = std::stable_partition(begin, trace.flows.end(), std::not_fn(launches));
  if (name == 0 || rest == trace.flows.end()) return;
  std::stable_sort(rest, trace.flows.end(),
                   [](const model::Flow& a, const model::Flow& b) { return a.from < b.from; });
  const auto thread = [](const model::HostEvent& event) { return event.thread; };
  const auto stream = [](const model::DeviceEvent& event) { return event.stream; };
  const auto hosts = ordered(trace.host_events, first.host_events, thread);
  const auto devices = ordered(trace.device_events, first.device_events, stream);
  // Beyond what files have.
  std::uint64_t next = std::uint64_t{1} << 63 | first.host_events << 1;
  for (auto flow = rest; flow != trace.flows.end(); ++flow) {
    const model::TraceThread& to = trace.threads[flow->to_thread];
    const std::uint32_t queue =
        builder.stream(lines.devices[to.process], kNone, lines.streams[flow->to_thread]);
    const auto work = running_at(trace.device_events, devices, stream, queue, flow->to);
    const auto call = running_at(trace.host_events, hosts, thread, flow->from_thread, flow->from);
    if (work == kNone || call == kNone) continue;
    model::HostEvent& launch = trace.host_events[call];
    launch.kind = HostKind::kRuntime;
    if (launch.correlation == 0) launch.correlation = builder.correlation(next++);
    trace.device_events[work].correlation = launch.correlation;
  }
  trace.flows.erase(rest, trace.flows.end());
}

}  // namespace

DeviceProcess device_process(std::string_view name) {
  if (name.starts_with("Ascend Hardware"sv)) return {true, -1};
  // "6 GPU0" of rocprof.
  if (const std::size_t gpu = name.rfind("GPU"sv);
      gpu != name.npos && gpu > 0 && name[gpu - 1] == ' ' && name.size() > gpu + 3) {
    DeviceProcess found{true, -1};
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + gpu + 3, end, found.number);
    if (read.ec == std::errc{} && read.ptr == end) return found;
  }
  constexpr std::string_view kDevice = "/device:";
  if (!name.starts_with(kDevice)) return {};
  name.remove_prefix(kDevice.size());
  const std::size_t colon = name.find(':');
  // "/device:CPU:0" and "/device:CUSTOM:..." are hosts and statistics.
  if (colon == name.npos || name.starts_with("CPU"sv) || name.starts_with("CUSTOM"sv)) return {};
  DeviceProcess found{true, -1};
  std::from_chars(name.data() + colon + 1, name.data() + name.size(), found.number);
  return found;
}

void take_device_processes(std::uint32_t source, const SourceRows& first,
                           model::TraceBuilder& builder) {
  model::Trace& trace = builder.trace();
  const auto loss = std::ranges::find_if(trace.losses, [&](const model::Loss& row) {
    return row.source == source && row.kind == model::LossKind::kUnknownKind;
  });
  if (loss == trace.losses.end()) return;
  const DeviceLines lines = lines_of(source, builder);
  std::uint64_t taken = 0;
  auto& rows = trace.host_events;
  const auto take = [&](model::HostEvent& event) {
    if (event.kind != HostKind::kOther) return false;
    const Line line = lines.by_thread[event.thread];
    const bool no_category = std::exchange(event.parent, kNone) == kNoCategory;
    if (line == Line::kHost) {
      event.correlation = 0;
      if (!no_category) return false;
      event.kind = HostKind::kOp;
      ++taken;
      return false;
    }
    ++taken;
    if (line == Line::kSum) return true;
    const model::TraceThread& thread = trace.threads[event.thread];
    const std::string_view name = trace.names[event.name];
    model::DeviceEvent row{
        .start = event.start,
        .duration = event.duration,
        .name = event.name,
        .stream = builder.stream(lines.devices[thread.process], kNone, lines.streams[event.thread]),
        .correlation = event.correlation,
        .kind = kind_of(line, name, lines.has_groups)};
    if (row.kind == DeviceKind::kCopy) {
      const CopyName copy = read_copy_name(name);
      row.copy = copy.kind;
      row.host_memory = copy.memory;
    }
    trace.device_events.push_back(row);
    return true;
  };
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first.host_events);
  rows.erase(std::remove_if(begin, rows.end(), take), rows.end());
  join_launch_flows(lines, first, builder);
  loss->count -= std::min(loss->count, taken);
  if (loss->count == 0) trace.losses.erase(loss);
}

}  // namespace amdahl::trace::kineto
