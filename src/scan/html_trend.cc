#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/html.h"
#include "base/text.h"
#include "scan/html_parts.h"

namespace amdahl::scan {
namespace {

constexpr double kTrendWidth = 720;
constexpr double kLeft = 48;
constexpr double kTop = 8;

std::string points(double share) { return fmt::format("{:+.1f}", 100 * share); }

std::string change_words(const TrendWindow& window) {
  if (!window.has_change) return "";
  if (!std::isfinite(window.change_lower)) return points(window.change) + ", too few jobs";
  return fmt::format("{} ({} to {}){}", points(window.change), points(window.change_lower),
                     points(window.change_upper), window.can_tell ? "" : ", may be chance");
}

std::string share_words(const TrendWindow& window) {
  if (window.slice.jobs == 0) return "–";
  if (!std::isfinite(window.lower)) return fmt::format("{:.1f} %", 100 * window.share);
  return fmt::format("{:.1f} % ({:.1f} to {:.1f})", 100 * window.share, 100 * window.lower,
                     100 * window.upper);
}

// A bar a window, as high as the share that was wasted, with its interval as a line.
std::string bars(const TrendLine& line, double high, bool labels) {
  const double left = labels ? kLeft : 0;
  const double step = (kTrendWidth - left) / static_cast<double>(line.windows.size());
  const auto y = [&](double share) { return kTop + (1 - share) * high; };
  std::string inside;
  for (const double mark : {0.0, 0.5, 1.0}) {
    if (!labels) break;
    inside += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text "
        "class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.0f} %</text>\n",
        left, kTrendWidth, y(mark), y(mark), left - 6, y(mark) + 4, 100 * mark);
  }
  for (std::size_t i = 0; i < line.windows.size(); ++i) {
    const TrendWindow& window = line.windows[i];
    if (window.slice.jobs == 0) continue;
    const double x = left + step * static_cast<double>(i);
    inside += fmt::format(
        "<rect class=\"low\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\">"
        "<title>{}: {}</title></rect>\n",
        x + 0.1 * step, y(window.share), 0.8 * step, window.share * high,
        minute_of(window.slice.start), share_words(window));
    if (!std::isfinite(window.lower)) continue;
    inside += fmt::format(
        "<line class=\"whisker\" x1=\"{0:.2f}\" x2=\"{0:.2f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>\n",
        x + step / 2, y(window.lower), y(window.upper));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"waste over time\">\n{}</svg>\n",
      kTrendWidth, high + 2 * kTop, inside);
}

std::string window_table(const TrendLine& line) {
  constexpr HtmlColumn kColumns[] = {{"from (UTC)", true}, {"jobs"},        {"observed"},
                                     {"wasted"},           {"of observed"}, {"points"}};
  HtmlTable table(kColumns);
  for (const TrendWindow& window : line.windows) {
    const Split& split = window.slice.split;
    table.row({minute_of(window.slice.start), fmt::to_string(window.slice.jobs),
               show_amount(in_hours(observed_in(split))) + " h",
               show_amount(in_hours(wasted(split))) + " h", share_words(window),
               change_words(window)});
  }
  return table.take();
}

}  // namespace

std::string trend_section(const Report& report) {
  if (report.trends.empty()) return "";
  const TrendLine& fleet = report.trends.front();
  std::string text =
      "<h2>Waste over time</h2>\n<p class=\"soft\">Share of the observed time; lines are 95 % "
      "intervals over jobs, each for itself.</p>\n" +
      bars(fleet, 160, true) + window_table(fleet);
  for (std::size_t i = 1; i < report.trends.size(); ++i) {
    const TrendLine& line = report.trends[i];
    text += fmt::format("<h3>{}</h3>\n{}", escape_html(line.family), bars(line, 40, false));
    if (line.halves)
      text += fmt::format("<p class=\"soft\">{}</p>\n", escape_html(line.halves->says));
  }
  return text;
}

}  // namespace amdahl::scan
