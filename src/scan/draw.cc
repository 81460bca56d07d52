#include "scan/draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/screen.h"
#include "base/table.h"
#include "base/text.h"

namespace amdahl::scan {
namespace {

constexpr std::size_t kGutter = 7;  // "phases " and the accelerators' numbers.
constexpr std::size_t kWidestGutter = 17;
constexpr std::size_t kMostPhases = 12;
constexpr std::size_t kMostAccelerators = 32;
constexpr std::size_t kNameWidth = 26;
constexpr double kInHoursFrom = 1000;  // Accelerator-seconds; large sums are read in hours.

constexpr auto kSigns = std::to_array<Sign>({{"█", '#'},
                                             {"▒", '='},
                                             {"·", '.'},
                                             {"│", '|'},
                                             {"─", '-'},
                                             {"┴", '+'},
                                             {"└", '+'},
                                             {"×", 'x'},
                                             {"µ", 'u'},
                                             {"…", '~'}});

std::string repeat(std::string_view sign, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += sign;
  return result;
}

// Calls visit(column, seconds) for each column that the time touches.
template <class Visit>
void each_column(Nanos start, Nanos duration, Nanos wall, std::size_t columns, Visit visit) {
  const double scale = static_cast<double>(columns) / to_seconds(wall);
  const double from = to_seconds(start) * scale;
  const double to = std::min(to_seconds(start + duration) * scale, static_cast<double>(columns));
  for (auto i = static_cast<std::size_t>(from); i < columns && static_cast<double>(i) < to; ++i) {
    const double begin = std::max(from, static_cast<double>(i));
    const double end = std::min(to, static_cast<double>(i + 1));
    if (end > begin) visit(i, (end - begin) / scale);
  }
}

std::string_view sign_of(Activity activity) {
  switch (activity) {
    case Activity::kUnobserved:
      return "?";
    case Activity::kIdle:
      return "·";
    case Activity::kLow:
      return "▒";
    case Activity::kProductive:
      return "█";
  }
  return "?";
}

std::string_view colour_of(Activity activity) {
  switch (activity) {
    case Activity::kUnobserved:
      return "\x1b[2m";
    case Activity::kIdle:
      return "\x1b[31m";
    case Activity::kLow:
      return "\x1b[33m";
    case Activity::kProductive:
      return "\x1b[32m";
  }
  return "";
}

std::string painted(Activity activity, std::size_t times, bool colour) {
  const std::string signs = repeat(sign_of(activity), times);
  return colour ? fmt::format("{}{}\x1b[0m", colour_of(activity), signs) : signs;
}

// What each column shows: the class of its mean utilisation, or that most of it was not observed.
std::vector<Activity> cells_of(const Anatomy& anatomy, std::span<const ActivitySpan> stretches,
                               std::size_t columns) {
  struct CellSum {
    double seen = 0;
    double unseen = 0;
    double used = 0;
  };
  std::vector<CellSum> sums(columns);
  for (const ActivitySpan& stretch : stretches) {
    each_column(stretch.start, stretch.duration, anatomy.wall, columns,
                [&](std::size_t column, double seconds) {
                  CellSum& sum = sums[column];
                  if (stretch.activity == Activity::kUnobserved) {
                    sum.unseen += seconds;
                    return;
                  }
                  sum.seen += seconds;
                  sum.used += seconds * stretch.utilisation;
                });
  }
  std::vector<Activity> cells;
  for (const CellSum& sum : sums) {
    const bool seen = sum.seen > 0 && sum.seen >= sum.unseen;
    cells.push_back(seen ? activity_of(sum.used / sum.seen, anatomy.thresholds)
                         : Activity::kUnobserved);
  }
  return cells;
}

std::string label_of(const Anatomy& anatomy, std::size_t index) {
  return index < anatomy.labels.size() ? plain(anatomy.labels[index]) : fmt::format("{}", index);
}

// The width of what stands before the picture, wide enough for the accelerators' names.
std::size_t gutter_of(const Anatomy& anatomy) {
  std::size_t width = kGutter;
  for (const std::string& label : anatomy.labels) {
    width = std::max(width, columns_of(plain(label)) + 1);
  }
  return std::min(width, kWidestGutter);
}

std::string accelerator_row(const Anatomy& anatomy, std::size_t index, std::size_t columns,
                            bool colour) {
  const auto cells = cells_of(anatomy, anatomy.accelerators[index], columns);
  const std::size_t gutter = gutter_of(anatomy);
  std::string row = right(clip(label_of(anatomy, index), gutter - 1), gutter - 1) + " ";
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i;
    while (end < cells.size() && cells[end] == cells[i]) ++end;
    row += painted(cells[i], end - i, colour);
    i = end;
  }
  return row;
}

// The longest phase of each column.
std::vector<std::string_view> phase_cells(const Anatomy& anatomy,
                                          std::span<const model::Span> phases,
                                          std::size_t columns) {
  std::vector<std::map<std::string_view, double>> times(columns);
  for (const model::Span& phase : phases) {
    each_column(phase.start, phase.duration, anatomy.wall, columns,
                [&](std::size_t column, double seconds) { times[column][phase.name] += seconds; });
  }
  std::vector<std::string_view> cells(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    double most = 0;
    for (const auto& [name, seconds] : times[i]) {
      if (seconds <= most) continue;
      most = seconds;
      cells[i] = name;
    }
  }
  return cells;
}

std::string phases_row(const Anatomy& anatomy, std::size_t columns) {
  constexpr std::size_t kShortestName = 2;  // A single letter says nothing.
  // What the job said of itself; else what its telemetry shows.
  const auto& phases = anatomy.phases.empty() ? anatomy.stages : anatomy.phases;
  const auto cells = phase_cells(anatomy, phases, columns);
  std::string row = left(anatomy.phases.empty() ? "stages" : "phases", gutter_of(anatomy));
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i;
    while (end < cells.size() && cells[end] == cells[i]) ++end;
    const std::size_t room = end - i - 1;
    const std::string name = room < kShortestName ? "" : clip(plain(cells[i]), room);
    row += "│" + name + repeat("─", room - columns_of(name));
    i = end;
  }
  return row;
}

// The least of 1, 2, 5, 10, … seconds, round minutes, hours and days that leaves room for a label.
double tick_seconds(double wall, std::size_t columns) {
  constexpr double kLabel = 10;
  const double least = wall * kLabel / static_cast<double>(columns);
  if (least <= 30) {
    for (double step = 1e-6;; step *= 10) {
      for (const double times : {1.0, 2.0, 5.0}) {
        if (step * times >= least && step * times <= 20) return step * times;
      }
      if (step > 20) return 30;
    }
  }
  for (const double step : {60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 10800.0,
                            21600.0, 43200.0, 86400.0}) {
    if (step >= least) return step;
  }
  return 86400 * std::ceil(least / 86400);
}

std::string tick_label(double seconds, double step) {
  if (seconds == 0) return "0";
  if (step >= 86400) return fmt::format("{:.0f} d", seconds / 86400);
  if (step >= 3600) return fmt::format("{:.0f} h", seconds / 3600);
  if (step >= 60) return fmt::format("{:.0f} min", seconds / 60);
  if (step < 1e-3) return fmt::format("{:.0f} µs", seconds * 1e6);
  if (step < 0.1) return fmt::format("{:.0f} ms", seconds * 1e3);
  return fmt::format("{:.{}f} s", seconds, step < 1 ? 1 : 0);
}

void append_axis(std::vector<std::string>& lines, const Anatomy& anatomy, std::size_t columns) {
  const double wall = to_seconds(anatomy.wall);
  const double step = tick_seconds(wall, columns);
  std::vector<std::string_view> marks(columns, "─");
  const std::size_t gutter = gutter_of(anatomy);
  std::string labels(gutter, ' ');
  for (int i = 0; i * step < wall; ++i) {
    const auto column = static_cast<std::size_t>(i * step / wall * static_cast<double>(columns));
    const std::string label = tick_label(i * step, step);
    if (column >= columns) break;
    marks[column] = i == 0 ? "└" : "┴";
    if (column + columns_of(label) > columns) continue;
    labels = left(labels, gutter + column) + label;
  }
  std::string axis(gutter, ' ');
  for (const std::string_view mark : marks) axis += mark;
  lines.push_back(axis);
  lines.push_back(labels);
}

std::string legend(const Anatomy& anatomy, bool colour) {
  return fmt::format(
      "{} productive from {:.3g} %  {} low  {} idle < {:.3g} %  {} unobserved",
      painted(Activity::kProductive, 1, colour), 100 * anatomy.thresholds.productive_at_least,
      painted(Activity::kLow, 1, colour), painted(Activity::kIdle, 1, colour),
      100 * anatomy.thresholds.idle_below, painted(Activity::kUnobserved, 1, colour));
}

// The unit of the tables, by the size of the job.
struct RowUnit {
  std::string_view name;
  double seconds;
};
RowUnit row_unit(const Anatomy& anatomy) {
  return anatomy.split.allocated >= kInHoursFrom ? RowUnit{"acc-hours", 3600}
                                                 : RowUnit{"acc-seconds", 1};
}

// Two digits behind the point, so that a column can be read down.
std::string cell_of(double amount) {
  if (amount == 0 || amount >= 100) return show_amount(amount);
  return amount < 0.005 ? "< 0.01" : fmt::format("{:.2f}", amount);
}

std::string gain_of(double if_vanished) {
  return std::isinf(if_vanished) ? "no bound" : fmt::format("{:.2f}x", if_vanished);
}

void append_split(std::vector<std::string>& lines, const Anatomy& anatomy) {
  const Split& split = anatomy.split;
  const RowUnit unit = row_unit(anatomy);
  std::vector<TableRow> rows;
  for (const auto& [name, seconds] :
       {std::pair("  productive", split.productive), std::pair("  low", split.low),
        std::pair("  idle", split.idle), std::pair("  unobserved", split.unobserved),
        std::pair("  together", split.allocated)}) {
    rows.push_back({name, cell_of(seconds / unit.seconds),
                    show_percent(split.allocated > 0 ? seconds / split.allocated : 0)});
  }
  std::ranges::copy(table_lines({"allocated", std::string(unit.name), "share"}, rows),
                    std::back_inserter(lines));
}

void append_table(std::vector<std::string>& lines, const Anatomy& anatomy) {
  const RowUnit unit = row_unit(anatomy);
  const std::size_t count = anatomy.table.size();
  const std::size_t phases = count < 3 ? 0 : count - 3;  // Idle, low and compute come last.
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const CeilingRow& row = anatomy.table[i];
    if (i == kMostPhases && i < phases) {
      rows.push_back({fmt::format("  … and {} smaller phases", phases - i), "", "", ""});
    }
    if (i >= kMostPhases && i < phases) continue;
    const std::string name = row.is_compute ? "compute, infinitely fast" : plain(row.name);
    rows.push_back({"  " + clip(name, kNameWidth), cell_of(row.accelerator_seconds / unit.seconds),
                    show_percent(row.share), gain_of(row.if_vanished)});
  }
  std::ranges::copy(
      table_lines({"if it took no time", std::string(unit.name), "share", "at most"}, rows),
      std::back_inserter(lines));
}

// Where the waste is, by telemetry alone, each with what shows it.
void append_parts(std::vector<std::string>& lines, const Anatomy& anatomy, std::size_t width) {
  if (anatomy.parts.empty()) return;
  const RowUnit unit = row_unit(anatomy);
  std::vector<TableRow> rows;
  for (const Part& part : anatomy.parts) {
    rows.push_back({fmt::format("  {}", name(part.kind)),
                    cell_of(part.accelerator_seconds / unit.seconds), show_percent(part.share),
                    gain_of(part.if_vanished)});
  }
  const std::vector<std::string> drawn =
      table_lines({"idle and low, by telemetry", std::string(unit.name), "share", "at most"}, rows);
  lines.insert(lines.end(), {"", drawn.front()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lines.push_back(drawn[i + 1]);
    lines.push_back(clip("      " + anatomy.parts[i].evidence, width));
  }
}

void append_picture(std::vector<std::string>& lines, const Anatomy& anatomy, std::size_t columns,
                    bool colour) {
  if (!anatomy.phases.empty() || !anatomy.stages.empty()) {
    lines.push_back(phases_row(anatomy, columns));
  }
  const std::size_t accelerators = anatomy.accelerators.size();
  const std::size_t drawn =
      accelerators <= kMostAccelerators ? accelerators : kMostAccelerators - 1;
  for (std::size_t i = 0; i < drawn; ++i) {
    lines.push_back(accelerator_row(anatomy, i, columns, colour));
  }
  if (drawn < accelerators) {
    lines.push_back(fmt::format("{}… and {} more accelerators",
                                std::string(gutter_of(anatomy), ' '), accelerators - drawn));
  }
  append_axis(lines, anatomy, columns);
  lines.emplace_back();
}

void append_words(std::vector<std::string>& lines, std::string_view text, std::size_t width) {
  std::string line;
  for (const std::string_view word : split(text, ' ')) {
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      lines.push_back(std::exchange(line, {}));
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  lines.push_back(line);
  lines.emplace_back();
}

}  // namespace

std::string draw(const Anatomy& anatomy, int width, bool colour, bool ascii) {
  const auto total = static_cast<std::size_t>(std::max(width, kNarrowest));
  const std::size_t columns = total - gutter_of(anatomy);
  const std::size_t accelerators = anatomy.accelerators.size();

  std::vector<std::string> lines;
  lines.push_back(
      clip(fmt::format("job {} of {}", plain(anatomy.job), plain(anatomy.family)), total));
  const RowUnit unit = row_unit(anatomy);
  lines.push_back(fmt::format("{} × {} {} = {} accelerator-{}", show_duration(anatomy.wall),
                              accelerators, accelerators == 1 ? "accelerator" : "accelerators",
                              show_amount(anatomy.split.allocated / unit.seconds),
                              unit.seconds > 1 ? "hours" : "seconds"));
  lines.emplace_back();
  if (!anatomy.no_course.empty()) {
    append_words(lines, anatomy.no_course, total);
  } else if (anatomy.wall > Nanos{}) {
    append_picture(lines, anatomy, columns, colour);
  }
  const std::string metric = anatomy.metric.empty() ? "(not named)" : plain(anatomy.metric);
  lines.push_back(clip("utilisation metric: " + metric, total));
  if (anatomy.no_course.empty()) lines.push_back(legend(anatomy, colour));
  lines.emplace_back();
  append_split(lines, anatomy);
  lines.emplace_back();
  append_table(lines, anatomy);
  append_parts(lines, anatomy, total);

  const std::string picture = join(lines, "\n") + "\n";
  return ascii ? to_ascii(picture, kSigns) : picture;
}

}  // namespace amdahl::scan
