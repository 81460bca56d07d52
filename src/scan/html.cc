#include "scan/html.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/amount.h"
#include "base/html.h"
#include "base/text.h"
#include "scan/html_parts.h"
#include "scan/parts.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kDrawnJobs = 6;

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
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escape_html(value),
                     escape_html(what));
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
  const Beside& beside = report.beside;
  if (beside.empty.seconds > 0) {
    text += fact(hours(beside.empty.seconds) + " h", "held idle, no process on the accelerator");
  }
  if (beside.loaded.seconds > 0) {
    text += fact(hours(beside.loaded.seconds) + " h", "held idle with memory in use");
  }
  double outside = 0;
  for (const OutsideUse& one : beside.outside) outside += one.seconds;
  if (outside > 1e-3 * totals.split.allocated) {
    text += fact(hours(outside) + " h", "worked outside of jobs");
  }
  if (beside.energy.powered > 0) {
    text += fact(show_amount(beside.energy.kwh) + " kWh",
                 fmt::format("drawn while held: {} kg of CO2 at {} g/kWh",
                             show_amount(beside.energy.kwh * beside.energy.co2_g_per_kwh / 1000),
                             show_amount(beside.energy.co2_g_per_kwh)));
  }
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
    return fmt::format("{} accelerator-hours were allocated; none were observed",
                       hours(split.allocated));
  }
  return fmt::format("{} of {} accelerator-hours were wasted", hours(wasted(split)),
                     hours(split.allocated));
}

std::string capacity_of(const Report& report) {
  const CapacityUse& c = report.capacity;
  std::string text = "<h2>Where capacity went</h2>\n";
  if (!c.total) {
    text += "<p class=\"soft\">Total capacity is unknown, so unallocated time is unknown ";
    text += "too: add the output of <code>sinfo -N -o '%N|%R|%G|%T'</code>.</p>\n";
    return c.down ? text + fmt::format("<p>{} h were down.</p>\n", hours(*c.down)) : text;
  }
  text += capacity_picture(c, is_observed(report));
  text += fmt::format("<p class=\"soft\">{} h in all, by {}{}{}</p>\n", hours(*c.total),
                      escape_html(c.basis), c.down ? "" : "; down time is unknown",
                      c.elsewhere > 0 ? fmt::format("; {} h were allocated on hosts of unknown "
                                                    "size",
                                                    hours(c.elsewhere))
                                      : "");
  return text;
}

HtmlCell number_cell(double value, const std::string& shown) {
  return {escape_html(shown), fmt::to_string(value)};
}

// What to do about a row; its class is the sort key, so that alike ones stand together.
HtmlCell action_cell(const Lever& lever) {
  std::string what(lever.action);
  if (what.empty() && lever.from == Lever::From::kProfile) {
    what = fmt::format("{}: see its profile", model::describe(lever.against));
  }
  const int by = what.empty() ? -1 : static_cast<int>(lever.against);
  return {what.empty() ? "–" : escape_html(what), fmt::to_string(by)};
}

// Columns of the ranking that not every fleet needs.
struct RankColumns {
  bool unobserved = false;
  bool money = false;
  bool large = false;  // Minutes of one row do not matter.
};

std::vector<HtmlCell> cells_of(const Row& row, const RankColumns& has) {
  HtmlCell called{escape_html(row.name), row.name};
  if (!row.detail.empty()) {
    called.html +=
        fmt::format("<br/><span class=\"soft\">{}</span>", escape_html(clip(row.detail, 90)));
  }
  called.title = row.why;
  std::vector<HtmlCell> cells{called, action_cell(row.lever)};
  const auto shown = [&](double value) {
    return has.large && value > 0 && value < 360 ? std::string("< 0.1") : hours(value);
  };
  const auto add_hours = [&](std::initializer_list<double> values) {
    for (const double value : values) cells.push_back(number_cell(value, shown(value)));
  };
  const auto add_seen = [&](std::initializer_list<double> values) {
    for (const double value : values) {
      cells.push_back(row.utilisation ? number_cell(value, shown(value)) : number_cell(-1, "–"));
    }
  };
  // What a narrow screen shows first is what counts most.
  add_seen({row.recoverable, wasted(row.split)});
  add_hours({row.split.allocated});
  cells.push_back(number_cell(static_cast<double>(row.jobs), fmt::format("{}", row.jobs)));
  cells.push_back(number_cell(row.utilisation.value_or(-1),
                              row.utilisation ? show_percent(*row.utilisation) : "–"));
  add_seen({row.split.idle, row.split.low, row.split.productive});
  if (has.unobserved) add_hours({row.split.unobserved});
  add_hours({row.lost, row.queue});
  const bool has_lever = row.lever.from != Lever::From::kNothing;
  cells.push_back(number_cell(has_lever ? row.lever.chance : -1,
                              has_lever ? show_percent(row.lever.chance) : "–"));
  if (has.money) {
    const std::optional<double> sum = row.money ? row.money->wasted : std::nullopt;
    cells.push_back(number_cell(sum.value_or(-1), usd(sum)));
  }
  return cells;
}

// What stands behind the figures of those that rank first.
std::string reasons_of(const Cut& cut) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kDrawnJobs, cut.rows.size()); ++i) {
    const Row& row = cut.rows[i];
    if (row.why.empty() || row.recoverable <= 0) continue;
    text += fmt::format("<p><b>{}</b>: {}</p>\n", escape_html(row.name), escape_html(row.why));
  }
  return text;
}

// What to do, with the reason and the command below each title.
std::string actions_table(const Report& report) {
  if (report.actions.empty()) return "";
  const bool money =
      std::ranges::any_of(report.actions, [](const Action& one) { return one.usd.has_value(); });
  const bool weekly = tells_a_week(report);
  std::vector<HtmlColumn> columns{{"what to do", true}, {weekly ? "h a week" : "h"}, {"how sure"}};
  if (money) columns.insert(columns.begin() + 2, {weekly ? "USD a week" : "USD"});
  for (const std::string_view more : {"users", "jobs"}) columns.push_back({more});
  HtmlTable table(columns, "actions");
  std::vector<const Action*> shown;
  for (const Action& one : report.actions) {
    if (one.wasted < 1e-3 * wasted(report.totals.split)) continue;
    shown.push_back(&one);
    std::vector<HtmlCell> cells{
        {fmt::format("<b>{} {}</b> ({})<br/><span class=\"soft\">{}</span><br/><code>{}</code>",
                     shown.size(), escape_html(one.title),
                     one.is_confirmed ? "counted" : "estimated", escape_html(one.because),
                     escape_html(brief_command(one.command))),
         std::string(one.title)}};
    cells.push_back(number_cell(one.recovered, hours(per_week(report, one.recovered))));
    if (money) {
      const std::optional<double> week =
          one.usd ? std::optional(per_week(report, *one.usd)) : std::nullopt;
      cells.push_back(number_cell(week.value_or(-1), usd(week)));
    }
    cells.push_back(
        {fmt::format("{}<br/>{} to {}", confidence_text(one, false),
                     show_percent(one.confidence.lower), show_percent(one.confidence.upper)),
         fmt::to_string(one.confidence.mean)});
    for (const std::uint64_t count : {one.users, one.jobs}) {
      cells.push_back(number_cell(static_cast<double>(count), fmt::format("{}", count)));
    }
    table.row(cells);
  }
  std::string bases;
  for (const std::string& basis : bases_of(shown)) bases += " " + escape_html(basis) + ".";
  return "<h2>What to do</h2>\n" + table.take() +
         "<p class=\"soft\">Counted: a rule replayed on these jobs. Estimated: the waste is "
         "measured, "
         "the part that comes back is not." +
         bases + " …: the inputs of this scan.</p>\n";
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
  const RankColumns has{
      .unobserved = std::ranges::any_of(
          cut.rows,
          [](const Row& row) { return row.split.unobserved > 1e-3 * row.split.allocated; }),
      .money = report.totals.money.has_value(),
      .large = report.totals.split.allocated >= 360'000};
  std::vector<HtmlColumn> columns{{name(imprint.by), true}, {"action", true}};
  for (const Heading& heading : kHeadings) {
    if (heading.name == "unobserved" && !has.unobserved) continue;
    columns.push_back(
        {heading.name, false, heading.order == imprint.order ? "descending" : std::string_view{}});
  }
  if (has.money) columns.push_back({"USD wasted"});
  HtmlTable table(columns, "rows");
  for (const Row& row : cut.rows) table.row(cells_of(row, has));
  return fmt::format(
      "<h2>Ranked by {}</h2>\n<p class=\"soft\">Accelerator-hours; {} of {} rows. Click a heading "
      "to sort; hover over a name for the reason.</p>\n{}{}",
      imprint.order == Order::kRecoverable ? "what is recoverable" : name(imprint.order),
      cut.rows.size(), cut.count, table.take(), reasons_of(cut));
}

std::string anatomies_of(const FleetUsage& usage, const Report& report) {
  std::string text;
  std::size_t drawn = 0;
  for (const Row& row : report.cut(By::kFamily).rows) {
    if (drawn == kDrawnJobs || row.worst_job.empty()) break;
    const Anatomy anatomy =
        anatomy_of(usage, usage.jobs[row.worst], row.name, {.idle_below = report.idle_below});
    if (anatomy.accelerators.empty() || anatomy.wall <= Nanos{}) continue;
    text += fmt::format("<h3>{} of {}</h3>\n", escape_html(row.worst_job), escape_html(row.name));
    text += anatomy.no_course.empty()
                ? lanes_picture(anatomy)
                : fmt::format("<p class=\"soft\">{}</p>\n", escape_html(anatomy.no_course));
    std::string parts;
    for (const Part& part : anatomy.parts) {
      parts +=
          fmt::format("<li>{}: {} h, {} of its time, {}; {}</li>\n", escape_html(name(part.kind)),
                      hours(part.accelerator_seconds), show_percent(part.share),
                      std::isinf(part.if_vanished)
                          ? std::string("the whole job")
                          : fmt::format("without it: at most {:.2f}x as fast", part.if_vanished),
                      escape_html(part.evidence));
      if (&part - anatomy.parts.data() == 2) break;
    }
    if (!parts.empty()) text += "<ul class=\"soft\">" + parts + "</ul>\n";
    ++drawn;
  }
  return text.empty() ? "" : "<h2>The worst job of each family</h2>\n" + text;
}

// What a reader must know before the figures.
std::string warnings_of(const FleetUsage& usage, const Report& report, const Imprint& imprint) {
  std::string text;
  if (!imprint.missing.empty()) {
    text += "<div class=\"missing\"><b>Missing</b><ul>\n";
    for (const std::string& what : imprint.missing) {
      text += fmt::format("<li>{}</li>\n", escape_html(what));
    }
    text += "</ul></div>\n";
  }
  if (const std::string hint = unplaced_text(usage, report); !hint.empty()) {
    text += fmt::format("<p class=\"missing\">{}.</p>\n", escape_html(hint));
  }
  for (const Assumption& one : usage.assumptions) {
    text += fmt::format("<p class=\"missing\">Assumed: {}.</p>\n", escape_html(one.says));
  }
  return text;
}

std::string troubles_of(const FleetUsage& usage) {
  if (usage.troubles.empty() && usage.passed_over.empty()) return "";
  std::string text = "<h2>Skipped or adjusted input</h2><ul class=\"soft\">\n";
  for (const PassedOver& row : usage.passed_over) {
    text += fmt::format("<li>{}</li>\n", escape_html(describe(usage, row)));
  }
  for (const TroubleCount& t : usage.troubles) {
    text += fmt::format("<li>{} {}: {}</li>\n", t.count, escape_html(model::name(t.trouble)),
                        escape_html(model::describe(t.trouble)));
  }
  return text + "</ul>\n";
}

}  // namespace

std::string html_page(const FleetUsage& usage, const Families&, const Report& report,
                      const Imprint& imprint) {
  const Totals& totals = report.totals;
  std::string text = html_head("Where accelerator time went", page_style(), kSorting);
  text += fmt::format(
      "<h1>{}</h1>\n"
      "<p class=\"soft\">{} to {} UTC, {} jobs of {} users in {} families. Utilisation by {}; idle "
      "{}.</p>\n",
      headline_of(report), minute_of(report.start), minute_of(report.end), totals.jobs,
      totals.users, totals.families, escape_html(metrics_of(report)),
      describe_idle(report.idle_below));
  text += warnings_of(usage, report, imprint);
  text += facts_of(report);
  text += actions_table(report);
  text += "<h2>What was allocated</h2>\n" + split_picture(totals.split);
  if (report.trend) text += fmt::format("<p>Trend: {}.</p>\n", escape_html(report.trend->says));
  text += trend_section(report);
  text += capacity_of(report);
  if (is_mostly_observed(report)) {
    text += "<h2>Who holds the waste</h2>\n" + pareto_picture(report.cut(By::kJob).wasted, "job");
  }
  text += table_of(report, imprint);
  text += anatomies_of(usage, report);
  text += troubles_of(usage);
  text += fmt::format("<footer>amdahl scan, {} UTC</footer>\n{}{}", escape_html(imprint.made),
                      html_script(kSorting), kHtmlEnd);
  return text;
}

}  // namespace amdahl::scan
