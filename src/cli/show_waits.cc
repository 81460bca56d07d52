#include "cli/show_waits.h"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

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

// "futex 62 %, poll 3 %": what it was blocked in, of the life of its threads.
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
      return is_exact && report.wall_s > 0 ? show_number(count / report.wall_s) : "-";
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
    text += fmt::format("  {} woke {} {}, after {} s\n", thread_named(row.waker_name, row.waker),
                        thread_named(row.wakee_name, row.wakee), counted(row.count, "time"),
                        show_number(row.blocked_s));
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
                        : show_number(1000 * to_seconds(time) / static_cast<double>(count));
    };
    text += fmt::format(
        "  {}: {} reads of {} ms ({} MB), {} writes of {} ms ({} MB); {} of them the job's own, "
        "{} s\n",
        disk.name, disk.reads, each(disk.read_time, disk.reads),
        show_number(static_cast<double>(disk.read_bytes) / 1e6), disk.writes,
        each(disk.write_time, disk.writes),
        show_number(static_cast<double>(disk.write_bytes) / 1e6), disk.own,
        show_number(to_seconds(disk.own_time)));
  }
  return text.empty() ? "" : "\nDisks of the host meanwhile\n" + text;
}

std::string show_lost(const WaitsReport& report) {
  std::string text;
  const auto say = [&](std::int64_t count, const char* what) {
    if (count > 0) text += fmt::format("not told: {} {}\n", count, what);
  };
  say(report.lost_tasks, "threads that found no room in the kernel's table");
  say(report.lost_sites, "waits at places that found no room");
  say(report.lost_events, "single waits that found no room; the sums hold them");
  say(report.lost_wakes, "pairs of waker and woken that found no room");
  say(report.lost_samples, "samples whose stack could not be had, or found no room");
  return text;
}

nlohmann::json encode_role(const RoleWaits& role, double wall_s, bool is_exact) {
  nlohmann::json blocked = nlohmann::json::object();
  for (std::size_t i = 0; i < model::kWaits; ++i) {
    if (role.blocked_s[i] > 0) blocked[std::string(model::kWaitNames[i])] = role.blocked_s[i];
  }
  nlohmann::json json{{"role", name(role.role)},       {"threads", role.threads},
                      {"life_s", role.life_s},         {"running_s", role.running_s},
                      {"runqueue_s", role.runqueue_s}, {"preempted_s", role.preempted_s},
                      {"blocked_s", blocked}};
  if (!is_exact || wall_s <= 0) return json;
  json["wakeups_per_s"] = role.wakeups / wall_s;
  json["preemptions_per_s"] = role.preemptions / wall_s;
  json["until_loader_s"] = role.until_loader_s;
  json["until_pool_s"] = role.until_pool_s;
  if (role.syscalls >= 0) json["syscalls_per_s"] = role.syscalls / wall_s;
  return json;
}

nlohmann::json encode_disk(const model::DeviceIo& disk) {
  return {{"name", disk.name},
          {"reads", disk.reads},
          {"writes", disk.writes},
          {"read_bytes", disk.read_bytes},
          {"write_bytes", disk.write_bytes},
          {"read_s", to_seconds(disk.read_time)},
          {"write_s", to_seconds(disk.write_time)},
          {"own", disk.own},
          {"own_s", to_seconds(disk.own_time)},
          {"longest_s", to_seconds(disk.longest)}};
}

nlohmann::json encode_place(const profile::WaitPlace& place) {
  nlohmann::json json{{"reason", place.reason},
                      {"count", place.count},
                      {"seconds", place.seconds},
                      {"longest_s", place.longest_s},
                      {"stack", place.stack}};
  if (place.line) {
    json["file"] = place.line->file;
    json["line"] = place.line->line;
    json["function"] = place.line->function;
  }
  return json;
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
    lines += fmt::format("  {} s  {}:{} ({})\n", show_number(cost.seconds), cost.file, cost.line,
                         clip(cost.function, 60));
  }
  if (!lines.empty()) {
    text += fmt::format("\nLines of its own that {} {}, in what they called included{}\n", who,
                        report.lines.front().waits_only ? "waited in" : "spent time in",
                        ranks > 1 ? ", as a mean" : "");
  }
  return text + lines + show_wakes(report) + show_disks(report) + show_lost(report);
}

nlohmann::json encode_waits(const WaitsReport& report) {
  const bool is_exact = report.collector == "bpf";
  nlohmann::json json{{"collector", report.collector},
                      {"wall_s", report.wall_s},
                      {"collector_cpu_s", report.collector_cpu_s},
                      {"lost",
                       {{"threads", report.lost_tasks},
                        {"places", report.lost_sites},
                        {"waits", report.lost_events},
                        {"wakes", report.lost_wakes},
                        {"samples", report.lost_samples}}}};
  if (!is_exact) json["why_not_bpf"] = report.why_not;
  if (!is_exact) json["sample_every_s"] = report.sample_every_s;
  for (const char* list : {"roles", "places", "lines", "wakes", "disks"}) {
    json[list] = nlohmann::json::array();
  }
  for (const RoleWaits& role : report.roles) {
    json["roles"].push_back(encode_role(role, report.wall_s, is_exact));
  }
  for (const auto& place : report.places) json["places"].push_back(encode_place(place));
  for (const profile::LineCost& cost : report.lines) {
    json["lines"].push_back({{"file", cost.file},
                             {"line", cost.line},
                             {"function", cost.function},
                             {"seconds", cost.seconds},
                             {"waits_only", cost.waits_only}});
  }
  for (const profile::WakeRow& row : report.wakes) {
    json["wakes"].push_back({{"waker", row.waker},
                             {"waker_name", row.waker_name},
                             {"wakee", row.wakee},
                             {"wakee_name", row.wakee_name},
                             {"count", row.count},
                             {"blocked_s", row.blocked_s}});
  }
  for (const model::DeviceIo& disk : report.disks) json["disks"].push_back(encode_disk(disk));
  return json;
}

}  // namespace amdahl::cli
