#include "compare/html.h"

#include <cmath>

#include <fmt/format.h>

#include "base/html.h"
#include "base/text.h"
#include "compare/explain.h"
#include "compare/html_chart.h"

namespace amdahl::compare {
namespace {

constexpr std::string_view kStyle = R"(
:root { --band: #b9d3ee; --a: #6a4fb3; --b: #b06a00; }
@media (prefers-color-scheme: dark) { :root { --band: #24466b; --a: #b79df2; --b: #f0b35a; } }
body { max-width: 60rem; }
.better { border-left: .35rem solid var(--gain); padding-left: .8rem; }
.worse { border-left: .35rem solid var(--loss); padding-left: .8rem; }
.open { border-left: .35rem solid var(--soft); padding-left: .8rem; }
table { width: 100%; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; }
svg { width: 100%; height: auto; }
.zero { stroke: var(--ink); stroke-width: 1.5; }
.none { fill: var(--none); opacity: .7; } .interval { fill: var(--band); opacity: .8; }
.estimate { fill: none; stroke: var(--curve); stroke-width: 2; }
.gain { fill: var(--gain); } .loss { fill: var(--loss); }
.a { fill: var(--a); } .b { fill: var(--b); }
.line-a, .line-b { fill: none; opacity: .6; }
.line-a { stroke: var(--a); } .line-b { stroke: var(--b); stroke-dasharray: 5 3; }
.key { margin: .25rem 0 0; } .key b { font-weight: 700; }
.key .a { color: var(--a); } .key .b { color: var(--b); }
)";

std::string_view kind_of(model::Answer answer) {
  if (answer == model::Answer::kBetter) return "better";
  return answer == model::Answer::kWorse ? "worse" : "open";
}

std::string arms_of(const Account& account) {
  const std::string median = "median " + account.measured.metric_text.metric;
  const HtmlColumn columns[] = {{"arm", true}, {"command", true}, {median}};
  HtmlTable table(columns);
  const auto arm = [&](const char* name, const std::string& command,
                       const std::optional<double>& value) {
    table.row({name, fmt::format("<code>{}</code>", escape_html(command)),
               value ? escape_html(show_value(*value, account.measured.metric_text)) : ""});
  };
  arm("A", account.measured.a, account.median_a);
  arm("B", account.measured.b, account.median_b);
  return table.take();
}

std::string charts_of(const Account& account) {
  const std::string effects = effect_chart(account);
  if (effects.empty()) return "";
  const Design& design = account.measured.design;
  return fmt::format(
      "<h2>Share {} by B, pair by pair</h2>\n{}"
      "<p class=\"key\">Dots are pairs. The line is the estimate from all pairs so far. The band "
      "is its interval ({} confidence each side, valid after every pair). Inside the grey stripe, "
      "below {}, a difference does not matter.</p>\n"
      "<h2>What was measured</h2>\n{}"
      "<p class=\"key\"><b class=\"a\">A</b> solid, <b class=\"b\">B</b> dashed.</p>\n",
      account.measured.metric_text.lower_is_better ? "saved" : "gained", effects,
      show_sureness(design.bound_level), show_saving(design.delta), value_chart(account));
}

std::string facts_of(const Account& account) {
  std::string text = "<h2>Evidence and limits</h2>\n<dl>\n";
  const auto add = [&](std::string_view name, std::string_view says) {
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(name), escape_html(says));
  };
  for (const Line& line : account.lines) add(line.name, line.text);
  return text + "</dl>\n";
}

std::string list_of(std::string_view title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = fmt::format("<h2>{}</h2>\n<ul>\n", title);
  for (const std::string& item : items) text += fmt::format("<li>{}</li>\n", escape_html(item));
  return text + "</ul>\n";
}

std::string bound(double effect, const MetricText& metric_text) {
  return std::isfinite(effect) ? show_percent(share_of(effect, metric_text)) : "";
}

std::string pairs_of(const Account& account) {
  if (account.rows.empty()) return "";
  const MetricText& metric_text = account.measured.metric_text;
  constexpr HtmlColumn kColumns[] = {{"pair"},  {"first"},  {"A"},    {"B"},
                                     {"share"}, {"so far"}, {"from"}, {"to"}};
  HtmlTable table(kColumns);
  const auto value = [&](const std::optional<double>& number) {
    return number ? escape_html(show_value(*number, metric_text)) : std::string();
  };
  for (const Row& row : account.rows) {
    const char* first = row.fact.concurrent ? "both" : (row.fact.variant_second ? "A" : "B");
    std::vector<HtmlCell> cells{fmt::to_string(row.fact.index), first, value(row.a), value(row.b)};
    if (row.d) {
      cells.insert(cells.end(), {show_percent(share_of(*row.d, metric_text)),
                                 show_percent(share_of(row.effect, metric_text)),
                                 bound(row.lower, metric_text), bound(row.upper, metric_text)});
    } else {
      cells.push_back("void: " + escape_html(row.fact.void_reason));
    }
    table.row(cells);
  }
  return "<details>\n<summary>All pairs</summary>\n" + table.take() + "</details>\n";
}

}  // namespace

std::string html_page(const Account& account, const PageFooter& imprint) {
  std::string page = html_head(account.verdict, kStyle);
  page += fmt::format("<h1 class=\"{}\">{}</h1>\n", kind_of(account.comparison.answer),
                      escape_html(account.verdict));
  page += arms_of(account) + charts_of(account) + facts_of(account);
  page += list_of("Remarks", account.remarks);
  page += list_of("How to get a decision", account.settle);
  page += pairs_of(account);
  page += fmt::format(
      "<footer>A and B ran back to back. A coin drew the order for each pair. The test is "
      "sequential: its result is valid after every pair. {}, {}. Receipts: "
      "<code>{}</code></footer>\n{}",
      escape_html(imprint.when), escape_html(imprint.host), escape_html(imprint.folder), kHtmlEnd);
  return page;
}

}  // namespace amdahl::compare
