#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "base/count.h"
#include "base/screen.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/show_scan.h"
#include "cli/show_scan_parts.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using scan::Action;
using scan::Replay;
using scan::Report;

constexpr std::size_t kShownWrong = 5;
constexpr int kExplained = 5;           // Actions.
constexpr double kWorthShowing = 1e-3;  // Of all that is wasted.

std::string percent_between(const scan::BaseRate& rate) {
  return fmt::format("{} ({} to {})", show_percent(rate.mean), show_percent(rate.lower),
                     show_percent(rate.upper));
}

void wrap_into(std::string& text, const std::string& words, std::size_t width) {
  for (const std::string& line : wrap_lines(words, width, 0, 2)) text += line + "\n";
}

}  // namespace

std::string show_actions(const Flags& flags, const Report& report, std::size_t width) {
  if (report.actions.empty()) return "";
  const FleetUnit unit = unit_of(report);
  const bool has_money = std::ranges::any_of(
      report.actions, [](const Action& action) { return action.usd.has_value(); });
  std::vector<std::string> header = {"What to do", fmt::format("{}/week", unit.brief)};
  if (has_money) header.emplace_back("USD/week");
  header.insert(header.end(), {"how sure", "users", "jobs"});
  std::vector<std::vector<std::string>> rows;
  std::string details;
  int number = 0;
  bool is_confirmed = false;
  bool is_brief = false;
  const double least = kWorthShowing * scan::wasted(report.totals.split);
  for (const Action& action : report.actions) {
    if (action.wasted < least) continue;
    if (rows.empty() || action.is_confirmed != is_confirmed) {
      is_confirmed = action.is_confirmed;
      rows.push_back(std::vector<std::string>(header.size()));
      rows.back()[0] = is_confirmed ? "confirmed: counted on these jobs" : "suspected: estimated";
    }
    std::vector<std::string>& row = rows.emplace_back();
    row = {fmt::format("{:>2} {}", ++number, action.title),
           unit(scan::per_week(report, action.recovered))};
    if (has_money) {
      row.push_back(action.usd ? usd(scan::per_week(report, *action.usd)) : std::string("–"));
    }
    row.insert(row.end(), {percent_between(action.confidence), fmt::format("{}", action.users),
                           fmt::format("{}", action.jobs)});
    if (number > kExplained) continue;
    wrap_into(details, fmt::format("{:>2} {}.", number, plain(action.because)), width);
    const std::string command = scan::brief_command(action.command);
    is_brief = is_brief || command != action.command;
    details += dim(flags, "   $ " + plain(command)) + "\n";
  }
  if (is_brief)
    details += dim(flags, "   …: the inputs of this scan; --json has whole commands") + "\n";
  return "\n" + table(header, rows) + "\n" + details;
}

std::string show_policy(const Flags& flags, const app::FleetAnswer& answer) {
  const Report& report = answer.report;
  const FleetUnit unit = unit_of(report);
  const scan::FleetUsage& usage = answer.usage;
  std::vector<std::vector<std::string>> rows;
  for (const Replay& replay : report.policies.idle_timeouts) {
    rows.push_back({(&replay == report.policies.idle_timeout() ? "> " : "  ") +
                        fmt::format("idle-timeout={}", scan::timeout_text(replay.limit)),
                    fmt::format("{}", replay.hits.size()), fmt::format("{}", replay.wrong()),
                    fmt::format("{}", replay.users(usage)), unit(replay.recovered()),
                    unit(replay.at_risk())});
  }
  for (const Replay* replay : {&report.policies.right_size, &report.policies.hold_failing}) {
    rows.push_back({fmt::format("  {}", replay->policy), fmt::format("{}", replay->hits.size()),
                    fmt::format("{}", replay->wrong()), fmt::format("{}", replay->users(usage)),
                    unit(replay->recovered()), unit(replay->at_risk())});
  }
  const Replay* chosen = report.policies.idle_timeout();
  std::string text = fmt::format(
      "Rules replayed on {} whose every accelerator was observed, in {}.\n\n",
      counted(static_cast<std::int64_t>(report.policies.idle_timeouts.front().judged), "job"),
      unit.name);
  text += table({"rule", "hits", "wrong", "users", "recovered", "at risk"}, rows);
  text +=
      "\nA hit is wrong if the job worked again later (used more, did not fail). At risk: its "
      "productive time.\n";
  if (!chosen || chosen->wrong() == 0) return text;
  std::vector<scan::Hit> wrong;
  for (const scan::Hit& hit : chosen->hits) {
    if (hit.is_wrong) wrong.push_back(hit);
  }
  std::ranges::stable_sort(wrong, std::greater<>{}, &scan::Hit::at_risk);
  text += fmt::format("\nWrong hits of idle-timeout={}, most at risk first:\n",
                      scan::timeout_text(chosen->limit));
  for (std::size_t i = 0; i < std::min(kShownWrong, wrong.size()); ++i) {
    const scan::FleetJob job = usage.jobs[wrong[i].job];
    text += fmt::format("  job {} of {} ({}): {} {} at risk\n", plain(usage.text(job.id)),
                        plain(usage.text(job.user)), plain(usage.text(job.name)),
                        unit(wrong[i].at_risk), unit.brief);
  }
  if (wrong.size() > kShownWrong) {
    text += dim(flags, fmt::format("  and {} more", wrong.size() - kShownWrong)) + "\n";
  }
  return text;
}

std::string chargeback_csv(const Report& report) {
  std::string text =
      "by,name,jobs,allocated_h,productive_h,wasted_h,unobserved_h,lost_h,recoverable_h,"
      "allocated_usd,wasted_usd,recoverable_usd\n";
  const auto h = [](double seconds) { return fmt::format("{:.6f}", scan::in_hours(seconds)); };
  const auto add = [&](std::string_view by, std::string_view name, std::uint64_t jobs,
                       const scan::Split& split, double lost, double recoverable,
                       const std::optional<scan::Money>& money) {
    const auto dollars = [](const std::optional<double>& sum) {
      return sum ? fmt::format("{:.2f}", *sum) : std::string();
    };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", by, csv_cell(name), jobs,
                        h(split.allocated), h(split.productive), h(scan::wasted(split)),
                        h(split.unobserved), h(lost), h(recoverable),
                        money ? dollars(money->allocated) : "", money ? dollars(money->wasted) : "",
                        money ? dollars(money->recoverable) : "");
  };
  const scan::Totals& totals = report.totals;
  for (const scan::By by : {scan::By::kUser, scan::By::kAccount, scan::By::kPartition}) {
    for (const scan::Row& row : report.cut(by).rows) {
      add(scan::name(by), row.name, row.jobs, row.split, row.lost, row.recoverable, row.money);
    }
    add(scan::name(by), "total", totals.jobs, totals.split, totals.lost, totals.recoverable,
        totals.unpriced > 0 ? std::nullopt : totals.money);
  }
  return text;
}

}  // namespace amdahl::cli
