#include "compare/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/screen.h"
#include "base/table.h"
#include "base/text.h"
#include "compare/axis.h"

namespace amdahl::compare {
namespace {

constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::size_t kName = 13;  // Of a line: "A against A".

constexpr auto kSigns = std::to_array<Sign>({{"●", 'o'},
                                             {"◆", '#'},
                                             {"─", '-'},
                                             {"├", '['},
                                             {"┤", ']'},
                                             {"┊", ':'},
                                             {"┬", '+'},
                                             {"◂", '<'},
                                             {"▸", '>'},
                                             {"µ", 'u'},
                                             {"…", '~'}});

std::string paint(std::string_view colour, const std::string& text, const Look& look) {
  return look.colour && !text.empty() ? fmt::format("{}{}{}", colour, text, kPlain) : text;
}

// One character of a row of the picture, and its colour.
struct Cell {
  std::string_view sign = " ";
  std::string_view colour;
};

class Picture {
 public:
  Picture(const Account& account, const Look& look) : account_{account}, look_{look} {
    const auto width = static_cast<std::size_t>(std::max(look.width, kNarrowest));
    // Narrow terminals keep the picture and lose the numbers.
    with_values_ = width >= 80;
    columns_ = width - gutter();
    axis_ = axis_for(account, static_cast<int>(columns_ / 12));
  }

  void append_to(std::vector<std::string>& lines) const {
    lines.push_back(header());
    lines.push_back(ruler());
    const std::size_t rows = account_.rows.size();
    const std::size_t from = rows > kMostRows ? rows - kMostRows : 0;
    if (from > 0) lines.push_back(fmt::format("… {} earlier pairs", from));
    for (std::size_t i = from; i < rows; ++i) lines.push_back(row(account_.rows[i]));
    lines.push_back(paint(kDim,
                          clip("● one pair   ├◆┤ all pairs so far, with interval   ┊ no "
                               "difference",
                               gutter() + columns_),
                          look_));
  }

 private:
  std::size_t gutter() const { return with_values_ ? 40 : 20; }

  std::size_t column(double effect) const {
    const double at = axis_.place(effect) * static_cast<double>(columns_ - 1);
    return static_cast<std::size_t>(
        std::lround(std::clamp(at, 0.0, static_cast<double>(columns_ - 1))));
  }

  std::string header() const {
    std::string labels;
    for (const Tick& tick : axis_.ticks) {
      const std::string label = fmt::format("{:.6g} %", 100 * tick.share);
      const std::size_t middle = column(tick.effect);
      const std::size_t start = middle - std::min(middle, columns_of(label) / 2);
      const std::size_t used = labels.empty() ? 0 : columns_of(labels) + 1;
      if (start < used || start + columns_of(label) > columns_) continue;
      labels = left(labels, start) + label;
    }
    const std::string values = with_values_ ? right("A", 10) + right("B", 10) : std::string();
    const std::string_view share =
        account_.measured.metric_text.lower_is_better ? "saved" : "gained";
    return fmt::format("pair first{}{}{}", values, right(share, 9), " " + labels);
  }

  std::string ruler() const {
    std::string line(gutter(), ' ');
    std::vector<std::string_view> marks(columns_, "─");
    for (const Tick& tick : axis_.ticks) marks[column(tick.effect)] = "┬";
    for (const std::string_view mark : marks) line += mark;
    return line;
  }

  std::string numbers(const Row& row) const {
    const MetricText& metric_text = account_.measured.metric_text;
    const std::string_view first =
        row.fact.concurrent ? "both" : (row.fact.variant_second ? "A" : "B");
    std::string text = right(std::to_string(row.fact.index), 4) + " " + left(first, 5);
    const auto value = [&](const std::optional<double>& number) {
      return right(number ? clip(show_value(*number, metric_text), 9) : "", 10);
    };
    if (with_values_) text += value(row.a) + value(row.b);
    return text + right(row.d ? show_percent(share_of(*row.d, metric_text)) : "void", 9) + " ";
  }

  void put_interval(const Row& row, std::vector<Cell>& cells) const {
    const bool below = std::isfinite(row.lower);
    const bool above = std::isfinite(row.upper);
    if (below || above) {
      const std::size_t from = below ? column(row.lower) : 0;
      const std::size_t to = above ? column(row.upper) : columns_ - 1;
      for (std::size_t i = from; i <= to; ++i) cells[i] = {"─", kDim};
      cells[from] = {below && axis_.place(row.lower) >= 0 ? "├" : "◂", kDim};
      cells[to] = {above && axis_.place(row.upper) <= 1 ? "┤" : "▸", kDim};
    }
    cells[column(row.effect)] = {"◆", kDim};
  }

  std::string row(const Row& row) const {
    if (!row.d) {
      return fmt::format("{}{}", numbers(row),
                         paint(kDim, clip(plain(row.fact.void_reason), columns_), look_));
    }
    std::vector<Cell> cells(columns_);
    cells[column(0)] = {"┊", kDim};
    put_interval(row, cells);
    const double at = axis_.place(*row.d);
    cells[column(*row.d)] = {at < 0 ? "◂" : at > 1 ? "▸" : "●", *row.d > 0 ? kGreen : kRed};
    std::string text;
    std::string_view colour;
    for (const Cell& cell : cells) {
      const std::string_view wanted = look_.colour ? cell.colour : "";
      if (wanted != colour) {
        text += fmt::format("{}{}", colour.empty() ? "" : kPlain, wanted);
        colour = wanted;
      }
      text += cell.sign;
    }
    if (!colour.empty()) text += kPlain;
    while (text.ends_with(' ')) text.pop_back();
    return numbers(row) + text;
  }

  const Account& account_;
  const Look& look_;
  bool with_values_ = true;
  std::size_t columns_ = 0;
  Axis axis_;
};

void append_folded(std::vector<std::string>& lines, std::string_view name, std::string_view text,
                   std::size_t width) {
  const std::vector<std::string> folded = wrap_lines(plain(text), width - kName);
  for (std::size_t i = 0; i < folded.size(); ++i) {
    lines.push_back(left(i == 0 ? name : "", kName) + folded[i]);
  }
}

// A command gets its own line and is never wrapped, so that it can be copied.
void append_way(std::vector<std::string>& lines, std::string_view name, std::string_view way,
                std::size_t width) {
  constexpr std::string_view kRun = "; run: ";
  const auto at = way.find(kRun);
  append_folded(lines, name, way.substr(0, at), width);
  if (at != way.npos) {
    lines.push_back(std::string(kName + 2, ' ') + plain(way.substr(at + kRun.size())));
  }
}

std::string_view colour_of(model::Answer answer) {
  if (answer == model::Answer::kBetter) return kGreen;
  return answer == model::Answer::kWorse ? kRed : kBold;
}

std::string arm_line(std::string_view name, const std::optional<double>& median,
                     const std::string& command, const Account& account, std::size_t width) {
  const std::string value = median ? show_value(*median, account.measured.metric_text) : "";
  return clip(fmt::format("  {}  {}  {}", name, right(value, 9), plain(command)), width);
}

}  // namespace

std::string draw(const Account& account, const Look& look) {
  const auto width = static_cast<std::size_t>(std::max(look.width, kNarrowest));
  std::vector<std::string> lines;
  for (const std::string& line : wrap_lines(account.verdict, width)) {
    lines.push_back(paint(colour_of(account.comparison.answer), line, look));
  }
  lines.emplace_back();
  lines.push_back(
      clip(fmt::format("{}, median of the pairs", account.measured.metric_text.metric), width));
  lines.push_back(arm_line("A", account.median_a, account.measured.a, account, width));
  lines.push_back(arm_line("B", account.median_b, account.measured.b, account, width));
  lines.emplace_back();
  if (!account.rows.empty()) {
    Picture(account, look).append_to(lines);
    lines.emplace_back();
  }
  for (const Line& line : account.lines) append_folded(lines, line.name, line.text, width);
  for (const std::string& remark : account.remarks) append_folded(lines, "Note", remark, width);
  for (const std::string& way : account.settle) {
    const bool first = &way == &account.settle.front();
    append_way(lines, first ? "To decide" : "", first ? way : "or " + way, width);
  }
  const std::string text = join(lines, "\n") + "\n";
  return look.ascii ? to_ascii(text, kSigns) : text;
}

}  // namespace amdahl::compare
