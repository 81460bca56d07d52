#include "cli/show_waits.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/amount.h"
#include "base/count.h"
#include "base/text.h"
#include "cli/show_causes.h"
#include "cli/terminal.h"

namespace amdahl::cli {
namespace {

using profile::RoleWaits;
using profile::WaitsReport;

constexpr std::size_t kShownPlaces = 5;
constexpr std::size_t kShownLines = 8;
constexpr std::size_t kShownWakes = 5;
constexpr double kWorthAWait = 0.01;  // Of the wall time.

std::string percent_of(double part, double whole) {
  return whole > 0 ? show_percent(part / whole) : "-";
}

// "futex 62 %, poll 3 %": what its threads were blocked in, as shares of their life.
std::string reasons_of(const RoleWaits& role) {
  std::vector<std::pair<double, std::string_view>> reasons;
  for (std::size_t i = 0; i < model::kWaits; ++i) {
    if (role.blocked_s[i] >= kWorthAWait * role.life_s && role.blocked_s[i] > 0) {
      reasons.emplace_back(role.blocked_s[i], model::kWaitNames[i]);
    }
  }
  std::ranges::stable_sort(reasons, std::ranges::greater{},
                           [](const auto& row) { return row.first; });
  std::vector<std::string> words;
  for (const auto& [seconds, name] : reasons) {
    words.push_back(fmt::format("{} {}", name, percent_of(seconds, role.life_s)));
  }
  return join(words, ", ");
}

std::string show_roles(const WaitsReport& report) {
  const bool is_exact = report.collector == "bpf";
  const bool has_syscalls =
      std::ranges::any_of(report.roles, [](const RoleWaits& role) { return role.syscalls >= 0; });
  std::vector<std::string> head{"threads", "", "running", "ready, no CPU", "wake-ups/s"};
  if (has_syscalls) head.emplace_back("syscalls/s");
  head.emplace_back("blocked in");
  std::vector<std::vector<std::string>> rows;
  for (const RoleWaits& role : report.roles) {
    const auto rate = [&](double count) {
      return is_exact && report.wall_s > 0 ? show_amount(count / report.wall_s) : "-";
    };
    std::vector<std::string> row{std::string(name(role.role)), fmt::format("{}", role.threads),
                                 percent_of(role.running_s, role.life_s),
                                 percent_of(role.runqueue_s + role.preempted_s, role.life_s),
                                 rate(role.wakeups)};
    if (has_syscalls) row.push_back(rate(role.syscalls));
    row.push_back(reasons_of(role));
    rows.push_back(std::move(row));
  }
  return table(head, rows);
}

std::string thread_named(const std::string& name, std::int64_t tid) {
  if (tid == 0) return "the kernel (a timer, a device, or outside the job)";
  return name.empty() ? fmt::format("thread {}", tid) : fmt::format("{} ({})", name, tid);
}

std::string show_wakes(const WaitsReport& report) {
  std::string text;
  std::size_t shown = 0;
  for (const profile::WakeRow& row : report.wakes) {
    if (shown >= kShownWakes || row.blocked_s < kWorthAWait * report.wall_s) break;
    text += fmt::format("  {} woke {} {}, after {}\n", thread_named(row.waker_name, row.waker),
                        thread_named(row.wakee_name, row.wakee), counted(row.count, "time"),
                        show_seconds(row.blocked_s));
    ++shown;
  }
  return text.empty() ? "" : "\nWho woke whom, by the time the woken had waited\n" + text;
}

std::string show_disks(const WaitsReport& report) {
  std::string text;
  for (const model::DeviceIo& disk : report.disks) {
    if (disk.reads + disk.writes == 0) continue;
    const auto each = [](Nanos time, std::int64_t count) {
      return count == 0 ? std::string("-")
                        : show_amount(1000 * to_seconds(time) / static_cast<double>(count));
    };
    text += fmt::format(
        "  {}: {} reads of {} ms ({} MB), {} writes of {} ms ({} MB); {} of them the job's own, "
        "{}\n",
        disk.name, disk.reads, each(disk.read_time, disk.reads),
        show_amount(static_cast<double>(disk.read_bytes) / 1e6), disk.writes,
        each(disk.write_time, disk.writes),
        show_amount(static_cast<double>(disk.write_bytes) / 1e6), disk.own,
        show_seconds(to_seconds(disk.own_time)));
  }
  return text.empty() ? "" : "\nDisks of the host meanwhile\n" + text;
}

std::string show_lost(const WaitsReport& report) {
  std::string text;
  const auto say = [&](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format("not recorded: {} {}\n", count, what);
  };
  say(report.lost_tasks, "threads, because the kernel's table was full");
  say(report.lost_sites, "waits at places beyond the limit");
  say(report.lost_events, "single waits beyond the limit; the sums include them");
  say(report.lost_wakes, "pairs of waker and woken beyond the limit");
  say(report.lost_samples, "samples without a readable stack, or beyond the limit");
  return text;
}

}  // namespace

std::string show_waits(const Flags& flags, const WaitsReport& report) {
  if (report.roles.empty()) return "";
  std::string text = "\n" + show_roles(report);
  const auto step = std::ranges::find(report.roles, profile::Role::kStep, &RoleWaits::role);
  const int ranks = step == report.roles.end() ? 1 : step->at_once;
  const std::string who =
      ranks > 1 ? fmt::format("{} step threads", ranks) : std::string("the step thread");
  std::string places;
  for (std::size_t i = 0; i < std::min(kShownPlaces, report.places.size()); ++i) {
    if (report.places[i].seconds < kWorthAWait * ranks * report.wall_s) break;
    places += wrapped(flags, profile::show(report.places[i]), 2);
  }
  if (!places.empty()) {
    text += fmt::format("\nWhere {} waited{}\n", who, ranks > 1 ? ", together" : "") + places;
  }
  std::string lines;
  for (std::size_t i = 0; i < std::min(kShownLines, report.lines.size()); ++i) {
    const profile::LineCost& cost = report.lines[i];
    if (cost.seconds < kWorthAWait * report.wall_s) break;
    lines += fmt::format("  {}  {}:{} ({})\n", show_seconds(cost.seconds), cost.file, cost.line,
                         clip(cost.function, 60));
  }
  if (!lines.empty()) {
    text += fmt::format("\nLines of its own that {} {}, in what they called included{}\n", who,
                        report.lines.front().waits_only ? "waited in" : "spent time in",
                        ranks > 1 ? ", as a mean" : "");
  }
  return text + lines + show_wakes(report) + show_disks(report) + show_lost(report);
}

}  // namespace amdahl::cli
