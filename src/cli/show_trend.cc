#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/screen.h"
#include "base/text.h"
#include "cli/show.h"
#include "cli/show_scan.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using scan::TrendLine;
using scan::TrendWindow;

std::string points(double share) { return fmt::format("{:+.1f}", 100 * share); }

std::string share_cell(const TrendWindow& window) {
  if (window.slice.jobs == 0) return "–";
  const std::string share = fmt::format("{:.1f} %", 100 * window.share);
  if (!std::isfinite(window.lower)) return share + " (too few jobs)";
  return fmt::format("{} ({:.1f} to {:.1f})", share, 100 * window.lower, 100 * window.upper);
}

std::string change_cell(const TrendWindow& window) {
  if (!window.has_change) return "";
  if (!std::isfinite(window.change_lower)) return points(window.change) + ", too few jobs";
  return points(window.change) + (window.can_tell ? "" : ", may be chance");
}

// The day, with its time where windows do not begin at midnight.
std::string start_cell(const TrendWindow& window, bool days) {
  return describe_time(window.slice.start).substr(0, days ? 10 : 16);
}

// Windows as a row of bars: how much of the observed time was wasted in each.
std::string bars(const TrendLine& line, std::size_t most, bool ascii) {
  constexpr std::string_view kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t first = line.windows.size() > most ? line.windows.size() - most : 0;
  std::string drawn;
  for (std::size_t i = first; i < line.windows.size(); ++i) {
    const TrendWindow& window = line.windows[i];
    const double share = std::clamp(window.share, 0.0, 1.0);
    if (window.slice.jobs == 0) {
      drawn += ascii ? "-" : "·";
    } else if (ascii) {
      drawn += fmt::format("{}", std::min(9, static_cast<int>(share * 10)));
    } else {
      drawn += kBars[std::min<std::size_t>(7, static_cast<std::size_t>(share * 8))];
    }
  }
  return drawn;
}

std::string family_change(const TrendLine& line) {
  if (!line.halves) return "–";
  const scan::Trend& halves = *line.halves;
  if (!std::isfinite(halves.lower)) return points(halves.change) + ", too few jobs";
  return fmt::format("{} ({} to {}){}", points(halves.change), points(halves.lower),
                     points(halves.upper), halves.can_tell ? "" : ", may be chance");
}

double observed_hours(const scan::Split& split) { return scan::in_hours(scan::observed_in(split)); }

}  // namespace

std::string show_trend(const Flags& flags, const scan::Report& report) {
  const auto width = static_cast<std::size_t>(std::clamp(terminal_width(flags), 40, 160));
  const bool wide = width >= 100;
  std::vector<std::string> header = {"from (UTC)", "jobs", "wasted"};
  if (wide) header.insert(header.end() - 1, "observed");
  header.insert(header.end(), {"of observed", "points"});
  std::vector<std::vector<std::string>> cells;
  const std::vector<TrendWindow>& windows = report.trends.front().windows;
  const bool days = std::ranges::all_of(windows, [](const TrendWindow& window) {
    return window.slice.start % std::chrono::hours{24} == Nanos{};
  });
  for (const TrendWindow& window : windows) {
    const scan::Split& split = window.slice.split;
    std::vector<std::string> row = {start_cell(window, days), fmt::format("{}", window.slice.jobs)};
    if (wide) row.push_back(show_amount(observed_hours(split)) + " h");
    row.push_back(show_amount(scan::in_hours(scan::wasted(split))) + " h");
    row.push_back(share_cell(window));
    row.push_back(change_cell(window));
    cells.push_back(std::move(row));
  }
  std::string text = "Waste over time, the whole fleet\n" + table(header, cells);
  cells.clear();
  const std::size_t most = std::min<std::size_t>(windows.size(), width / 4);
  for (std::size_t i = 1; i < report.trends.size(); ++i) {
    const TrendLine& line = report.trends[i];
    cells.push_back({clip(plain(line.family), width / 3), bars(line, most, use_ascii(flags)),
                     family_change(line)});
  }
  if (!cells.empty()) {
    text += "\nThe first families: waste by window, and its second half against its first\n" +
            table({"family", "windows", "points"}, cells);
  }
  text +=
      dim(flags, "95 % intervals over jobs, each for itself: by chance one in twenty is beyond.");
  text += "\n";
  return text;
}

std::string trend_csv(const app::FleetAnswer& answer) {
  std::string text =
      "of,family,start,end,jobs,allocated_h,observed_h,wasted_h,waste_share,lower,upper,change,"
      "change_lower,change_upper,may_be_chance\n";
  const auto bound = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.6f}", value) : std::string();
  };
  for (const TrendLine& line : answer.report.trends) {
    for (const TrendWindow& window : line.windows) {
      const scan::Split& split = window.slice.split;
      text += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f}",
                          line.family.empty() ? "fleet" : "family", csv_cell(line.family),
                          describe_time(window.slice.start), describe_time(window.slice.end),
                          window.slice.jobs, scan::in_hours(split.allocated), observed_hours(split),
                          scan::in_hours(scan::wasted(split)));
      text += window.slice.jobs > 0 ? fmt::format(",{:.6f},{},{}", window.share,
                                                  bound(window.lower), bound(window.upper))
                                    : std::string(",,,");
      text += window.has_change
                  ? fmt::format(",{:.6f},{},{},{}\n", window.change, bound(window.change_lower),
                                bound(window.change_upper), window.can_tell ? "no" : "yes")
                  : std::string(",,,,\n");
    }
  }
  return text;
}

std::string show_kept_months(const std::vector<app::KeptMonth>& months) {
  std::vector<std::vector<std::string>> rows;
  const bool has_energy =
      std::ranges::any_of(months, [](const app::KeptMonth& one) { return one.sum.kwh > 0; });
  std::optional<double> before;
  for (const app::KeptMonth& one : months) {
    const auto daily = [&](double seconds) {
      return show_amount(scan::in_hours(seconds) / one.days);
    };
    const double seen = scan::observed_in(one.sum.split);
    const std::optional<double> share =
        seen > 0 ? std::optional(scan::wasted(one.sum.split) / seen) : std::nullopt;
    rows.push_back({one.month, fmt::format("{}", one.scans), fmt::format("{:.1f}", one.days),
                    daily(one.sum.split.allocated),
                    share ? daily(scan::wasted(one.sum.split)) : std::string("–"),
                    share ? fmt::format("{:.1f} %", 100 * *share) : std::string("–"),
                    share && before ? points(*share - *before) : std::string(),
                    daily(one.sum.lost)});
    if (has_energy) rows.back().push_back(one.sum.kwh > 0 ? show_amount(one.sum.kwh) : "–");
    if (share) before = share;
  }
  std::vector<std::string> header = {"month",        "scans",       "days",   "allocated h/day",
                                     "wasted h/day", "of observed", "points", "lost h/day"};
  if (has_energy) header.emplace_back("kWh");
  return "Kept scans by the month in which their windows began; where windows overlap, the later "
         "counts.\n\n" +
         table(header, rows);
}

}  // namespace amdahl::cli
