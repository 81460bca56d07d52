#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/embedded.h"
#include "base/html.h"
#include "base/json.h"
#include "base/text.h"
#include "profile/advice.h"
#include "profile/html_parts.h"
#include "profile/page.h"
#include "profile/pipeline_page.h"

namespace amdahl {
std::span<const Embedded> embedded_profile_page();
}

namespace amdahl::profile {
namespace {

std::string_view asset(std::string_view path) {
  for (const Embedded& file : embedded_profile_page()) {
    if (file.path == path) return file.bytes;
  }
  return {};
}

// A JSON string that may stand inside a script element, whatever it holds.
void append_string(std::string& out, std::string_view text) {
  const std::string quoted = dump_json(Json(std::string(text)));
  for (const char c : quoted) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

void append_lane(std::string& out, const Lane& lane) {
  out += "{\"name\":";
  append_string(out, lane.name);
  // Lanes that show again what threads and streams do count in no sum.
  const bool repeats = lane.kind == LaneKind::kPath || lane.kind == LaneKind::kIdle;
  fmt::format_to(std::back_inserter(out), ",\"repeats\":{},\"rows\":{},\"boxes\":[", repeats,
                 lane.depth);
  Nanos before{};
  bool first = true;
  for (const Box& box : lane.boxes) {
    // Each start as the difference to the one before: short numbers, a third of the bytes.
    fmt::format_to(std::back_inserter(out), "{}{},{},{},{},{},{}", first ? "" : ",",
                   (box.from - before).count(), (box.to - box.from).count(), box.name,
                   static_cast<int>(box.why), box.depth, box.count);
    before = box.from;
    first = false;
  }
  out += "]}";
}

std::string data_of(const Boxes& boxes) {
  std::string out = fmt::format("{{\"span\":{},\"whys\":[", (boxes.to - boxes.from).count());
  for (const WhyRow& row : whys()) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\"", row.why == Why::kKernel ? "" : ",",
                   row.name);
  }
  out += "],\"words\":[";
  for (const WhyRow& row : whys()) {
    if (row.why != Why::kKernel) out += ',';
    append_string(out, row.cause.name);
  }
  out += "],\"names\":[";
  for (std::size_t i = 0; i < boxes.names.size(); ++i) {
    if (i > 0) out += ',';
    append_string(out, boxes.names[i]);
  }
  out += "],\"lanes\":[";
  for (std::size_t i = 0; i < boxes.lanes.size(); ++i) {
    if (i > 0) out += ",\n";
    append_lane(out, boxes.lanes[i]);
  }
  return out + "]}";
}

std::string causes_table(const TraceReport& report) {
  if (report.profile.causes.empty()) return "";
  const HtmlColumn columns[] = {
      {"cause", true}, {"class", true},
      {"time"},        {report.is_told_by_steps ? "of steps" : "of devices"},
      {"ceiling"},     {"why, and what to try", true}};
  HtmlTable table(columns, "causes");
  const Framework framework = framework_of_trace(report.profile.evidence);
  for (const model::Cause& cause : report.profile.causes) {
    const std::optional<Why> why = why_of(cause);
    const std::string_view advice = why ? what_to_try(*why, framework) : "";
    table.row({escape_html(cause.name),
               fmt::format("<span class=\"whole\">{}</span>", name(cause.bottleneck)),
               show_duration(from_seconds(cause.accelerator_seconds)), show_percent(cause.share),
               is_unexplained(cause) ? "unknown" : times_of(cause.ceiling),
               fmt::format("{}<div class=\"try\">try: {}</div>", escape_html(cause.because),
                           escape_html(advice))});
  }
  return "<h2>Causes</h2>\n" + table.take();
}

std::string gains_of(const TraceReport& report) {
  if (report.gains.alone.empty() && !report.answer) return "";
  const HtmlColumn columns[] = {
      {"without", true}, {report.steps.empty() ? "of all" : "of steps"}, {"at most"}, {"expected"}};
  HtmlTable table(columns);
  if (report.answer) {
    table.row({fmt::format("<code>{}</code>", escape_html(report.asked)),
               show_percent(report.answer->share), times_of(report.answer->ceiling),
               times_of(report.answer->expected)});
  }
  for (const Gain& gain : report.gains.alone) {
    table.row({std::string(name(gain.first)), show_percent(gain.share), times_of(gain.ceiling),
               times_of(gain.expected)});
  }
  for (const Gain& gain : report.gains.pairs) {
    table.row({fmt::format("{} and {}", name(gain.first), name(gain.second)), "",
               times_of(gain.ceiling), times_of(gain.expected)});
  }
  return "<h2>What each fix could gain</h2>\n" + table.take() +
         fmt::format("<p class=\"try\">{}</p>\n", escape_html(gains_note(report)));
}

std::string devices_of(const TraceReport& report) {
  if (report.devices.empty()) return "";
  static constexpr HtmlColumn kColumns[] = {{"device", true}, {"span"},  {"busy"},
                                            {"compute"},      {"comm"},  {"copy"},
                                            {"idle"},         {"queue"}, {"idle because of", true}};
  HtmlTable table(kColumns);
  for (const DeviceRow& row : report.devices) {
    const double span = to_seconds(row.split.span);
    const auto part = [&](Nanos time) {
      return span > 0 ? show_percent(to_seconds(time) / span) : std::string();
    };
    std::string idle;
    for (const WhyRow& why : whys()) {
      const Nanos time = row.gaps.by_why[at(why.why)];
      if (time * 200 < row.split.span) continue;
      idle += fmt::format("{}{} {}", idle.empty() ? "" : ", ", why.name, part(time));
    }
    table.row({escape_html(row.name), show_span(row.split.span), part(row.split.busy),
               part(row.split.compute), part(row.split.exposed_communication),
               part(row.split.exposed_memory), part(row.split.idle),
               fmt::format("{:.1f}", row.waiting_mean), idle});
  }
  return fmt::format(
      "<h2>Devices</h2>\n{}<p class=\"try\">comm and copy: exposed time, not overlapped with "
      "compute; queue: launches "
      "waiting, on average. {}</p>\n",
      table.take(), graph_line(report));
}

// What the devices computed, by kind, and what one could do about it.
std::string work_of(const TraceReport& report) {
  const KernelTable& work = report.work;
  if (work.kinds.empty()) return "";
  static constexpr HtmlColumn kColumns[] = {{"work", true}, {"launches"}, {"time"},
                                            {"share"},      {"TFLOP/s"},  {"of peak"},
                                            {"GB/s"},       {"of peak"},  {"largest kernel", true}};
  HtmlTable table(kColumns);
  for (const KernelKindRow& row : work.kinds) {
    const WorkRates rates = rates_of(row);
    table.row({std::string(name(row.kind)), fmt::to_string(row.launches), show_span(row.time),
               show_percent(row.share), rates.flops, rates.of_peak, rates.bytes, rates.of_bandwidth,
               escape_html(clip(row.largest, 48))});
  }
  std::string out = "<h2>Device work</h2>\n" + table.take();
  if (const std::string line = mfu_line(work); !line.empty()) {
    out += fmt::format("<p class=\"try\">{}</p>\n", escape_html(line));
  }
  for (const KernelAdvice& one : work.advice) {
    out += fmt::format("<p class=\"try\">try: {}</p>\n", escape_html(one.says));
  }
  return out;
}

std::string kernels_of(const TraceReport& report) {
  if (report.kernels.empty()) return "";
  static constexpr HtmlColumn kColumns[] = {
      {"kernel", true}, {"launches"}, {"bound", true}, {"ceiling"}, {"why, and what to try", true}};
  HtmlTable table(kColumns);
  for (const KernelFacts& kernel : report.kernels) {
    const std::string advice = kernel.hints.empty() ? "" : kernel.hints.front().text;
    table.row({escape_html(kernel.kernel), fmt::to_string(kernel.launches),
               std::string(name(kernel.bound)),
               kernel.is_estimated ? times_of(kernel.ceiling) : "unknown",
               fmt::format("{}<div class=\"try\">{}</div>", escape_html(kernel.because),
                           escape_html(advice))});
  }
  return "<h2>Kernels</h2>\n" + table.take();
}

std::string legend() {
  std::string out = "<div id=\"legend\">";
  for (const WhyRow& row : whys()) {
    out += fmt::format("<span><i class=\"why-{0}\"></i>{0}</span>", row.name);
  }
  return out + "</div>\n";
}

// Colours of the legend, and depths of the cells of a map of ranks and steps.
std::string style() {
  std::string out(asset("page.css"));
  for (const WhyRow& row : whys())
    out += fmt::format(".why-{0} {{ background: var(--{0}); }}\n", row.name);
  for (int depth = 0; depth <= 100; depth += kDepthStep) {
    out += fmt::format(".d{0} {{ --depth: {0}%; }}\n", depth);
  }
  return out;
}

std::string timeline_of(const Boxes& boxes) {
  const std::string how =
      boxes.drawn == boxes.events
          ? fmt::format("{} events", boxes.events)
          : fmt::format("{} events; very short ones are drawn together", boxes.events);
  return fmt::format(
      "<h2>Timeline</h2>\n<div id=\"tools\"><input id=\"search\" type=\"search\" "
      "placeholder=\"search names ( / )\" aria-label=\"search names\"/><span id=\"found\"></span>"
      "<button id=\"in\">zoom in</button><button id=\"out\">zoom out</button>"
      "<button id=\"all\">all</button></div>\n{}"
      "<div id=\"frame\"><div id=\"lanes\"><canvas id=\"timeline\" tabindex=\"0\" "
      "aria-label=\"timeline of the trace\"></canvas></div></div>\n<div id=\"tip\"></div>\n"
      "<p class=\"try\">{}. Wheel: zoom; shift and wheel: scroll; drag: move; double click: a box; "
      "keys: + - ← → 0, / to search, n for the next.</p>\n",
      legend(), how);
}

// Steps, ranks and the path are no tables here: the page of the terminal has them.
std::string in_words(const TraceReport& report) {
  constexpr int kWidth = 110;
  std::string out =
      "<details id=\"words\">\n<summary>Text report: path, steps, ranks</summary>\n<pre>";
  const std::string page = draw(report, kWidth, false);
  for (const std::string_view line : split(page, '\n')) out += escape_html(line) + "\n";
  return out + "</pre>\n</details>\n";
}

// The ranks of a job are many files.
std::string title_of(const TraceReport& report) {
  if (report.sources.empty()) return "trace";
  const std::string& first = report.sources.front().file;
  const std::size_t more = report.sources.size() - 1;
  return more == 0 ? first : fmt::format("{} and {} more", first, more);
}

// What follows is of less than the whole job.
std::string traced(const std::string& source) {
  return fmt::format(
      "<h2 class=\"part\">Traced part</h2>\n<p class=\"try\">The rest of this page covers "
      "only the part in {}: for PyTorch a window of steps after the first ones.</p>\n",
      escape_html(source.substr(source.rfind('/') + 1)));
}

}  // namespace

std::string html(const TraceReport& report, const Boxes& boxes, const JobLead& lead) {
  const bool has_job = !lead.name.empty();
  const std::string title =
      fmt::format("{}: {}", has_job ? lead.name : title_of(report),
                  model::describe(has_job ? lead.bottleneck : report.profile.bottleneck));
  std::string page = html_head(title, style(), asset("page.js"));
  page += fmt::format("<h1>{}</h1>\n<p class=\"rule\">{}</p>\n", escape_html(title),
                      escape_html(has_job ? lead.rule : report.profile.rule));
  for (const std::string& reading : report.readings) {
    page += fmt::format("<p class=\"rule\">note: {}</p>\n", escape_html(reading));
  }
  page += lead.body;
  if (has_job && boxes.lanes.empty()) return page.append(kHtmlEnd);
  if (has_job) page += traced(title_of(report));
  page += causes_table(report);
  if (report.pipeline) page += pipeline_html(*report.pipeline);
  if (!report.pipeline || !boxes.lanes.empty()) page += timeline_of(boxes);
  page += gains_of(report);
  page += devices_of(report);
  page += work_of(report);
  page += kernels_of(report);
  page += in_words(report);
  if (!report.profile.missing.empty()) page += "<h2>Missing</h2>\n<ul>\n";
  for (const std::string& missing : report.profile.missing) {
    page += fmt::format("<li>{}</li>\n", escape_html(missing));
  }
  if (!report.profile.missing.empty()) page += "</ul>\n";
  if (report.pipeline && boxes.lanes.empty()) return page.append(kHtmlEnd);
  page += "<script type=\"application/json\" id=\"data\">\n";
  page += data_of(boxes);
  page += "\n</script>\n" + html_script(asset("page.js"));
  return page.append(kHtmlEnd);
}

}  // namespace amdahl::profile
