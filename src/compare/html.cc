#include "compare/html.h"

#include <cmath>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/html_chart.h"
#include "compare/words.h"

namespace amdahl::compare {
namespace {

// Colours that keep their contrast on both grounds, told apart by lightness too.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1d2327; --soft: #5a6570; --ground: #ffffff;
  --line: #dde2e6; --none: #c9cfd6; --band: #b9d3ee; --estimate: #1f5fa8; --gain: #1a7f37;
  --loss: #c4281f; --a: #6a4fb3; --b: #b06a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #9aa5b1; --ground: #14181c; --line: #2c333a; --none: #3a434c;
    --band: #24466b; --estimate: #7db7f5; --gain: #4cc26b; --loss: #ff7b72; --a: #b79df2;
    --b: #f0b35a; } }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 3rem; background: var(--ground);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 1rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
.better { border-left: .35rem solid var(--gain); padding-left: .8rem; }
.worse { border-left: .35rem solid var(--loss); padding-left: .8rem; }
.open { border-left: .35rem solid var(--soft); padding-left: .8rem; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
td.words, th.words { text-align: left; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; }
svg { width: 100%; height: auto; display: block; }
.label { fill: var(--soft); font-size: 12px; }
.grid { stroke: var(--line); } .zero { stroke: var(--ink); stroke-width: 1.5; }
.none { fill: var(--none); opacity: .7; } .interval { fill: var(--band); opacity: .8; }
.estimate { fill: none; stroke: var(--estimate); stroke-width: 2; }
.gain { fill: var(--gain); } .loss { fill: var(--loss); }
.a { fill: var(--a); } .b { fill: var(--b); }
.line-a, .line-b { fill: none; opacity: .6; }
.line-a { stroke: var(--a); } .line-b { stroke: var(--b); stroke-dasharray: 5 3; }
.key { color: var(--soft); font-size: .9rem; margin: .25rem 0 0; }
.key b { font-weight: 700; } .key .a { color: var(--a); } .key .b { color: var(--b); }
summary { cursor: pointer; } footer { color: var(--soft); font-size: .85rem; margin-top: 2.5rem; }
@media print { body { max-width: none; } }
)";

std::string_view kind_of(model::Answer answer) {
  if (answer == model::Answer::kBetter) return "better";
  return answer == model::Answer::kWorse ? "worse" : "open";
}

std::string arms_of(const Account& account) {
  const auto arm = [&](std::string_view name, const std::string& command,
                       const std::optional<double>& median) {
    return fmt::format(
        "<tr><td class=\"words\">{}</td><td class=\"words\"><code>{}</code></td><td>{}</td></tr>\n",
        name, escape_html(command),
        median ? escape_html(show_value(*median, account.tried.speech)) : "");
  };
  return fmt::format(
      "<table>\n<tr><th class=\"words\">arm</th><th class=\"words\">command</th>"
      "<th>median {}</th></tr>\n{}{}</table>\n",
      escape_html(account.tried.speech.metric), arm("A", account.tried.a, account.median_a),
      arm("B", account.tried.b, account.median_b));
}

std::string charts_of(const Account& account) {
  const std::string effects = effect_chart(account);
  if (effects.empty()) return "";
  const Design& design = account.tried.design;
  return fmt::format(
      "<h2>Share {} by B, pair by pair</h2>\n{}"
      "<p class=\"key\">Dots are pairs; the line is the estimate from all pairs so far, the band "
      "its interval ({} each side, right at every look). Within the grey stripe, below {}, a "
      "difference does not matter.</p>\n"
      "<h2>What was measured</h2>\n{}"
      "<p class=\"key\"><b class=\"a\">A</b> solid, <b class=\"b\">B</b> dashed.</p>\n",
      account.tried.speech.lower_is_better ? "saved" : "gained", effects,
      show_sureness(design.bound_level), show_saving(design.delta), value_chart(account));
}

std::string facts_of(const Account& account) {
  std::string text = "<h2>How far it can be trusted</h2>\n<dl>\n";
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

std::string bound(double effect, const Speech& speech) {
  return std::isfinite(effect) ? show_percent(share_of(effect, speech)) : "";
}

std::string pairs_of(const Account& account) {
  if (account.rows.empty()) return "";
  const Speech& speech = account.tried.speech;
  std::string text =
      "<details>\n<summary>All pairs</summary>\n<table>\n<tr><th>pair</th><th>first</th><th>A</th>"
      "<th>B</th><th>share</th><th>so far</th><th>from</th><th>to</th></tr>\n";
  for (const Row& row : account.rows) {
    const std::string_view first =
        row.fact.concurrent ? "both" : (row.fact.variant_second ? "A" : "B");
    const auto value = [&](const std::optional<double>& number) {
      return number ? escape_html(show_value(*number, speech)) : std::string();
    };
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", row.fact.index, first,
                        value(row.a), value(row.b));
    if (row.d) {
      text += fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          show_percent(share_of(*row.d, speech)),
                          show_percent(share_of(row.effect, speech)), bound(row.lower, speech),
                          bound(row.upper, speech));
    } else {
      text += fmt::format("<td class=\"words\" colspan=\"4\">void: {}</td></tr>\n",
                          escape_html(row.fact.void_reason));
    }
  }
  return text + "</table>\n</details>\n";
}

}  // namespace

std::string html_page(const Account& account, const Imprint& imprint) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1 class=\"{}\">{}</h1>\n",
      escape_html(account.verdict), kStyle, kind_of(account.comparison.answer),
      escape_html(account.verdict));
  page += arms_of(account) + charts_of(account) + facts_of(account);
  page += list_of("To be looked at", account.remarks);
  page += list_of("What would settle it", account.settle);
  page += pairs_of(account);
  page += fmt::format(
      "<footer>A and B ran next to each other, in an order drawn by a coin for each pair; the test "
      "bets on that coin, so it may be looked at after every pair. {}, {}. Receipts: "
      "<code>{}</code></footer>\n</body>\n</html>\n",
      escape_html(imprint.when), escape_html(imprint.host), escape_html(imprint.folder));
  return page;
}

}  // namespace amdahl::compare
