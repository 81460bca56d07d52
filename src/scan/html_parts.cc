#include "scan/html_parts.h"

#include <algorithm>
#include <span>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/amount.h"
#include "base/html.h"
#include "base/text.h"

namespace amdahl::scan {
namespace {

constexpr std::string_view kStyle = R"(
:root { --down: #4a4458; --unallocated: #9dc3e6; }
@media (prefers-color-scheme: dark) { :root { --down: #8d86a0; --unallocated: #35608a; } }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem;
  margin: 1rem 0; padding: 0; }
.facts div { padding: .6rem .9rem; }
.facts b { display: block; font-size: 1.5rem; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: .9rem; }
svg { width: 100%; max-width: 52rem; height: auto; } svg.bar { max-width: none; height: 2.5rem; }
.productive { fill: var(--productive); } .low { fill: var(--low); } .idle { fill: var(--idle); }
.unobserved { fill: var(--unobserved); } .down { fill: var(--down); }
.unallocated { fill: var(--unallocated); }
.curve { fill: none; stroke: var(--curve); stroke-width: 2.5; }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.key span { white-space: nowrap; margin-right: .75rem; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin-right: .3rem;
  border-radius: .15rem; vertical-align: -.05rem; }
i.productive { background: var(--productive); } i.low { background: var(--low); }
i.idle { background: var(--idle); } i.unobserved { background: var(--unobserved); }
i.down { background: var(--down); } i.unallocated { background: var(--unallocated); }
table { width: 100%; font-size: .92rem; } td, th { white-space: nowrap; }
td.words { min-width: 14rem; white-space: normal; }
#actions td { vertical-align: top; } #actions td.words { width: 60%; }
#actions td, #actions th { padding-inline: .35rem; }
#own td { vertical-align: top; } #own td.words { min-width: 8rem; overflow-wrap: anywhere; }
#rows { font-size: .86rem; } #rows td.words { min-width: 8.5rem; }
#rows th { cursor: pointer; white-space: normal; vertical-align: bottom; }
#rows th, #rows td { padding: .25rem .3rem; }
th[aria-sort=descending]::after { content: " \2193"; }
th[aria-sort=ascending]::after { content: " \2191"; }
@media (max-width: 40rem) { .label { font-size: 17px; } .curve { stroke-width: 4; }
  #actions td.words { min-width: 8rem; width: auto; overflow-wrap: anywhere; }
  #actions td, #actions th { white-space: normal; padding-inline: .2rem; font-size: .82rem; }
  #own td, #own th { padding-inline: .2rem; font-size: .82rem; }
  :is(#actions, #own) .soft { font-size: .78rem; }
  #actions :is(td, th):nth-last-child(3) { min-width: 4.4rem; }
  #own td.words { min-width: 5rem; }
  #actions :is(td, th):nth-last-child(-n+2) { display: none; }
  #own :is(td, th):nth-last-child(-n+3) { display: none; } }
.missing { border-left: .35rem solid var(--loss); padding-left: .8rem; overflow-wrap: anywhere; }
)";

constexpr double kWidth = 720;
constexpr std::size_t kMostLanes = 16;

struct PartOf {
  std::string_view colour;
  std::string_view name;
  double value;
};

std::string_view class_of(Activity activity) {
  constexpr std::string_view kNames[] = {"unobserved", "idle", "low", "productive"};
  return kNames[static_cast<std::size_t>(activity)];
}

std::string svg(double height, std::string_view label, const std::string& inside,
                std::string_view more = "") {
  return fmt::format(
      "<svg{} viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n", more,
      kWidth, height, escape_html(label), inside);
}

std::string bar_of(std::span<const PartOf> parts, double whole, std::string_view label) {
  std::string bars;
  std::string legend = "<p class=\"key\">";
  double at = 0;
  for (const PartOf& part : parts) {
    const double share = whole > 0 ? part.value / whole : 0;
    bars += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"36\"><title>{} {} "
        "h</title></rect>\n",
        part.colour, at, share * kWidth, part.name, show_amount(in_hours(part.value)));
    at += share * kWidth;
    legend += fmt::format("<span><i class=\"{}\"></i>{} <b>{} h</b> ({})</span> ", part.colour,
                          part.name, show_amount(in_hours(part.value)), show_percent(share));
  }
  return svg(36, label, bars, " class=\"bar\" preserveAspectRatio=\"none\"") + legend + "</p>\n";
}

}  // namespace

std::string_view page_style() { return kStyle; }

std::string minute_of(Nanos unix_time) {
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     fmt::gmtime(static_cast<std::time_t>(to_seconds(unix_time))));
}

std::string split_picture(const Split& split) {
  const PartOf parts[] = {{"productive", "productive", split.productive},
                          {"low", "low", split.low},
                          {"idle", "idle", split.idle},
                          {"unobserved", "unobserved", split.unobserved}};
  return bar_of(parts, split.allocated, "how the allocated time was used");
}

std::string capacity_picture(const CapacityUse& capacity, bool observed) {
  if (!capacity.total) return "";
  std::vector<PartOf> parts;
  if (capacity.down) parts.push_back({"down", "down", *capacity.down});
  if (capacity.unallocated) {
    parts.push_back({"unallocated", "unallocated", *capacity.unallocated});
  }
  if (observed) {
    parts.push_back({"idle", "allocated but idle", capacity.idle});
    parts.push_back({"low", "allocated but inefficient", capacity.low});
    parts.push_back({"productive", "productive", capacity.productive});
  }
  parts.push_back({"unobserved", "allocated, unobserved", capacity.unobserved});
  return bar_of(parts, *capacity.total, "where the capacity went");
}

std::string pareto_picture(const Pareto& pareto, std::string_view rows) {
  if (pareto.points.empty()) return "<p>No waste was seen.</p>\n";
  constexpr double kLeft = 60;
  constexpr double kTop = 10;
  constexpr double kHigh = 240;
  const double wide = kWidth - kLeft - 24;
  const auto x = [&](double share) { return kLeft + share * wide; };
  const auto y = [&](double share) { return kTop + (1 - share) * kHigh; };
  std::string inside;
  for (const double mark : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    inside += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.0f} %</text>"
        "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.0f} %</text>\n",
        kLeft, kLeft + wide, y(mark), y(mark), kLeft - 6, y(mark) + 4, mark * 100, x(mark),
        kTop + kHigh + 18, mark * 100);
  }
  std::string line;
  for (const Pareto::Point& point : pareto.points) {
    line += fmt::format("{:.1f},{:.1f} ", x(point.items), y(point.share));
  }
  inside += fmt::format("<polyline class=\"curve\" points=\"{}\"/>\n", trim(line));
  inside += fmt::format(
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">share of the {}s, "
      "those with most waste first</text><text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" "
      "text-anchor=\"end\">upwards: share of the waste</text>\n",
      kLeft + wide / 2, kTop + kHigh + 36, escape_html(rows), kLeft + wide - 8, y(0.05));
  const std::string says = fmt::format("share of the waste over share of {} {}s", pareto.n, rows);
  return svg(kTop + kHigh + 44, says, inside) +
         fmt::format(
             "<p class=\"key\">The top 1 % of {} {}s hold {} of the waste, the top 10 % "
             "{}.</p>\n",
             pareto.n, escape_html(rows), show_percent(pareto.top[1]), show_percent(pareto.top[3]));
}

std::string lanes_picture(const Anatomy& anatomy) {
  constexpr double kLeft = 110;
  constexpr double kLane = 18;
  const double wall = to_seconds(anatomy.wall);
  const std::size_t lanes = std::min(kMostLanes, anatomy.accelerators.size());
  std::string inside;
  const auto x = [&](Nanos time) {
    return kLeft + (wall > 0 ? to_seconds(time) / wall : 0) * (kWidth - kLeft);
  };
  for (std::size_t i = 0; i < lanes; ++i) {
    const double top = static_cast<double>(i) * (kLane + 4);
    const std::string label = i < anatomy.labels.size() ? anatomy.labels[i] : fmt::format("{}", i);
    inside += fmt::format(
        "<text class=\"label\" x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        kLeft - 6, top + 13, escape_html(clip(label, 18)));
    for (const ActivitySpan& s : anatomy.accelerators[i]) {
      inside += fmt::format(
          "<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\"/>\n",
          class_of(s.activity), x(s.start), top, x(s.start + s.duration) - x(s.start), kLane);
    }
  }
  const double bottom = static_cast<double>(lanes) * (kLane + 4);
  inside += fmt::format(
      "<text class=\"label\" x=\"{:.0f}\" y=\"{:.1f}\">0</text><text class=\"label\" "
      "x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
      kLeft, bottom + 14, kWidth, bottom + 14, escape_html(show_duration(anatomy.wall)));
  std::string text = svg(bottom + 20, "accelerators over time", inside);
  if (anatomy.accelerators.size() > lanes) {
    text += fmt::format("<p class=\"key\">and {} accelerators more</p>\n",
                        anatomy.accelerators.size() - lanes);
  }
  return text;
}

}  // namespace amdahl::scan
