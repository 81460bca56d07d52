// What a report may conclude, and what its reader must know first.
#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "scan/report.h"

namespace amdahl::scan {

bool tells_a_week(const Report& report) {
  return report.end - report.start >= std::chrono::hours{24};
}

double per_week(const Report& report, double amount) {
  if (!tells_a_week(report)) return amount;
  return amount * 7 * 86400 / to_seconds(report.end - report.start);
}

bool is_mostly_observed(const Report& report) {
  const Totals& all = report.totals;
  return 2 * all.split.unobserved <= all.split.allocated && 2 * all.unobserved_jobs <= all.jobs;
}

std::string unplaced_text(const FleetUsage& usage, const Report& report) {
  const auto unplaced =
      std::ranges::find(usage.troubles, model::Trouble::kUnknownPlace, &TroubleCount::trouble);
  if (unplaced == usage.troubles.end() || is_mostly_observed(report)) return "";
  const Split& split = report.totals.split;
  return fmt::format(
      "{} of the allocated time is unobserved, and all figures of waste are of the rest: {} of {} "
      "jobs held part of a host, and the inputs do not say which accelerators. Give a table of "
      "them (jobid,host,gpu), `scontrol show job "
      "-d` "
      "while jobs run, or samples labelled with jobs (dcgm-exporter --hpc-job-mapping-dir)",
      show_percent(split.unobserved / split.allocated), unplaced->count, report.totals.jobs);
}

}  // namespace amdahl::scan
