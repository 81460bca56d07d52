#include "app/scan_cycle.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/count.h"
#include "base/json.h"
#include "os/files.h"

namespace amdahl::app {
namespace {

constexpr double kVolumeMoved = 0.01;  // Of the larger of both.
constexpr double kFiguresMoved = 0.1;

bool moved(double before, double now, double share) {
  return std::abs(now - before) > share * std::max(before, now);
}

Json figures_of(const scan::Candidate& candidate) {
  return {{"family", candidate.family},
          {"recoverable_accelerator_s", candidate.recoverable},
          {"wasted_accelerator_s", candidate.wasted},
          {"job", candidate.job},
          {"has_spec", candidate.has_spec},
          {"why", candidate.why}};
}

Json payload_of(const scan::Pick& pick) {
  Json payload = figures_of(pick.first.value_or(scan::Candidate{}));
  payload["why"] = pick.why;
  payload["next"] = Json::array();
  for (const scan::Candidate& next : pick.next) payload["next"].push_back(figures_of(next));
  payload["passed_over_count"] = pick.passed;
  payload["passed_over"] = Json::array();
  for (const scan::Candidate& passed : pick.passed_over) {
    payload["passed_over"].push_back(figures_of(passed));
  }
  return payload;
}

// Who is chosen, who follows and who is passed over, without figures.
std::string scan_order(const Json& payload) {
  std::string order =
      fmt::format("{} {}", payload.value("family", ""), payload.value("has_spec", false));
  for (const char* list : {"next", "passed_over"}) {
    order += fmt::format("\n{}:", list);
    for (const Json& row : payload.value(list, Json::array())) {
      order += fmt::format("\n{} {}", row.value("family", ""), row.value("has_spec", false));
    }
  }
  return order;
}

bool is_same_choice(const Json& before, const Json& now) {
  constexpr auto kFigure = "recoverable_accelerator_s";
  return scan_order(before) == scan_order(now) &&
         !moved(before.value(kFigure, 0.0), now.value(kFigure, 0.0), kFiguresMoved);
}

// Why the loop can do nothing with a family now; empty if it can.
std::string why_at_rest(const loop::State& state, const loop::FamilyState& family) {
  if (!family.profiled) {
    if (family.profile_failures < state.settings.failures_allowed) return "";
    return fmt::format("its profile failed {} in a row: amdahl profile {}",
                       counted(family.profile_failures, "time"), family.name);
  }
  if (std::ranges::find(state.queued, family.name, &loop::Queued::family) != state.queued.end()) {
    return "";
  }
  int waiting = 0;
  for (const loop::ExperimentState& x : state.experiments) {
    if (x.family != family.name) continue;
    if (is_active(x)) return "";
    ++waiting;
  }
  if (waiting > 0) {
    return fmt::format("{} of it waits at the gate or for more evidence: amdahl status",
                       counted(waiting, "claim"));
  }
  return "every known idea has a verdict; amdahl cycle --refresh looks for more";
}

}  // namespace

std::optional<FleetAnswer> scan_here(Context& context, const Say& say) {
  const std::string here = context.config.state_dir + "/usage";
  if (!os::exists(here)) return std::nullopt;
  ScanOptions options;
  options.read.origins = {{.where = here}};
  options.report.rows = 0;
  options.read.keep = false;  // Records are small and whole: a mark for each would cost more.
  auto answer = scan_all(context.config, context.ledger.get(), *context.clock, options);
  if (answer) return *std::move(answer);
  if (say && answer.error().kind != Error::Kind::kNotFound) {
    say(fmt::format("the scan failed: {}", answer.error().text));
  }
  return std::nullopt;
}

std::optional<FleetAnswer> scan_for_cycle(Context& context, const Say& say,
                                          const std::function<bool()>& stopped) {
  if (context.config.scan_sources.empty()) return scan_here(context, say);
  ScanOptions options;
  options.report.rows = 0;
  options.read.stop = stopped;
  auto answer = scan_all(context.config, context.ledger.get(), *context.clock, options);
  if (!answer) {
    if (say) say(fmt::format("scanned only what ran here: {}", answer.error().text));
    return scan_here(context, say);
  }
  for (const std::string& missing : answer->missing) {
    if (say) say(fmt::format("the scan lacks {}", missing));
  }
  return *std::move(answer);
}

Result<> record_volumes(Context& context, const FleetAnswer& answer, std::int64_t fence) {
  const scan::Report& report = answer.report;
  std::vector<ledger::Draft> drafts;
  for (const scan::Row& row : report.cut(scan::By::kFamily).rows) {
    const auto family = context.ledger->family(row.name);
    if (!family) continue;  // No spec: ranked, but nothing is known of it.
    const double volume = scan::hours_per_day(report, row.split.allocated);
    if (!moved(family->volume_accelerator_h_per_day, volume, kVolumeMoved)) continue;
    drafts.push_back({"scan.picked",
                      "cycle",
                      row.name,
                      {{"why", row.why},
                       {"volume_accelerator_h_per_day", volume},
                       {"wasted_accelerator_s", scan::wasted(row.split)},
                       {"jobs", row.jobs}}});
  }
  if (!drafts.empty()) TRY(context.ledger->append(drafts, fence));
  return Ok{};
}

scan::Standing standing_of(const Snapshot& snapshot, const FleetAnswer& answer) {
  scan::Standing standing{
      .specs = {}, .local_jobs = answer.local_jobs, .slurm_knows = answer.slurm_knows};
  const loop::State& state = snapshot.experiments.state();
  for (const loop::FamilyState& family : state.families) {
    standing.specs[family.name] = why_at_rest(state, family);
  }
  return standing;
}

Result<> record_choice(Context& context, const scan::Pick& pick, const Say& say,
                       std::int64_t fence) {
  const Json payload = payload_of(pick);
  const auto last = TRY(context.ledger->choice());
  if (last && is_same_choice(last->body, payload)) return Ok{};
  const std::string subject = pick.first ? pick.first->family : "fleet";
  TRY(note(context, {"scan.chose", "cycle", subject, payload}, fence));
  if (say) say(fmt::format("next: {}{}", pick.first ? subject + ": " : "", pick.why));
  return Ok{};
}

}  // namespace amdahl::app
