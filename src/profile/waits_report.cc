#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/amount.h"
#include "base/text.h"
#include "profile/offcpu.h"

namespace amdahl::profile {
namespace {

using model::BpfSummary;

constexpr std::size_t kShownFrames = 6;
constexpr std::size_t kShownName = 60;
constexpr std::size_t kMostPlaces = 10;
constexpr std::size_t kMostLines = 20;
constexpr std::size_t kMostWakes = 20;

std::string shown(const model::WaitFrame& frame) {
  const std::string_view path = frame.line > 0 ? frame.source : frame.file;
  const std::size_t slash = path.rfind('/');
  const std::string_view file = path.substr(slash == path.npos ? 0 : slash + 1);
  if (frame.symbol.empty()) return fmt::format("{}+{:#x}", file, frame.offset);
  const std::string name = clip(frame.symbol, kShownName);
  return frame.line > 0 ? fmt::format("{}:{} ({})", file, frame.line, name) : name;
}

// Innermost first, as many as a person reads.
std::string stack_of(const model::WaitSite& site) {
  std::vector<std::string> names;
  for (const model::PythonFrame& frame : site.python) {
    if (names.size() >= kShownFrames) break;
    if (is_hook(frame) || is_import_machinery(frame)) continue;
    names.push_back(show(StackLine{frame.file, frame.line, frame.function}));
  }
  for (const model::WaitFrame& frame : site.frames) {
    if (!site.python.empty() || names.size() >= kShownFrames) break;
    names.push_back(shown(frame));
  }
  return join(names, " < ");
}

std::string name_of(const std::map<std::int64_t, std::string>& names, std::int64_t tid) {
  const auto found = names.find(tid);
  return found == names.end() ? "" : found->second;
}

}  // namespace

std::vector<WaitPlace> places_of(const BpfSummary& summary, Role role, std::size_t most) {
  const std::vector<Role> roles = roles_of(summary);
  std::map<std::int64_t, Role> role_of;
  for (std::size_t i = 0; i < roles.size(); ++i) role_of[summary.tasks[i].tid] = roles[i];
  std::map<std::tuple<std::string, std::string, bool>, std::size_t> known;
  std::vector<WaitPlace> places;
  const bool has_ranks = exchanges_gradients(summary);
  for (const model::WaitSite& site : summary.sites) {
    const auto found = role_of.find(site.tid);
    if (found == role_of.end() || found->second != role) continue;
    WaitPlace place;
    place.reason = model::name(site.reason);
    place.stack = stack_of(site);
    place.is_loading = is_loading(site);
    place.is_collective = is_collective(site) || (has_ranks && is_backward(site));
    const auto [at, is_new] =
        known.try_emplace({place.reason, place.stack, place.is_loading}, places.size());
    if (is_new) {
      place.line = own_line(lines_of(site));
      places.push_back(std::move(place));
    }
    WaitPlace& sum = places[at->second];
    sum.count += site.count;
    sum.seconds += to_seconds(site.time);
    sum.longest_s = std::max(sum.longest_s, to_seconds(site.longest));
  }
  std::ranges::stable_sort(places, std::ranges::greater{}, &WaitPlace::seconds);
  if (places.size() > most) places.resize(most);
  return places;
}

std::string show(const WaitPlace& place) {
  return fmt::format("{} in {} {} waits{}{}", show_seconds(place.seconds), place.count,
                     place.reason, place.stack.empty() ? "" : ": ", place.stack);
}

WaitsReport waits_report(const BpfSummary& summary) {
  WaitsReport report;
  report.collector = summary.collector;
  report.why_not = summary.why_not;
  report.wall_s = to_seconds(summary.wall);
  report.collector_cpu_s = to_seconds(summary.collector_cpu);
  report.sample_every_s = to_seconds(summary.sample_every);
  report.roles = waits_by_role(summary);
  report.places = places_of(summary, Role::kStep, kMostPlaces);
  report.lines = line_costs(summary);
  if (report.lines.size() > kMostLines) report.lines.resize(kMostLines);
  std::map<std::int64_t, std::string> names;
  std::set<std::int64_t> hooks;
  for (const model::TaskWaits& task : summary.tasks) {
    names[task.tid] = task.name;
    if (is_hooks(task)) hooks.insert(task.tid);
  }
  for (const model::Wakes& row : summary.wakes) {
    if (report.wakes.size() >= kMostWakes) break;
    if (hooks.contains(row.wakee) || hooks.contains(row.waker)) continue;
    report.wakes.push_back({row.waker, row.wakee, name_of(names, row.waker),
                            name_of(names, row.wakee), row.count, to_seconds(row.blocked)});
  }
  report.disks = summary.devices;
  report.lost_tasks = summary.lost_tasks;
  report.lost_sites = summary.lost_sites;
  report.lost_events = summary.lost_events;
  report.lost_wakes = summary.lost_wakes;
  report.lost_samples = summary.lost_samples;
  return report;
}

}  // namespace amdahl::profile
