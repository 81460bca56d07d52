#include "profile/trace_report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "profile/busy.h"
#include "profile/pipeline_page.h"
#include "profile/trace_causes.h"

namespace amdahl::profile {
namespace {

using model::DeviceEvent;
using model::kNone;

constexpr std::size_t kReportRows = 12;

std::vector<SourceRow> source_rows(const model::Trace& trace) {
  std::vector<SourceRow> rows;
  for (const model::TraceSource& source : trace.sources) {
    SourceRow row;
    row.file = source.file;
    row.format = source.format;
    row.rank = source.rank;
    row.world_size = source.world_size;
    row.bytes = source.bytes;
    rows.push_back(std::move(row));
  }
  for (const model::Loss& loss : trace.losses) {
    if (loss.source < rows.size()) rows[loss.source].losses.push_back(model::describe(loss));
  }
  return rows;
}

std::string device_name(const model::Trace& trace, std::uint32_t device) {
  const model::TraceDevice& row = trace.devices[device];
  const std::int32_t rank = row.source == kNone ? -1 : trace.sources[row.source].rank;
  const std::string_view model = trace.names[row.name];
  return fmt::format("{}device {}{}", rank >= 0 ? fmt::format("rank {}, ", rank) : "", row.id,
                     model.empty() ? "" : fmt::format(" ({})", model));
}

void add_queue(const Prepared& in, DeviceRow& row) {
  const Nanos from = row.split.start;
  const Nanos to = from + row.split.span;
  const std::vector<Depth> depths = queue_depth(in, in.devices.of_device(row.split.device));
  double waiting = 0;
  for (std::size_t i = 0; i + 1 < depths.size(); ++i) {
    // What is launched before the device's first event waits outside of its span.
    const Nanos part = std::min(depths[i + 1].at, to) - std::max(depths[i].at, from);
    if (part <= Nanos{}) continue;
    waiting += depths[i].waiting * to_seconds(part);
    row.waiting_most = std::max(row.waiting_most, depths[i].waiting);
  }
  if (row.split.span > Nanos{}) row.waiting_mean = waiting / to_seconds(row.split.span);
}

std::vector<DeviceRow> device_rows(const Prepared& in) {
  std::vector<DeviceRow> rows;
  std::vector<DeviceGaps> all = gaps(in);
  for (DeviceBreakdown& split : break_down(in.trace)) {
    DeviceRow row;
    row.name = device_name(in.trace, split.device);
    row.source = in.trace.devices[split.device].source;
    const auto of_device = std::ranges::lower_bound(all, split.device, {}, &DeviceGaps::device);
    if (of_device != all.end() && of_device->device == split.device) {
      row.gaps = std::move(*of_device);
    }
    row.split = split;
    add_queue(in, row);
    rows.push_back(std::move(row));
  }
  return rows;
}

// What devices and the step's thread were at, as spans of one source.
struct SourceSpans {
  std::vector<Interval> busy;
  std::vector<Interval> exposed;  // Communication while nothing computes.
  std::vector<Interval> input;
};

std::vector<SourceSpans> spans_by_source(const Prepared& in) {
  std::vector<SourceSpans> spans(in.trace.sources.size());
  std::vector<std::vector<Interval>> compute(spans.size());
  for (const DeviceEvent& event : in.trace.device_events) {
    if (!keeps_busy(event)) continue;
    const std::uint32_t source = in.trace.devices[in.trace.streams[event.stream].device].source;
    const Why why = in.names.device(event);
    spans[source].busy.push_back({event.start, event.end()});
    if (why == Why::kComm) spans[source].exposed.push_back({event.start, event.end()});
    if (why == Why::kKernel) compute[source].push_back({event.start, event.end()});
  }
  std::vector<bool> marks(in.trace.threads.size(), false);
  for (const model::Step& step : in.trace.steps) marks[step.thread] = true;
  for (const model::HostEvent& event : in.trace.host_events) {
    if (!marks[event.thread] || in.names.host(event) != Why::kInput) continue;
    const std::uint32_t source = in.trace.processes[in.trace.threads[event.thread].process].source;
    spans[source].input.push_back({event.start, event.end()});
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    spans[i].busy = merged(std::move(spans[i].busy));
    spans[i].input = merged(std::move(spans[i].input));
    const std::vector<Interval> all = merged(std::move(spans[i].exposed));
    spans[i].exposed = without(all, merged(std::move(compute[i])));
  }
  return spans;
}

std::vector<StepRow> step_rows(const Prepared& in, const CriticalPath& path,
                               const std::vector<Nanos>& shifts) {
  const std::vector<SourceSpans> spans = spans_by_source(in);
  std::vector<StepRow> rows;
  for (const model::Step& step : in.trace.steps) {
    const std::uint32_t source = in.trace.processes[in.trace.threads[step.thread].process].source;
    const Interval window{step.start, step.start + step.duration};
    StepRow row;
    row.rank = in.trace.sources[source].rank;
    row.number = step.number;
    row.start = step.start;
    row.wall = step.duration;
    row.input = within(spans[source].input, window);
    row.device = within(spans[source].busy, window);
    row.comm = within(spans[source].exposed, window);
    row.idle = row.wall - row.device;
    row.path = path_within(path, window.from - shifts[source], window.to - shifts[source]);
    row.host = row.path[at(Why::kHost)] + row.path[at(Why::kLaunch)];
    if (in.trace.device_events.empty()) row.comm = row.path[at(Why::kComm)];
    rows.push_back(row);
  }
  return rows;
}

// What the graph of the whole trace tells, which is gone afterwards: it takes as much memory as the
// trace, and the path is long, too.
void follow(const Prepared& in, const ReportOptions& options, TraceReport& made) {
  WorkGraph graph = work_graph(in, {made.ranks.joined, made.ranks.shifts, options.cuts});
  made.wall = graph.to - graph.from;
  made.gains = gains(in, graph);
  if (options.what_if) {
    made.asked = describe(*options.what_if);
    if (made.asked.empty()) made.asked = "nothing changes";
    made.answer = gain_of(in, graph, *options.what_if);
  }
  made.path = critical_path(in, std::move(graph));
}

// Of timelines of operations: whatever was left out may have been a rank.
void say_losses(TraceReport& made) {
  std::vector<std::string> unread;
  for (const SourceRow& source : made.sources) {
    if (source.format.empty()) unread.push_back(source.file);
    for (const std::string& loss : source.losses) {
      if (!source.format.empty()) made.readings.push_back(source.file + ": " + loss);
    }
  }
  if (!unread.empty()) {
    made.readings.push_back("not read, since it is no trace: " + join(unread, ", "));
  }
  made.profile.missing.insert(made.profile.missing.end(), made.readings.begin(),
                              made.readings.end());
}

}  // namespace

std::string show_span(Nanos time) {
  const double seconds = to_seconds(time);
  if (time >= std::chrono::seconds(60)) return show_duration(time);
  if (seconds >= 0.9995) return fmt::format("{:.3g} s", seconds);  // 999.6 ms has no three digits.
  if (seconds >= 0.9995e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.3g} µs", seconds * 1e6);
  return fmt::format("{} ns", time.count());
}

TraceReport report(const Prepared& prepared, const ReportOptions& options) {
  TraceReport made;
  made.sources = source_rows(prepared.trace);
  made.devices = device_rows(prepared);
  made.work = kernel_table(prepared.trace);
  made.serving = serving_phases(prepared);
  made.kernels = kernel_facts(prepared.trace);
  join_measured(made.kernels, made.work);
  made.waits = thread_waits(prepared.trace, kReportRows);
  made.hot = hot_functions(prepared.trace, kReportRows);
  made.ranks = ranks(prepared);
  const bool has_graphs = 2 * made.ranks.graph_kernels > made.work.launches;
  std::ranges::move(serving_advice(made.serving, has_graphs), std::back_inserter(made.work.advice));
  made.speeds = collective_speeds(prepared, made.ranks);
  follow(prepared, options, made);
  made.steps = step_rows(prepared, made.path, made.ranks.shifts);
  std::string why;
  made.pipeline = pipeline(prepared.trace, why);
  if (made.pipeline && made.devices.empty()) {
    conclude_pipeline(*made.pipeline, made);
    say_losses(made);
  } else {
    conclude(prepared, made);
  }
  if (!why.empty()) made.profile.missing.push_back(std::move(why));
  for (const std::string& part :
       unknown_kernels(prepared.trace, options.what_if.value_or(WhatIf{}))) {
    made.profile.missing.push_back(fmt::format("what-if: no kernel name contains '{}'", part));
  }
  return made;
}

}  // namespace amdahl::profile
