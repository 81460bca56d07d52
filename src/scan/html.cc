#include "scan/html.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/core.h>

#include "base/amount.h"
#include "base/text.h"
#include "scan/html_parts.h"
#include "scan/parts.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kDrawnJobs = 6;

// Told apart by lightness too, on both grounds and on paper.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2327; --soft: #5a6570; --ground: #ffffff;
  --line: #dde2e6; --productive: #1a7f37; --low: #e0a526; --idle: #c4281f; --unobserved: #c9cfd6;
  --curve: #1f5fa8; --down: #4a4458; --unallocated: #9dc3e6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b1; --ground: #14181c; --line: #2c333a;
    --productive: #4cc26b; --low: #f0b35a; --idle: #ff7b72; --unobserved: #3a434c;
    --curve: #7db7f5; --down: #8d86a0; --unallocated: #35608a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 3rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem;
  margin: 1rem 0; padding: 0; }
.facts div { border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem; }
.facts b { display: block; font-size: 1.3rem; font-variant-numeric: tabular-nums; }
.facts span, .soft, .key, footer { color: var(--soft); font-size: .9rem; }
svg { width: 100%; height: auto; display: block; }
.productive { fill: var(--productive); } .low { fill: var(--low); } .idle { fill: var(--idle); }
.unobserved { fill: var(--unobserved); } .down { fill: var(--down); }
.unallocated { fill: var(--unallocated); } .grid { stroke: var(--line); }
.curve { fill: none; stroke: var(--curve); stroke-width: 2.5; }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.label { fill: var(--soft); font-size: 12px; }
.key span { white-space: nowrap; margin-right: .75rem; }
.key i { display: inline-block; width: .8rem; height: .8rem; margin-right: .3rem;
  border-radius: .15rem; vertical-align: -.05rem; }
i.productive { background: var(--productive); } i.low { background: var(--low); }
i.idle { background: var(--idle); } i.unobserved { background: var(--unobserved); }
i.down { background: var(--down); } i.unallocated { background: var(--unallocated); }
@media (max-width: 40rem) { .label { font-size: 17px; } .curve { stroke-width: 4; } }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%;
  font-size: .92rem; }
th, td { padding: .3rem .5rem; text-align: right; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; cursor: pointer; white-space: nowrap; }
th[aria-sort=descending]::after { content: " \2193"; }
th[aria-sort=ascending]::after { content: " \2191"; }
td { white-space: nowrap; }
td:first-child, th:first-child { text-align: left; overflow-wrap: anywhere; min-width: 14rem;
  white-space: normal; }
.missing { border-left: .35rem solid var(--idle); padding-left: .8rem; }
@media print { body { max-width: none; padding: 0; } th { cursor: auto; }
  h3, svg, tr { break-inside: avoid; } .wide { overflow: visible; } }
)";

constexpr std::string_view kSorting = R"(
for (const th of document.querySelectorAll('#rows th')) th.addEventListener('click', () => {
  const body = document.querySelector('#rows tbody'), at = th.cellIndex;
  const words = at === 0, is = th.getAttribute('aria-sort');
  const down = is ? is === 'ascending' : !words;
  const of = tr => tr.cells[at].dataset.v ?? tr.cells[at].textContent;
  const by = (a, b) => words ? of(a).localeCompare(of(b)) : Number(of(a)) - Number(of(b));
  for (const other of th.parentNode.cells) other.removeAttribute('aria-sort');
  th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  body.append(...[...body.rows].sort((a, b) => down ? by(b, a) : by(a, b)));
});
)";

std::string hours(double accelerator_seconds) { return show_amount(in_hours(accelerator_seconds)); }

std::string usd(const std::optional<double>& money) {
  if (!money) return "–";
  return *money >= 1000 ? "$" + show_amount(*money) : fmt::format("${:.2f}", *money);
}

std::string fact(const std::string& value, std::string_view what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escaped(value), escaped(what));
}

std::string metrics_of(const Report& report) {
  std::vector<std::string> names;
  for (const Metric& metric : report.utilisation.metrics) {
    names.push_back(fmt::format("{} ({} h)", metric.name, hours(metric.observed)));
  }
  return names.empty() ? "nothing was observed" : join(names, ", ");
}

bool is_observed(const Report& report) { return observed_in(report.totals.split) > 0; }

std::string facts_of(const Report& report) {
  const Totals& totals = report.totals;
  const auto seen = [&](double value) {
    return is_observed(report) ? hours(value) + " h" : std::string("not known");
  };
  const auto money = [&](const auto part) {
    if (!totals.money || totals.unpriced > 0) return std::string();
    const std::optional<double> sum = (*totals.money).*part;
    return sum ? ", " + usd(sum) : std::string();
  };
  std::string text = "<div class=\"facts\">\n";
  text += fact(hours(totals.split.allocated) + " h", "allocated" + money(&Money::allocated));
  text += fact(seen(wasted(totals.split)), "wasted: idle + low" + money(&Money::wasted));
  text += fact(seen(totals.recoverable), "recoverable" + money(&Money::recoverable));
  text += fact(hours(totals.lost) + " h", "lost in failed jobs" + money(&Money::lost));
  text += fact(totals.queue_unknown_jobs == totals.jobs ? "not known" : hours(totals.queue) + " h",
               "waited in the queue");
  text += fact(report.utilisation.mean ? show_percent(*report.utilisation.mean) : "not known",
               "mean utilisation of observed time");
  text += "</div>\n";
  if (totals.money && totals.unpriced > 0) {
    text += fmt::format("<p class=\"soft\">{} for {} h; {} h have no price.</p>\n",
                        usd(totals.money->allocated),
                        hours(totals.split.allocated - totals.unpriced), hours(totals.unpriced));
  }
  return text;
}

std::string headline_of(const Report& report) {
  const Split& split = report.totals.split;
  if (!is_observed(report)) {
    return fmt::format("{} accelerator-hours were allocated; nobody observed them",
                       hours(split.allocated));
  }
  return fmt::format("{} of {} accelerator-hours were wasted", hours(wasted(split)),
                     hours(split.allocated));
}

std::string capacity_of(const Report& report) {
  const CapacityUse& c = report.capacity;
  std::string text = "<h2>Where capacity went</h2>\n";
  if (!c.total) {
    text += "<p class=\"soft\">What there was in all is not known, so neither is what was ";
    text += "unallocated: <code>sinfo -N -o '%N|%R|%G|%T'</code> tells it.</p>\n";
    return c.down ? text + fmt::format("<p>{} h were down.</p>\n", hours(*c.down)) : text;
  }
  text += capacity_picture(c, is_observed(report));
  text += fmt::format("<p class=\"soft\">{} h in all, by {}{}{}</p>\n", hours(*c.total),
                      escaped(c.basis), c.down ? "" : "; what was down is not known",
                      c.elsewhere > 0 ? fmt::format("; {} h were allocated on hosts of which no "
                                                    "more is known",
                                                    hours(c.elsewhere))
                                      : "");
  return text;
}

std::string number_cell(double value, const std::string& shown) {
  return fmt::format("<td data-v=\"{}\">{}</td>", value, escaped(shown));
}

std::string row_of(const Row& row, bool money) {
  std::string text = fmt::format(
      "<tr><td data-v=\"{0}\"{2}>{0}{1}</td>", escaped(row.name),
      row.detail.empty()
          ? ""
          : fmt::format("<br><span class=\"soft\">{}</span>", escaped(clip(row.detail, 90))),
      row.why.empty() ? "" : fmt::format(" title=\"{}\"", escaped(row.why)));
  const auto add_hours = [&](std::initializer_list<double> values) {
    for (const double value : values) text += number_cell(value, hours(value));
  };
  const auto add_seen = [&](std::initializer_list<double> values) {
    for (const double value : values) {
      text += row.utilisation ? number_cell(value, hours(value)) : number_cell(-1, "–");
    }
  };
  // What a narrow screen shows first is what counts most.
  add_seen({row.recoverable, wasted(row.split)});
  add_hours({row.split.allocated});
  text += number_cell(static_cast<double>(row.jobs), fmt::format("{}", row.jobs));
  text += number_cell(row.utilisation.value_or(-1),
                      row.utilisation ? show_percent(*row.utilisation) : "–");
  add_seen({row.split.idle, row.split.low, row.split.productive});
  add_hours({row.split.unobserved, row.lost, row.queue});
  const bool has_lever = row.lever.from != Lever::From::kNothing;
  text += number_cell(has_lever ? row.lever.chance : -1,
                      has_lever ? show_percent(row.lever.chance) : "–");
  if (money) {
    const std::optional<double> sum = row.money ? row.money->wasted : std::nullopt;
    text += number_cell(sum.value_or(-1), usd(sum));
  }
  return text + "</tr>\n";
}

// What stands behind the figures of those that rank first.
std::string reasons_of(const Cut& cut) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kDrawnJobs, cut.rows.size()); ++i) {
    const Row& row = cut.rows[i];
    if (row.why.empty() || row.recoverable <= 0) continue;
    text += fmt::format("<p><b>{}</b>: {}</p>\n", escaped(row.name), escaped(row.why));
  }
  return text;
}

std::string table_of(const Report& report, const Imprint& imprint) {
  struct Heading {
    std::string_view name;
    std::optional<Order> order{};  // That it shows.
  };
  constexpr Heading kHeadings[] = {{"recoverable", Order::kRecoverable},
                                   {"wasted", Order::kWasted},
                                   {"allocated", Order::kAllocated},
                                   {"jobs"},
                                   {"util"},
                                   {"idle"},
                                   {"low"},
                                   {"productive"},
                                   {"unobserved"},
                                   {"lost", Order::kLost},
                                   {"queue", Order::kQueue},
                                   {"chance"}};
  const Cut& cut = report.cut(imprint.by);
  const bool money = report.totals.money.has_value();
  std::string text = fmt::format(
      "<h2>Ranked by {}</h2>\n<p class=\"soft\">Accelerator-hours; {} of {} rows. A heading sorts, "
      "a name says why when pointed at.</p>\n<div class=\"wide\"><table "
      "id=\"rows\"><thead><tr><th>{}</th>",
      imprint.order == Order::kRecoverable ? "what is recoverable" : name(imprint.order),
      cut.rows.size(), cut.count, name(imprint.by));
  for (const Heading& heading : kHeadings) {
    text += fmt::format("<th{}>{}</th>",
                        heading.order == imprint.order ? " aria-sort=\"descending\"" : "",
                        heading.name);
  }
  text += money ? "<th>USD wasted</th></tr></thead><tbody>\n" : "</tr></thead><tbody>\n";
  for (const Row& row : cut.rows) text += row_of(row, money);
  return text + "</tbody></table></div>\n" + reasons_of(cut);
}

std::string anatomies_of(const FleetUsage& usage, const Report& report) {
  std::string text;
  std::size_t drawn = 0;
  for (const Row& row : report.cut(By::kFamily).rows) {
    if (drawn == kDrawnJobs || row.worst_job.empty()) break;
    const Anatomy anatomy =
        anatomy_of(usage, usage.jobs[row.worst], row.name, {.idle_below = report.idle_below});
    if (anatomy.accelerators.empty() || anatomy.wall <= Nanos{}) continue;
    text += fmt::format("<h3>{} of {}</h3>\n", escaped(row.worst_job), escaped(row.name));
    text += anatomy.no_course.empty()
                ? lanes_picture(anatomy)
                : fmt::format("<p class=\"soft\">{}</p>\n", escaped(anatomy.no_course));
    std::string parts;
    for (const Part& part : anatomy.parts) {
      parts +=
          fmt::format("<li>{}: {} h, {} of its time, {}; {}</li>\n", escaped(name(part.kind)),
                      hours(part.accelerator_seconds), show_percent(part.share),
                      std::isinf(part.if_vanished)
                          ? std::string("all that it did")
                          : fmt::format("without it at most {:.2f}x as fast", part.if_vanished),
                      escaped(part.evidence));
      if (&part - anatomy.parts.data() == 2) break;
    }
    if (!parts.empty()) text += "<ul class=\"soft\">" + parts + "</ul>\n";
    ++drawn;
  }
  return text.empty() ? "" : "<h2>The worst job of each family</h2>\n" + text;
}

std::string troubles_of(const FleetUsage& usage, const Imprint& imprint) {
  std::string text;
  if (!imprint.missing.empty()) {
    text += "<div class=\"missing\"><h2>Missing</h2><ul>\n";
    for (const std::string& what : imprint.missing) {
      text += fmt::format("<li>{}</li>\n", escaped(what));
    }
    text += "</ul></div>\n";
  }
  if (usage.troubles.empty() && usage.passed_over.empty()) return text;
  text += "<h2>Counted on the way</h2><ul class=\"soft\">\n";
  for (const PassedOver& row : usage.passed_over) {
    text += fmt::format("<li>{}</li>\n", escaped(describe(usage, row)));
  }
  for (const TroubleCount& t : usage.troubles) {
    text += fmt::format("<li>{} {}: {}</li>\n", t.count, escaped(model::name(t.trouble)),
                        escaped(model::describe(t.trouble)));
  }
  return text + "</ul>\n";
}

}  // namespace

std::string html_page(const FleetUsage& usage, const Families&, const Report& report,
                      const Imprint& imprint) {
  const Totals& totals = report.totals;
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Where accelerator time went</title>\n<style>{}</style></head><body>\n"
      "<h1>{}</h1>\n"
      "<p class=\"soft\">{} to {} UTC, {} jobs of {} users in {} families. Utilisation by {}; idle "
      "{}.</p>\n",
      kStyle, headline_of(report), minute_of(report.start), minute_of(report.end), totals.jobs,
      totals.users, totals.families, escaped(metrics_of(report)), describe_idle(report.idle_below));
  for (const Assumption& one : usage.assumptions) {
    text += fmt::format("<p class=\"missing\">Assumed: {}.</p>\n", escaped(one.says));
  }
  text += facts_of(report);
  text += "<h2>What was allocated</h2>\n" + split_picture(totals.split);
  if (report.trend) text += fmt::format("<p>Trend: {}.</p>\n", escaped(report.trend->says));
  text += trend_section(report);
  text += capacity_of(report);
  text += "<h2>Who holds the waste</h2>\n" + pareto_picture(report.cut(By::kJob).wasted, "job");
  text += table_of(report, imprint);
  text += anatomies_of(usage, report);
  text += troubles_of(usage, imprint);
  text += fmt::format("<footer>amdahl scan, {} UTC</footer>\n<script>{}</script>\n</body></html>\n",
                      escaped(imprint.made), kSorting);
  return text;
}

}  // namespace amdahl::scan
