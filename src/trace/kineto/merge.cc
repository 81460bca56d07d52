#include "trace/kineto/merge.h"

#include <algorithm>

#include <fmt/format.h>

#include "trace/kineto/copy_name.h"
#include "trace/kineto/device_process.h"
#include "trace/kineto/event.h"

namespace amdahl::trace::kineto {
namespace {

using model::HostKind;
using model::kNone;
using model::LossKind;

// Of the memory budget, at most this share for texts: a file of millions of different names has
// something other than names in them.
constexpr std::uint64_t kNamesShare = 4;
constexpr std::size_t kMostFlows = std::size_t{1} << 22;
constexpr std::string_view kTooManyOpen = "too many open ranges";

// Times in this range are microseconds since 1970.
constexpr Nanos kYear2000 = std::chrono::seconds(946'684'800);
constexpr Nanos kYear2100 = std::chrono::seconds(4'102'444'800);

// Beyond this no host event is left out for being short.
constexpr Nanos kLongestLeftOut = std::chrono::seconds(1);

// Whether a call of the runtime may be what starts, ends or holds up work of a device.
bool matters(std::string_view call) {
  for (const std::string_view word : {"Launch", "Memcpy", "Memset", "Sync", "Graph", "Malloc",
                                      "Free", "runFunction", "Wait", "Finish", "Fill", "Copy"}) {
    if (call.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

// From a window's numbers to the trace's, filled as they are needed.
struct Merger::Maps {
  explicit Maps(const Window& window)
      : names(window.names.size(), kNone),
        threads(window.threads.size(), kNone),
        streams(window.streams.size(), kNone) {}
  std::vector<std::uint32_t> names;
  std::vector<std::uint32_t> threads;
  std::vector<std::uint32_t> streams;
};

Merger::Merger(std::uint32_t source, const Limits& limits, model::TraceBuilder& builder)
    : source_(source), limits_(limits), builder_(builder) {
  const model::Trace& trace = builder.trace();
  first_ = {trace.device_events.size(), trace.host_events.size(), trace.syncs.size(),
            trace.samples.size(), trace.flows.size()};
}

std::uint32_t Merger::name(const Window& window, Maps& maps, std::uint32_t local) {
  std::uint32_t& number = maps.names[local];
  if (number != kNone) return number;
  const std::string_view text = window.names[local];
  const std::uint32_t before = builder_.trace().names.size();
  if (name_bytes_ > limits_.memory_bytes / kNamesShare) {
    number = builder_.trace().names.find(text);
    if (number != 0 || text.empty()) return number;
    builder_.lose(source_, LossKind::kTooLong, 1, "too many different names for the memory budget");
    number = builder_.intern("(other)");
    return number;
  }
  number = builder_.intern(text);
  if (builder_.trace().names.size() > before) name_bytes_ += text.size() + 32;
  return number;
}

std::uint32_t Merger::correlation(const Window& window, std::uint32_t local) {
  if ((local & kWideBit) == 0) return local;
  return builder_.correlation(static_cast<std::uint64_t>(window.wide[local & ~kWideBit]));
}

std::uint32_t Merger::thread(const Window& window, Maps& maps, std::uint32_t local) {
  std::uint32_t& number = maps.threads[local];
  if (number == kNone) {
    const auto [process, thread] = window.threads[local];
    number = builder_.thread(builder_.process(source_, process), thread);
  }
  return number;
}

std::uint32_t Merger::stream(const Window& window, Maps& maps, std::uint32_t local) {
  std::uint32_t& number = maps.streams[local];
  if (number == kNone) {
    const auto [device, stream] = window.streams[local];
    number = builder_.stream(builder_.device(source_, device), kNone, stream);
  }
  return number;
}

// "inner;outer" as frames.
std::uint32_t Merger::stack(std::uint32_t name) {
  const auto [found, added] = stacks_.try_emplace(name, kNone);
  if (!added) return found->second;
  const std::string text(builder_.trace().names[name]);
  std::string_view rest = text;
  std::uint32_t frame = kNone;
  while (!rest.empty()) {
    const std::size_t cut = rest.find_last_of(';');
    const std::size_t begin = cut == std::string_view::npos ? 0 : cut + 1;
    if (begin < rest.size()) frame = builder_.frame(frame, rest.substr(begin));
    rest = rest.substr(0, cut == std::string_view::npos ? 0 : cut);
  }
  found->second = frame;
  return frame;
}

void Merger::add(const Window& window) {
  Maps maps(window);
  if (events_ == 0) first_event_ = window.first_started;
  add_host(window, maps);
  add_device(window, maps);
  add_syncs(window, maps);
  add_flows(window, maps);
  add_marks(window, maps);
  add_async(window, maps);
  add_rest(window, maps);
  events_ += window.events;
  for (std::size_t i = 0; i < Window::kLossKinds; ++i) {
    builder_.lose(source_, static_cast<LossKind>(i), window.lost[i], window.examples[i]);
  }
  while (bytes_held() > limits_.memory_bytes / 4 * 3 && shortest_ < kLongestLeftOut) {
    thin_host_events();
  }
}

void Merger::add_host(const Window& window, Maps& maps) {
  auto& rows = builder_.trace().host_events;
  for (model::HostEvent row : window.host_events) {
    row.name = name(window, maps, row.name);
    if (row.duration < shortest_ && may_go(row)) {
      ++thinned_[source_];
      continue;
    }
    row.thread = thread(window, maps, row.thread);
    row.correlation = correlation(window, row.correlation);
    if (row.stack != kNone) row.stack = stack(name(window, maps, row.stack));
    if (row.inputs != 0) {
      const std::uint32_t inputs = name(window, maps, row.inputs);
      row.inputs = inputs <= model::kLastInputs ? inputs & model::kLastInputs : 0;
    }
    rows.push_back(row);
  }
}

void Merger::add_device(const Window& window, Maps& maps) {
  model::Trace& trace = builder_.trace();
  const auto details = static_cast<std::uint32_t>(trace.details.size());
  for (model::DeviceDetail row : window.details) {
    row.collective = name(window, maps, row.collective);
    row.element_type = name(window, maps, row.element_type);
    row.group = name(window, maps, row.group);
    trace.details.push_back(row);
  }
  for (model::DeviceEvent row : window.device_events) {
    if (row.kind == model::DeviceKind::kCopy) {
      const CopyName copy = read_copy_name(window.names[row.name]);
      row.copy = copy.kind;
      row.host_memory = copy.memory;
    }
    row.name = name(window, maps, row.name);
    row.stream = stream(window, maps, row.stream);
    row.correlation = correlation(window, row.correlation);
    if (row.detail != kNone) row.detail += details;
    trace.device_events.push_back(row);
  }
}

void Merger::add_syncs(const Window& window, Maps& maps) {
  for (model::SyncEvent row : window.syncs) {
    row.stream = stream(window, maps, row.stream);
    if (row.awaited_stream != kNone) {
      row.awaited_stream = stream(window, maps, row.awaited_stream);
    }
    row.correlation = correlation(window, row.correlation);
    row.record_correlation = correlation(window, row.record_correlation);
    builder_.trace().syncs.push_back(row);
  }
}

void Merger::add_flows(const Window& window, Maps& maps) {
  for (FlowEnd end : window.flow_ends) {
    end.thread = thread(window, maps, end.thread);
    end.name = name(window, maps, end.name);
    const FlowKey key{end.name, end.id};
    const auto found = open_flows_.find(key);
    if (found == open_flows_.end()) {
      if (open_flows_.size() < kMostFlows) {
        open_flows_.emplace(key, end);
      } else {
        builder_.lose(source_, LossKind::kUnmatchedFlow, 1, "");
      }
    } else if (found->second.start != end.start) {
      const FlowEnd& from = end.start ? end : found->second;
      const FlowEnd& to = end.start ? found->second : end;
      builder_.trace().flows.push_back({from.at, to.at, from.thread, to.thread, end.name});
      open_flows_.erase(found);
    } else {
      builder_.lose(source_, LossKind::kUnmatchedFlow, 1, "");
    }
  }
}

// An end closes what its thread began last.
void Merger::add_marks(const Window& window, Maps& maps) {
  for (Mark mark : window.marks) {
    mark.thread = thread(window, maps, mark.thread);
    mark.name = name(window, maps, mark.name);
    OpenMarks& of_thread = open_marks_[mark.thread];
    std::vector<Mark>& open = of_thread.marks;
    if (mark.begins && marks_open_ < kMostFlows && of_thread.skipped == 0) {
      open.push_back(mark);
      ++marks_open_;
      continue;
    }
    if (mark.begins) {
      ++of_thread.skipped;
      builder_.lose(source_, LossKind::kTooLong, 1, kTooManyOpen);
      continue;
    }
    if (of_thread.skipped > 0) {
      --of_thread.skipped;
      continue;
    }
    if (open.empty()) {
      builder_.lose(source_, LossKind::kNoTime, 1, "an end without a start");
      continue;
    }
    const Mark& begun = open.back();
    model::HostEvent row;
    row.start = begun.at;
    row.duration = std::clamp(mark.at - begun.at, Nanos{}, kLongest);
    row.name = begun.name;
    row.thread = begun.thread;
    row.kind = begun.kind;
    if (row.kind == HostKind::kOther) {
      builder_.lose(source_, LossKind::kUnknownKind, 1, builder_.trace().names[row.name]);
      if (!begun.has_category) row.parent = kNoCategory;
    }
    open.pop_back();
    --marks_open_;
    builder_.trace().host_events.push_back(row);
  }
}

// An end closes the last open range with the same name and id.
void Merger::add_async(const Window& window, Maps& maps) {
  for (FlowEnd end : window.async_ends) {
    end.thread = thread(window, maps, end.thread);
    end.name = name(window, maps, end.name);
    const FlowKey key{end.name, end.id, end.thread};
    if (end.start) {
      if (marks_open_ >= kMostFlows) {
        builder_.lose(source_, LossKind::kTooLong, 1, kTooManyOpen);
        continue;
      }
      open_async_[key].push_back(end.at);
      ++marks_open_;
      continue;
    }
    const auto begun = open_async_.find(key);
    if (begun == open_async_.end()) {
      builder_.lose(source_, LossKind::kNoTime, 1, "an end without a start");
      continue;
    }
    model::HostEvent row;
    row.start = begun->second.back();
    row.duration = std::clamp(end.at - row.start, Nanos{}, kLongest);
    row.name = end.name;
    row.thread = end.thread;
    row.kind = HostKind::kAnnotation;
    builder_.trace().threads[row.thread].name = builder_.intern(kAsyncLine);
    builder_.trace().host_events.push_back(row);
    begun->second.pop_back();
    if (begun->second.empty()) open_async_.erase(begun);
    --marks_open_;
  }
}

void Merger::add_rest(const Window& window, Maps& maps) {
  model::Trace& trace = builder_.trace();
  for (model::Sample row : window.samples) {
    row.name = name(window, maps, row.name);
    row.source = source_;
    if (row.device != kNone) row.device = builder_.device(source_, row.device);
    trace.samples.push_back(row);
  }
  for (model::KernelMetric row : window.metrics) {
    row.kernel = name(window, maps, row.kernel);
    row.metric = name(window, maps, row.metric);
    row.launch += static_cast<std::uint32_t>(events_);
    trace.kernel_metrics.push_back(row);
  }
  for (const Label& label : window.labels) {
    // Files of MTIA name hundreds of thousands of threads that did nothing; only those with
    // events get a row. A label of a thread that comes later is in the file again, or at its end.
    const auto [process, thread_id] = window.threads[label.thread];
    if (label.of_process) {
      const std::uint32_t row = builder_.process(source_, process);
      trace.processes[row].name = name(window, maps, label.name);
    } else {
      const std::uint32_t row = thread(window, maps, label.thread);
      trace.threads[row].name = name(window, maps, label.name);
    }
  }
}

std::uint64_t Merger::bytes_held() const {
  const model::Trace& trace = builder_.trace();
  const auto held = [](const auto& rows) { return rows.size() * sizeof(rows[0]); };
  return held(trace.host_events) + held(trace.device_events) + held(trace.details) +
         held(trace.syncs) + held(trace.samples) + held(trace.flows) + held(trace.kernel_metrics) +
         held(trace.threads) + held(trace.stacks) + name_bytes_ +
         open_flows_.size() * sizeof(FlowEnd) * 2 + marks_open_ * sizeof(Mark);
}

// What a host event must be to be left out when memory runs short: nothing else needs it.
bool Merger::may_go(const model::HostEvent& event) {
  if (event.kind == HostKind::kAnnotation) return false;
  if (event.correlation == 0) return true;
  if (event.name >= matters_.size()) matters_.resize(builder_.trace().names.size(), 0);
  std::uint8_t& known = matters_[event.name];
  if (known == 0) known = matters(builder_.trace().names[event.name]) ? 2 : 1;
  return known == 1;
}

// Drops short, unimportant host events; the rest still covers most of the time. Also in earlier
// files: the ranks of a job share the budget.
void Merger::thin_host_events() {
  model::Trace& trace = builder_.trace();
  auto& rows = trace.host_events;
  shortest_ = shortest_ == Nanos{} ? Nanos(1000) : shortest_ * 2;
  const auto goes = [&](const model::HostEvent& event) {
    return event.duration < shortest_ && may_go(event);
  };
  std::size_t kept = 0;
  std::size_t first = 0;  // Where the rows of this source begin then.
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == first_.host_events) first = kept;
    if (goes(rows[i])) {
      ++thinned_[trace.processes[trace.threads[rows[i].thread].process].source];
    } else {
      rows[kept++] = rows[i];
    }
  }
  first_.host_events = first_.host_events < rows.size() ? first : kept;
  rows.resize(kept);
}

bool Merger::full() const { return bytes_held() > limits_.memory_bytes; }

Nanos Merger::last_time() const {
  const model::Trace& trace = builder_.trace();
  Nanos last{};
  const auto look = [&](const auto& rows, std::size_t first, auto time) {
    for (std::size_t i = first; i < rows.size(); ++i) last = std::max(last, rows[i].*time);
  };
  look(trace.host_events, first_.host_events, &model::HostEvent::start);
  look(trace.device_events, first_.device_events, &model::DeviceEvent::start);
  look(trace.syncs, first_.syncs, &model::SyncEvent::start);
  look(trace.samples, first_.samples, &model::Sample::at);
  look(trace.flows, first_.flows, &model::Flow::from);
  look(trace.flows, first_.flows, &model::Flow::to);
  return last;
}

void Merger::add_base(Nanos base) {
  model::Trace& trace = builder_.trace();
  const auto add = [&](auto& rows, std::size_t first, auto time) {
    for (std::size_t i = first; i < rows.size(); ++i) rows[i].*time += base;
  };
  add(trace.host_events, first_.host_events, &model::HostEvent::start);
  add(trace.device_events, first_.device_events, &model::DeviceEvent::start);
  add(trace.syncs, first_.syncs, &model::SyncEvent::start);
  add(trace.samples, first_.samples, &model::Sample::at);
  add(trace.flows, first_.flows, &model::Flow::from);
  add(trace.flows, first_.flows, &model::Flow::to);
}

// Among times of this century, a few from 1970 are invalid: they would make the trace decades
// long. False, and nothing changes, if most are like that.
bool Merger::drop_strays() {
  model::Trace& trace = builder_.trace();
  std::uint64_t early = 0;
  std::uint64_t all = 0;
  const auto count = [&](const auto& rows, std::size_t first) {
    for (std::size_t i = first; i < rows.size(); ++i) early += rows[i].start < kYear2000 ? 1 : 0;
    all += rows.size() - first;
  };
  count(trace.host_events, first_.host_events);
  count(trace.device_events, first_.device_events);
  if (early * 2 > all) return false;
  std::uint64_t dropped = 0;
  const auto drop = [&](auto& rows, std::size_t first, auto time) {
    const auto strays =
        std::remove_if(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end(),
                       [&](const auto& row) { return row.*time < kYear2000; });
    dropped += static_cast<std::uint64_t>(rows.end() - strays);
    rows.erase(strays, rows.end());
  };
  drop(trace.host_events, first_.host_events, &model::HostEvent::start);
  drop(trace.device_events, first_.device_events, &model::DeviceEvent::start);
  drop(trace.syncs, first_.syncs, &model::SyncEvent::start);
  drop(trace.samples, first_.samples, &model::Sample::at);
  drop(trace.flows, first_.flows, &model::Flow::from);
  builder_.lose(source_, LossKind::kTimeRange, dropped,
                "before the year 2000, unlike the other events");
  return true;
}

void Merger::finish(Nanos base) {
  take_device_processes(source_, {first_.host_events, first_.device_events, first_.flows},
                        builder_);
  model::Trace& trace = builder_.trace();
  model::TraceSource& source = trace.sources[source_];
  if (base != Nanos{} && last_time() > kLatest - base) {
    builder_.lose(source_, LossKind::kTimeRange, 1,
                  fmt::format("baseTimeNanoseconds {} is not added", base.count()));
    base = {};
  }
  source.base = base;
  if (first_event_) source.first_event = *first_event_ + base;
  if (base != Nanos{}) add_base(base);
  const Nanos last = last_time();
  const bool today = last >= kYear2000 && last <= kYear2100 && drop_strays();
  source.clock = today ? model::Clock::kUnix : model::Clock::kUnknown;
  builder_.lose(source_, LossKind::kUnmatchedFlow, open_flows_.size(), "");
  builder_.lose(source_, LossKind::kNoTime, marks_open_, "a start without an end");
  for (const auto& [of, count] : thinned_) {
    builder_.lose(of, LossKind::kMerged, count,
                  fmt::format("those shorter than {} us", shortest_.count() / 1000));
  }
}

}  // namespace amdahl::trace::kineto
