#include "app/scan_cycle.h"

#include <algorithm>

#include <fmt/format.h>

#include "scan/pick.h"

namespace amdahl::app {

FleetScan ranking_of(const FleetAnswer& answer) {
  FleetScan fleet;
  fleet.jobs = static_cast<int>(answer.report.totals.jobs);
  fleet.with_spec = answer.with_spec;
  for (const InputRead& input : answer.inputs) {
    if (!input.left_out.empty()) fleet.unreadable.push_back(input.left_out);
  }
  const std::set<std::string, std::less<>> specs(answer.with_spec.begin(), answer.with_spec.end());
  const auto pick = scan::pick(answer.report, specs);
  const double days = std::max(to_seconds(answer.report.end - answer.report.start), 3600.0) / 86400;
  for (const scan::Row& row : answer.report.cut(scan::By::kFamily).rows) {
    scan::FamilyWaste waste;
    waste.family = row.name;
    waste.jobs = static_cast<int>(row.jobs);
    waste.failed = static_cast<int>(row.lost_jobs);
    waste.split = row.split;
    waste.lost_in_failed = row.lost;
    waste.recoverable = row.recoverable;
    waste.volume_per_day = scan::in_hours(row.split.allocated) / days;
    waste.latest_job = row.worst_job;
    waste.why = pick && pick->family == row.name ? pick->why : row.why;
    fleet.ranked.push_back(std::move(waste));
  }
  return fleet;
}

Result<FleetScan> scan_for_cycle(Context& context, const Say& say,
                                 const std::function<bool()>& stopped) {
  if (context.config.scan_sources.empty()) {
    return scan_fleet(context.config, context.ledger.get(), {});
  }
  ScanOptions options;
  options.report.rows = 0;
  options.stop = stopped;
  auto answer = scan_all(context.config, context.ledger.get(), *context.clock, options);
  if (!answer) {
    if (say) say(fmt::format("scanned only what ran here: {}", answer.error().text));
    return scan_fleet(context.config, context.ledger.get(), {});
  }
  for (const std::string& missing : answer->missing) {
    if (say) say(fmt::format("the scan lacks {}", missing));
  }
  return ranking_of(*answer);
}

}  // namespace amdahl::app
