#include "profile/page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/screen.h"
#include "base/table.h"
#include "base/text.h"
#include "profile/advice.h"
#include "profile/pipeline_page.h"

namespace amdahl::profile {
namespace {

using model::kNone;

constexpr std::size_t kMostSteps = 8;
constexpr std::size_t kMostDevices = 16;
constexpr std::size_t kNameWidth = 36;

std::string times(double factor) {
  if (std::isinf(factor)) return "no limit";
  return factor < 100 ? fmt::format("{:.2f}x", factor) : "over 100x";
}

std::string share(Nanos part, Nanos whole) {
  return whole > Nanos{} ? show_percent(to_seconds(part) / to_seconds(whole)) : "";
}

class Writer {
 public:
  Writer(int width, bool colour) : width_{static_cast<std::size_t>(width)}, colour_{colour} {}

  void line(std::string_view text) { out_ += clip(plain(text), width_) + "\n"; }
  void blank() { out_ += "\n"; }
  void head(std::string_view text) {
    const std::string shown = clip(plain(text), width_);
    out_ += colour_ ? fmt::format("\x1b[1m{}\x1b[0m\n", shown) : shown + "\n";
  }
  // Wrapped at spaces, each line indented.
  void paragraph(std::string_view text, std::size_t indent) {
    for (const std::string& row : wrap_lines(plain(text), width_, indent)) line(row);
  }
  // `below` writes what stands below a row; it gets the row's number.
  template <class Below>
  void table(const TableRow& header, const std::vector<TableRow>& rows, const Below& below) {
    const std::vector<std::string> lines = table_lines(header, rows);
    blank();
    head(lines.front());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      line(lines[i + 1]);
      below(i);
    }
  }
  void table(const TableRow& header, const std::vector<TableRow>& rows) {
    table(header, rows, [](std::size_t) {});
  }
  std::string take() { return std::move(out_); }

 private:
  std::size_t width_;
  bool colour_;
  std::string out_;
};

void draw_head(const TraceReport& report, Writer& out) {
  const auto count = [](std::size_t number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const auto read = static_cast<std::size_t>(std::ranges::count_if(
      report.sources, [](const SourceRow& source) { return !source.format.empty(); }));
  std::string head = count(read > 0 ? read : report.sources.size(), "trace");
  const bool other = !report.kernels.empty() || !report.waits.empty() || !report.hot.empty() ||
                     report.pipeline.has_value();
  if ((report.wall > Nanos{} && !report.pipeline) || !other) {
    head += fmt::format(", {}, {}, {}", count(report.devices.size(), "device"),
                        count(report.steps.size(), "step"), show_span(report.wall));
  }
  if (!report.kernels.empty()) head += ", " + count(report.kernels.size(), "measured kernel");
  out.head(head);
  for (const std::string& reading : report.readings) {
    out.paragraph(fmt::format("note: {}", reading), 0);
  }
  const model::Bottleneck bottleneck = report.profile.bottleneck;
  if (bottleneck == model::Bottleneck::kUnknown) {
    out.line("bottleneck: unknown");
  } else {
    out.line(fmt::format("bottleneck: {} ({})", name(bottleneck), model::describe(bottleneck)));
  }
  out.paragraph(report.profile.rule, 2);
}

// Where most of a cause's time went: on idle devices, or else on the critical path.
std::string place_of(const TraceReport& report, Why why) {
  const auto show = [](const auto& place) {
    if (place.line.empty()) {
      return fmt::format("{}, {}", clip(place.what, 90), show_span(place.time));
    }
    const bool is_frame = contains(place.what, ".py(");  // It says that line again.
    return fmt::format("{}{}{}, {}", place.line, is_frame ? "" : ": ",
                       is_frame ? "" : clip(place.what, 90), show_span(place.time));
  };
  const GapPlace* best = nullptr;
  for (const DeviceRow& device : report.devices) {
    for (const GapPlace& place : device.gaps.places) {
      if (place.why == why && (best == nullptr || place.time > best->time)) best = &place;
    }
  }
  if (best != nullptr && !report.is_told_by_steps) return show(*best);
  const auto most = std::ranges::find(report.path.shares, why, &PathShare::why);
  return most == report.path.shares.end() ? "" : show(*most);
}

void draw_causes(const TraceReport& report, Writer& out) {
  const std::vector<model::Cause>& causes = report.profile.causes;
  if (causes.empty()) return;
  std::vector<TableRow> rows;
  for (const model::Cause& cause : causes) {
    rows.push_back({fmt::format("{}. {}", rows.size() + 1, clip(cause.name, kNameWidth)),
                    show_duration(from_seconds(cause.accelerator_seconds)),
                    show_percent(cause.share),
                    is_unexplained(cause) ? "unknown" : times(cause.ceiling)});
  }
  const Framework framework = framework_of_trace(report.profile.evidence);
  const std::string_view base = report.is_told_by_steps ? "of steps" : "of devices";
  out.table({"Cause", "time", std::string(base), "ceiling"}, rows, [&](std::size_t i) {
    const std::optional<Why> why = why_of(causes[i]);
    if (!why) return;
    if (const std::string place = place_of(report, *why); !place.empty()) {
      out.paragraph(place, 3);
    }
    out.paragraph(fmt::format("try: {}", what_to_try(*why, framework)), 3);
  });
}

// Why a device was idle, and how many launches waited for it.
void draw_idle(const DeviceRow& row, Writer& out) {
  std::string idle;
  for (const WhyRow& why : whys()) {
    const Nanos time = row.gaps.by_why[at(why.why)];
    if (time * 200 < row.split.span) continue;
    idle += fmt::format("{}{} {}", idle.empty() ? "idle: " : ", ", why.name,
                        share(time, row.split.span));
  }
  if (!idle.empty()) out.paragraph(idle, 2);
  if (row.waiting_most > 0) {
    out.line(fmt::format("  launch queue: {:.1f} launches waiting on average, {} at most",
                         row.waiting_mean, row.waiting_most));
  }
}

void draw_devices(const TraceReport& report, Writer& out) {
  if (report.devices.empty()) return;
  std::vector<TableRow> rows;
  for (const DeviceRow& row : report.devices) {
    if (rows.size() == kMostDevices) break;
    const DeviceBreakdown& split = row.split;
    rows.push_back({clip(row.name, kNameWidth), show_span(split.span),
                    share(split.busy, split.span), share(split.compute, split.span),
                    share(split.exposed_communication, split.span),
                    share(split.exposed_memory, split.span), share(split.idle, split.span)});
  }
  out.table({"Device", "span", "busy", "compute", "comm", "copy", "idle"}, rows,
            [&](std::size_t i) { draw_idle(report.devices[i], out); });
  if (report.devices.size() > rows.size()) {
    out.line(fmt::format("and {} more", report.devices.size() - rows.size()));
  }
  out.line(
      "comm and copy: exposed time only (not overlapped with compute). Idle parts sum to idle.");
  if (const std::string graphs = graph_line(report); !graphs.empty()) out.paragraph(graphs, 0);
}

void draw_pipeline(const TraceReport& report, std::size_t width, Writer& out) {
  if (!report.pipeline) return;
  for (const std::string& line : pipeline_lines(*report.pipeline, width)) out.line(line);
}

void draw_path(const TraceReport& report, Writer& out) {
  if (report.wall <= Nanos{} || report.path.segments.empty()) return;
  out.blank();
  out.head(fmt::format("Critical path, {}", show_span(report.wall)));
  std::vector<std::pair<Nanos, Why>> order;
  for (const WhyRow& row : whys()) order.emplace_back(report.path.by_why[at(row.why)], row.why);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const auto& p) { return p.first; });
  std::string parts;
  for (const auto& [time, why] : order) {
    if (time * 200 < report.wall) continue;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                         why == Why::kUnknown ? "idle" : name(why), share(time, report.wall));
  }
  out.paragraph(parts, 2);
  std::size_t shown = 0;
  for (const PathShare& part : report.path.shares) {
    if (++shown > 5) break;
    out.line(fmt::format("  {:>6}  {:<9} {}{}", share(part.time, report.wall), name(part.why),
                         part.line.empty() ? "" : part.line + ": ", part.what));
  }
}

void draw_gains(const TraceReport& report, Writer& out) {
  if (report.answer) {
    out.blank();
    out.head(fmt::format("What if {}", report.asked));
    out.line(fmt::format("  at most {}, expected {}", times(report.answer->ceiling),
                         times(report.answer->expected)));
  }
  if (report.gains.alone.empty()) return;
  std::vector<TableRow> rows;
  for (const Gain& gain : report.gains.alone) {
    rows.push_back({std::string(name(gain.first)), show_percent(gain.share), times(gain.ceiling),
                    times(gain.expected)});
  }
  for (const Gain& gain : report.gains.pairs) {
    rows.push_back({fmt::format("{} and {}", name(gain.first), name(gain.second)), "",
                    times(gain.ceiling), times(gain.expected)});
  }
  const std::string_view base = report.steps.empty() ? "of all" : "of steps";
  out.table({"Without", std::string(base), "at most", "expected"}, rows);
  out.paragraph(gains_note(report), 0);
}

void draw_steps(const TraceReport& report, Writer& out) {
  if (report.steps.empty()) return;
  std::vector<TableRow> rows;
  for (const StepRow& step : report.steps) {
    if (rows.size() == kMostSteps) break;
    rows.push_back({step.rank >= 0 ? fmt::format("{} r{}", step.number, step.rank)
                                   : fmt::format("{}", step.number),
                    show_span(step.wall), show_span(step.input), show_span(step.host),
                    show_span(step.device), show_span(step.comm), show_span(step.idle)});
  }
  out.table({"Step", "wall", "input", "host", "device", "comm", "idle"}, rows);
  if (report.steps.size() > rows.size()) {
    out.line(fmt::format("and {} more (--json has all)", report.steps.size() - rows.size()));
  }
}

void draw_serving(const TraceReport& report, Writer& out) {
  if (report.serving.empty()) return;
  std::vector<TableRow> rows;
  for (const ServingPhase& phase : report.serving) {
    rows.push_back({std::string(name(phase.kind)), fmt::format("{}", phase.steps),
                    show_span(phase.total), show_span(phase.median),
                    fmt::format("{:.1f}", phase.requests), fmt::format("{:.0f}", phase.tokens),
                    show_percent(phase.busy)});
  }
  out.table({"Serving", "steps", "total", "median", "requests", "tokens", "device busy"}, rows);
}

// From the first rank's arrival to the last one's.
void draw_skew(const TraceReport& report, Writer& out) {
  constexpr std::size_t kMostKinds = 5;
  std::vector<TableRow> rows;
  for (const CollectiveFacts& one : report.ranks.collectives) {
    if (rows.size() == kMostKinds) break;
    rows.push_back({clip(one.name, kNameWidth), fmt::format("{}", one.times),
                    show_span(one.skew_median), show_span(one.skew_longest),
                    show_span(one.waited)});
  }
  if (!rows.empty()) {
    out.table({"Arrival at collectives", "times", "skew, median", "longest", "waited"}, rows);
  }
}

void draw_ranks(const TraceReport& report, Writer& out) {
  const auto communicates = [](const RankFacts& rank) { return rank.communication > Nanos{}; };
  if (report.ranks.ranks.size() < 2 || std::ranges::none_of(report.ranks.ranks, communicates)) {
    return;
  }
  std::vector<TableRow> rows;
  for (const RankFacts& rank : report.ranks.ranks) {
    rows.push_back({fmt::format("{}", rank.rank), show_span(rank.communication),
                    show_span(rank.exposed), show_span(rank.waited), show_span(rank.made_wait),
                    fmt::format("{}", rank.last)});
  }
  out.table({"Rank", "comm", "exposed", "waited", "made wait", "last"}, rows);
  if (report.ranks.straggler != kNone) {
    const RankFacts& late = report.ranks.ranks[report.ranks.straggler];
    out.paragraph(
        fmt::format("rank {} is the straggler: it arrived last {} times", late.rank, late.last), 0);
  }
  draw_skew(report, out);
}

// Gigabytes a second.
std::string speed(double bytes) { return fmt::format("{:.1f} GB/s", bytes / 1e9); }

std::string show_bytes(std::uint64_t bytes) {
  const auto count = static_cast<double>(bytes);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", count / 1e6);
  return bytes >= 1000 ? fmt::format("{:.1f} kB", count / 1e3) : fmt::format("{} B", bytes);
}

void draw_speeds(const TraceReport& report, Writer& out) {
  if (report.speeds.empty()) return;
  std::vector<TableRow> rows;
  bool has_peak = false;
  for (const CollectiveSpeed& row : report.speeds) {
    if (rows.size() == kMostSteps) break;
    has_peak = has_peak || row.peak > 0;
    rows.push_back({clip(row.name, 24), show_bytes(row.bytes), fmt::format("{}", row.ranks),
                    fmt::format("{}", row.times), show_span(row.transfer), speed(row.algorithm),
                    speed(row.bus), row.peak > 0 ? show_percent(row.bus / row.peak) : "unknown",
                    show_percent(row.overlapped)});
  }
  out.table({"Collective", "message", "ranks", "times", "median", "algorithm", "bus", "of peak",
             "overlap"},
            rows);
  if (report.speeds.size() > rows.size()) {
    out.line(fmt::format("and {} more (--json has all)", report.speeds.size() - rows.size()));
  }
  if (has_peak) {
    out.paragraph(
        "Peak: of the links between devices of a node, one way. Between nodes the network "
        "is slower.",
        0);
  }
}

void draw_kernels(const TraceReport& report, Writer& out) {
  if (report.kernels.empty()) return;
  std::vector<TableRow> rows;
  for (const KernelFacts& kernel : report.kernels) {
    if (rows.size() == kMostSteps) break;
    rows.push_back({clip(kernel.kernel, kNameWidth), fmt::format("{}", kernel.launches),
                    std::string(name(kernel.bound)),
                    kernel.is_estimated ? times(kernel.ceiling) : "unknown"});
  }
  out.table({"Kernel", "launches", "bound", "ceiling"}, rows, [&](std::size_t i) {
    const KernelFacts& kernel = report.kernels[i];
    out.paragraph(kernel.because, 2);
    if (!kernel.hints.empty()) {
      out.paragraph(fmt::format("try: {}", clip(kernel.hints.front().text, 300)), 2);
    }
  });
  if (report.kernels.size() > rows.size()) {
    out.line(fmt::format("and {} more (--json has all)", report.kernels.size() - rows.size()));
  }
}

// What the devices computed, by kind, and what their kernels show that one could do.
void draw_work(const TraceReport& report, Writer& out) {
  const KernelTable& work = report.work;
  if (work.kinds.empty()) return;
  out.blank();
  const bool known = work.work.is_known();
  const auto rate = [&](std::string_view flops, std::string_view of_peak, std::string_view bytes,
                        std::string_view of_memory, std::string_view limit) {
    if (!known) return std::string();
    return fmt::format(" {:>8} {:>7} {:>8} {:>7}  {:<7}", flops, of_peak, bytes, of_memory, limit);
  };
  out.head(fmt::format("{:<14} {:>8} {:>9} {:>6}{}  {}", "Device work", "launches", "time", "share",
                       rate("TFLOP/s", "of peak", "GB/s", "of peak", "limit"), "largest kernel"));
  for (const KernelKindRow& row : work.kinds) {
    const WorkRates told = rates_of(row);
    const std::string rates =
        rate(told.flops, told.of_peak, told.bytes, told.of_bandwidth, told.limit);
    out.line(fmt::format("{:<14} {:>8} {:>9} {:>6}{}  {}", name(row.kind), row.launches,
                         show_span(row.time), show_percent(row.share), rates,
                         clip(row.largest, 48)));
  }
  if (const std::string line = mfu_line(work); !line.empty()) out.paragraph(line, 0);
  for (const KernelAdvice& one : report.work.advice) {
    out.paragraph(fmt::format("try: {}", one.says), 0);
  }
}

void draw_threads(const TraceReport& report, Writer& out) {
  std::vector<TableRow> rows;
  for (const WaitRow& row : report.waits) {
    rows.push_back({clip(row.thread, kNameWidth), row.state, row.reason, show_span(row.total),
                    fmt::format("{}", row.count), row.where});
  }
  if (!rows.empty()) out.table({"Thread", "state", "reason", "total", "times", ""}, rows);
  rows.clear();
  for (const HotRow& row : report.hot) {
    rows.push_back({show_percent(row.share), clip(row.event, 12), row.function});
  }
  if (!rows.empty()) out.table({"share", "event", "function"}, rows);
}

}  // namespace

std::string graph_line(const TraceReport& report) {
  if (report.ranks.graph_kernels == 0) return "";
  std::uint64_t kernels = 0;
  for (const DeviceRow& row : report.devices) kernels += row.split.kernels;
  const double share =
      static_cast<double>(report.ranks.graph_kernels) / static_cast<double>(kernels);
  return fmt::format("CUDA graphs launched {} of {} kernels ({}).", report.ranks.graph_kernels,
                     kernels, show_percent(share));
}

std::string gains_note(const TraceReport& report) {
  return fmt::format(
      "{}: of a rank's time, also while a device is busy. At most: Amdahl's law for that share, "
      "and "
      "no faster than the devices' own work in its order. Expected: the recorded work replayed "
      "without it. Gains of two causes do not add up.",
      report.steps.empty() ? "Of all" : "Of steps");
}

WorkRates rates_of(const KernelKindRow& row) {
  // A small part of the time says nothing of the rest.
  if (!is_told(row)) return {};
  const Roofline& sum = row.work;
  const auto part = [](std::optional<double> of) { return of ? show_percent(*of) : ""; };
  const double tera = sum.flops_per_s() / 1e12;
  WorkRates rates{.of_peak = part(sum.of_peak()),
                  .of_bandwidth = part(sum.of_bandwidth()),
                  .limit = std::string(sum.side())};
  if (tera >= 0.5e-3) rates.flops = fmt::format("{:.{}f}", tera, tera < 1 ? 3 : 1);
  if (sum.bytes_per_s() >= 0.5e9) rates.bytes = fmt::format("{:.0f}", sum.bytes_per_s() / 1e9);
  return rates;
}

std::string mfu_line(const KernelTable& work) {
  if (work.work.flops <= 0) return "";
  const std::string known =
      fmt::format("FLOPs are known for {} of the GEMM, convolution and attention time",
                  show_percent(work.shaped));
  if (!work.mfu) return known + "; the peaks of this device are not known.";
  return fmt::format("MFU {}: FLOPs from recorded shapes against the devices' peaks; {}.",
                     show_percent(*work.mfu), known);
}

std::string draw(const TraceReport& report, int width, bool colour) {
  width = std::max(width, kNarrowestPage);
  Writer out(width, colour);
  draw_head(report, out);
  draw_causes(report, out);
  draw_pipeline(report, static_cast<std::size_t>(width), out);
  draw_devices(report, out);
  draw_path(report, out);
  draw_gains(report, out);
  draw_steps(report, out);
  draw_serving(report, out);
  draw_ranks(report, out);
  draw_speeds(report, out);
  draw_work(report, out);
  draw_kernels(report, out);
  draw_threads(report, out);
  if (report.profile.missing.size() > report.readings.size()) out.blank();
  for (const std::string& missing : report.profile.missing) {
    if (std::ranges::find(report.readings, missing) != report.readings.end()) continue;
    out.paragraph(fmt::format("missing: {}", missing), 0);
  }
  return out.take();
}

}  // namespace amdahl::profile
