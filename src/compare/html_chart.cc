#include "compare/html_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/html.h"
#include "base/text.h"
#include "compare/axis.h"

namespace amdahl::compare {
namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 70;
constexpr double kRight = 20;
constexpr double kTop = 16;
constexpr double kBottom = 40;

// A plane of pairs (from 1, to the right) and values (upwards).
struct Plane {
  double height = 300;
  double low = 0;
  double high = 1;
  int first = 1;
  int last = 1;

  double x(double pair) const {
    const double span = std::max(1, last - first);
    const double room = kWidth - kLeft - kRight - 24;
    return kLeft + 12 + (last == first ? room / 2 : room * (pair - first) / span);
  }
  double y(double value) const {
    const double share = std::clamp((value - low) / (high - low), 0.0, 1.0);
    return height - kBottom - share * (height - kTop - kBottom);
  }
};

std::string svg(const Plane& plane, std::string_view label, const std::string& inside) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      kWidth, plane.height, escape_html(label), inside);
}

std::string mark(const Plane& plane, double value, const std::string& label, bool strong) {
  const double y = plane.y(value);
  return fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n"
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
      strong ? "zero" : "grid", kLeft, kWidth - kRight, y, y, kLeft - 8, y + 4, escape_html(label));
}

// Numbers below the pairs: the first, the last, and round ones between them.
std::string pair_numbers(const Plane& plane) {
  const int span = plane.last - plane.first;
  int step = 1;
  for (const int wanted : {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000}) {
    step = wanted;
    if (span / wanted <= 20) break;
  }
  std::string text;
  for (int pair = plane.first; pair <= plane.last; ++pair) {
    if (pair != plane.first && pair % step != 0) continue;
    text += fmt::format(
        "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        plane.x(pair), plane.height - kBottom + 18, pair);
  }
  return text + fmt::format(
                    "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\" "
                    "text-anchor=\"end\">pair</text>\n",
                    kWidth - kRight, plane.height - 6);
}

std::string dot(double x, double y, std::string_view kind, const std::string& says) {
  return fmt::format(
      "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\"><title>{}</title></circle>\n",
      kind, x, y, escape_html(says));
}

std::string polyline(std::string_view kind, const std::vector<std::pair<double, double>>& points) {
  std::string at;
  for (const auto& [x, y] : points) at += fmt::format("{:.1f},{:.1f} ", x, y);
  if (!at.empty()) at.pop_back();
  return fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", kind, at);
}

std::vector<const Row*> counted_rows(const Account& account) {
  std::vector<const Row*> rows;
  for (const Row& row : account.rows) {
    if (row.d && row.a && row.b) rows.push_back(&row);
  }
  return rows;
}

Plane plane_for(const std::vector<const Row*>& rows, double height) {
  Plane plane;
  plane.height = height;
  plane.first = rows.front()->fact.index;
  plane.last = rows.back()->fact.index;
  return plane;
}

std::string band(const Plane& plane, const std::vector<const Row*>& rows) {
  std::string points;
  for (const Row* row : rows) {
    points += fmt::format("{:.1f},{:.1f} ", plane.x(row->fact.index), plane.y(row->upper));
  }
  for (auto it = rows.rbegin(); it != rows.rend(); ++it) {
    points += fmt::format("{:.1f},{:.1f} ", plane.x((*it)->fact.index), plane.y((*it)->lower));
  }
  points.pop_back();
  return fmt::format("<polygon class=\"interval\" points=\"{}\"/>\n", points);
}

std::string says(const Row& row, const Account& account) {
  const MetricText& metric_text = account.measured.metric_text;
  return fmt::format("pair {}: A {}, B {}, {} {}", row.fact.index, show_value(*row.a, metric_text),
                     show_value(*row.b, metric_text), show_percent(share_of(*row.d, metric_text)),
                     metric_text.lower_is_better ? "saved" : "gained");
}

}  // namespace

std::string effect_chart(const Account& account) {
  const std::vector<const Row*> rows = counted_rows(account);
  if (rows.empty()) return "";
  const Axis axis = axis_for(account, 8);
  Plane plane = plane_for(rows, 340);
  plane.low = axis.low;
  plane.high = axis.high;
  const double delta = account.measured.design.delta;
  std::string inside = band(plane, rows);
  inside += fmt::format(
      "<rect class=\"none\" x=\"{:.1f}\" width=\"{:.1f}\" y=\"{:.1f}\" height=\"{:.1f}\"/>\n",
      kLeft, kWidth - kLeft - kRight, plane.y(delta), plane.y(-delta) - plane.y(delta));
  for (const Tick& tick : axis.ticks) {
    inside += mark(plane, tick.effect, fmt::format("{:.6g} %", 100 * tick.share), tick.share == 0);
  }
  std::vector<std::pair<double, double>> estimate;
  for (const Row* row : rows) {
    estimate.emplace_back(plane.x(row->fact.index), plane.y(row->effect));
  }
  inside += polyline("estimate", estimate);
  for (const Row* row : rows) {
    inside += dot(plane.x(row->fact.index), plane.y(*row->d), *row->d > 0 ? "gain" : "loss",
                  says(*row, account));
  }
  return svg(plane, "effect of each pair and of all pairs so far", inside + pair_numbers(plane));
}

std::string value_chart(const Account& account) {
  const std::vector<const Row*> rows = counted_rows(account);
  if (rows.empty()) return "";
  Plane plane = plane_for(rows, 240);
  plane.low = std::min(*rows.front()->a, *rows.front()->b);
  plane.high = plane.low;
  for (const Row* row : rows) {
    plane.low = std::min({plane.low, *row->a, *row->b});
    plane.high = std::max({plane.high, *row->a, *row->b});
  }
  const double margin = std::max(0.08 * (plane.high - plane.low), 1e-3 * std::abs(plane.high));
  // No axis of durations begins before 0.
  plane.low = plane.low >= 0 ? std::max(0.0, plane.low - margin) : plane.low - margin;
  plane.high += margin;
  std::string inside;
  for (int i = 0; i <= 4; ++i) {
    const double value = plane.low + (plane.high - plane.low) * i / 4;
    inside += mark(plane, value, show_value(value, account.measured.metric_text), false);
  }
  for (const bool is_a : {true, false}) {
    std::vector<std::pair<double, double>> points;
    std::string dots;
    for (const Row* row : rows) {
      const double x = plane.x(row->fact.index);
      const double y = plane.y(is_a ? *row->a : *row->b);
      points.emplace_back(x, y);
      dots += dot(x, y, is_a ? "a" : "b", says(*row, account));
    }
    inside += polyline(is_a ? "line-a" : "line-b", points) + dots;
  }
  return svg(plane, "measured values of A and B in each pair", inside + pair_numbers(plane));
}

}  // namespace amdahl::compare
