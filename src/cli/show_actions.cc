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
constexpr std::size_t kExplained = 5;   // Actions.
constexpr double kWorthShowing = 1e-3;  // Of all that is wasted.

void wrap_into(std::string& text, const std::string& words, std::size_t width) {
  for (const std::string& line : wrap_lines(words, width, 0, 2)) text += line + "\n";
}

// The actions as a table, in as many columns as there is room for.
class ActionTable {
 public:
  ActionTable(const Report& report, const std::vector<const Action*>& actions)
      : report_{report}, actions_{actions}, unit_{unit_of(report)} {
    has_.money =
        std::ranges::any_of(actions, [](const Action* one) { return one->usd.has_value(); });
  }

  std::string text(std::size_t width) {
    constexpr std::size_t kLeastTitle = 30;
    TableRow header = header_of();
    std::vector<TableRow> rows = rows_of();
    for (bool Columns::*const less :
         {&Columns::interval, &Columns::jobs, &Columns::users, &Columns::sure}) {
      if (room_in(header, rows, width) >= kLeastTitle) break;
      has_.*less = false;
      header = header_of();
      rows = rows_of();
    }
    const std::size_t room = std::max<std::size_t>(room_in(header, rows, width), 8);
    for (TableRow& row : rows) row[0] = clip(row[0], room);
    return table(header, rows);
  }

 private:
  struct Columns {
    bool money = false;
    bool sure = true;
    bool interval = true;
    bool users = true;
    bool jobs = true;
  };

  TableRow header_of() const {
    const std::string_view each = scan::tells_a_week(report_) ? "/week" : "";
    TableRow header = {"What to do", fmt::format("{}{}", unit_.brief, each)};
    if (has_.money) header.push_back(fmt::format("USD{}", each));
    if (has_.sure) header.emplace_back("how sure");
    if (has_.users) header.emplace_back("users");
    if (has_.jobs) header.emplace_back("jobs");
    return header;
  }

  TableRow row_of(const Action& action, std::size_t number) const {
    TableRow row = {fmt::format("{:>2} {}", number, action.title),
                    unit_(scan::per_week(report_, action.recovered))};
    if (has_.money) {
      row.push_back(action.usd ? usd(scan::per_week(report_, *action.usd)) : std::string("–"));
    }
    if (has_.sure) row.push_back(scan::confidence_text(action, has_.interval));
    if (has_.users) {  // Of no job the user may be known.
      row.push_back(report_.totals.users > 0 ? fmt::format("{}", action.users) : "–");
    }
    if (has_.jobs) row.push_back(fmt::format("{}", action.jobs));
    return row;
  }

  std::vector<TableRow> rows_of() const {
    std::vector<TableRow> rows;
    bool is_confirmed = false;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      if (i == 0 || actions_[i]->is_confirmed != is_confirmed) {
        is_confirmed = actions_[i]->is_confirmed;
        rows.emplace_back(header_of().size());
        rows.back()[0] = is_confirmed ? "confirmed: rules, replayed on these jobs"
                                      : "suspected: the part that may come back";
      }
      rows.push_back(row_of(*actions_[i], i + 1));
    }
    return rows;
  }

  // The width left for titles.
  static std::size_t room_in(const TableRow& header, const std::vector<TableRow>& rows,
                             std::size_t width) {
    std::size_t others = 0;
    for (std::size_t i = 1; i < header.size(); ++i) {
      std::size_t widest = columns_of(header[i]);
      for (const TableRow& row : rows) widest = std::max(widest, columns_of(row[i]));
      others += widest + 2;
    }
    return width > others ? width - others : 0;
  }

  const Report& report_;
  const std::vector<const Action*>& actions_;
  FleetUnit unit_;
  Columns has_;
};

}  // namespace

std::string show_actions(const Flags& flags, const Report& report, std::size_t width) {
  const double least = kWorthShowing * scan::wasted(report.totals.split);
  std::vector<const Action*> actions;
  for (const Action& action : report.actions) {
    if (action.wasted >= least) actions.push_back(&action);
  }
  if (actions.empty()) return "";
  std::string text = "\n" + ActionTable(report, actions).text(width) + "\n";
  bool is_brief = false;
  for (std::size_t i = 0; i < std::min(kExplained, actions.size()); ++i) {
    wrap_into(text, fmt::format("{:>2} {}.", i + 1, plain(actions[i]->because)), width);
    const std::string command = scan::brief_command(actions[i]->command);
    is_brief = is_brief || command != actions[i]->command;
    wrap_into(text, fmt::format("   $ {}", plain(command)), width);
  }
  if (report.totals.users > 0) {
    is_brief = true;
    wrap_into(text,
              "To tell the users, one text each: amdahl scan … --mail DIR. To be told next time: "
              "amdahl scan … --alerts FILE.",
              width);
  }
  for (const std::string& basis : scan::bases_of(actions)) wrap_into(text, basis + ".", width);
  if (is_brief) {
    for (const std::string& line :
         wrap_lines("…: the inputs of this scan; --json has whole commands", width, 0, 2)) {
      text += dim(flags, line) + "\n";
    }
  }
  return text;
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
      "Rules replayed on {} with samples of every accelerator, in {}.\n\n",
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
      "allocated_usd,wasted_usd,recoverable_usd,energy_kwh\n";
  const auto h = [](double seconds) { return fmt::format("{:.6f}", scan::in_hours(seconds)); };
  const auto add = [&](std::string_view by, std::string_view name, std::uint64_t jobs,
                       const scan::Split& split, double lost, double recoverable,
                       const std::optional<scan::Money>& money, double kwh) {
    const auto dollars = [](const std::optional<double>& sum) {
      return sum ? fmt::format("{:.2f}", *sum) : std::string();
    };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", by, csv_cell(name), jobs,
                        h(split.allocated), h(split.productive), h(scan::wasted(split)),
                        h(split.unobserved), h(lost), h(recoverable),
                        money ? dollars(money->allocated) : "", money ? dollars(money->wasted) : "",
                        money ? dollars(money->recoverable) : "",
                        report.beside.energy.powered > 0 ? fmt::format("{:.3f}", kwh) : "");
  };
  const scan::Totals& totals = report.totals;
  for (const scan::By by : {scan::By::kUser, scan::By::kAccount, scan::By::kPartition}) {
    for (const scan::Row& row : report.cut(by).rows) {
      add(scan::name(by), row.name, row.jobs, row.split, row.lost, row.recoverable, row.money,
          row.kwh);
    }
    add(scan::name(by), "total", totals.jobs, totals.split, totals.lost, totals.recoverable,
        totals.unpriced > 0 ? std::nullopt : totals.money, report.beside.energy.kwh);
  }
  return text;
}

}  // namespace amdahl::cli
