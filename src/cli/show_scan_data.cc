#include <fmt/core.h>

#include "base/text.h"
#include "cli/show_scan.h"

namespace amdahl::cli {
namespace {

using scan::By;
using scan::Row;

}  // namespace

// As RFC 4180 has it; a cell that a spreadsheet would run is kept from that.
std::string csv_cell(std::string_view text) {
  std::string out(text);
  if (!out.empty() && std::string_view("=+-@").find(out[0]) != std::string_view::npos) {
    out.insert(0, "'");
  }
  if (out.find_first_of(",\"\r\n") == out.npos) return out;
  std::string quoted = "\"";
  for (const char c : out) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string fleet_csv(const app::FleetAnswer& answer, By by) {
  std::string text = fmt::format(
      "{},jobs,unobserved_jobs,failed_jobs,allocated_h,unobserved_h,idle_h,low_h,productive_h,"
      "wasted_h,recoverable_h,lost_h,queue_h,utilisation,usd_wasted,usd_recoverable,worst_job,"
      "detail\n",
      scan::name(by));
  const auto h = [](double accelerator_seconds) {
    return fmt::format("{:.6f}", scan::in_hours(accelerator_seconds));
  };
  const auto dollars = [](const std::optional<double>& money) {
    return money ? fmt::format("{:.2f}", *money) : std::string();
  };
  for (const Row& row : answer.report.cut(by).rows) {
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(row.name),
                    row.jobs, row.unobserved_jobs, row.lost_jobs, h(row.split.allocated),
                    h(row.split.unobserved), h(row.split.idle), h(row.split.low),
                    h(row.split.productive), row.utilisation ? h(scan::wasted(row.split)) : "",
                    row.utilisation ? h(row.recoverable) : "", h(row.lost), h(row.queue),
                    row.utilisation ? fmt::format("{:.6f}", *row.utilisation) : "",
                    row.money ? dollars(row.money->wasted) : "",
                    row.money ? dollars(row.money->recoverable) : "", csv_cell(row.worst_job),
                    csv_cell(row.detail));
  }
  return text;
}

}  // namespace amdahl::cli
