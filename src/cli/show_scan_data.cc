#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/show_scan.h"

namespace amdahl::cli {
namespace {

using scan::By;
using scan::Row;

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json json_of(const std::optional<scan::Money>& money) {
  if (!money) return nullptr;
  return {{"allocated", money->allocated},
          {"wasted", json_of(money->wasted)},
          {"lost", money->lost},
          {"recoverable", json_of(money->recoverable)}};
}

// Of what nothing was observed of, waste is not 0: it is not known.
Json seen(const scan::Split& split, double value) {
  return split.allocated - split.unobserved > 0 ? Json(value) : Json();
}

std::string_view lever_from(scan::Lever::From from) {
  constexpr std::string_view kNames[] = {"nothing", "share", "anatomy", "profile"};
  return kNames[static_cast<std::size_t>(from)];
}

Json json_of(const Row& row) {
  return {{"name", row.name},
          {"detail", row.detail},
          {"jobs", row.jobs},
          {"unobserved_jobs", row.unobserved_jobs},
          {"failed", row.lost_jobs},
          {"split_accelerator_s", split_json(row.split)},
          {"wasted_accelerator_s", seen(row.split, scan::wasted(row.split))},
          {"queue_accelerator_s", row.queue},
          {"lost_in_failed_accelerator_s", row.lost},
          {"recoverable_accelerator_s", seen(row.split, row.recoverable)},
          {"utilisation", json_of(row.utilisation)},
          {"usd", json_of(row.money)},
          {"lever",
           {{"action", row.lever.action},
            {"against", model::name(row.lever.against)},
            {"ceiling", row.lever.ceiling},
            {"chance", row.lever.chance},
            {"such_tried", row.lever.such.tried},
            {"such_won", row.lever.such.won},
            {"family_tried", row.lever.here.tried},
            {"family_won", row.lever.here.won},
            {"from", lever_from(row.lever.from)}}},
          {"worst_job", row.worst_job},
          {"why", row.why}};
}

Json json_of(const scan::Pareto& pareto) {
  Json points = Json::array();
  for (const auto& point : pareto.points) points.push_back({point.items, point.share});
  return {{"total_accelerator_s", pareto.total},
          {"top_0.1pct", pareto.top[0]},
          {"top_1pct", pareto.top[1]},
          {"top_5pct", pareto.top[2]},
          {"top_10pct", pareto.top[3]},
          {"top_20pct", pareto.top[4]},
          {"points", points}};
}

Json json_of(const scan::CapacityUse& capacity) {
  return {{"partition", capacity.partition},
          {"basis", capacity.basis},
          {"total_accelerator_s", json_of(capacity.total)},
          {"down_accelerator_s", json_of(capacity.down)},
          {"unallocated_accelerator_s", json_of(capacity.unallocated)},
          {"allocated_accelerator_s", capacity.is_accounted ? Json(capacity.allocated) : Json()},
          {"without_job_accelerator_s", capacity.free},
          {"without_job_idle_accelerator_s", capacity.free_idle},
          {"without_job_productive_accelerator_s", capacity.free_use},
          {"idle_accelerator_s", capacity.idle},
          {"low_accelerator_s", capacity.low},
          {"unobserved_accelerator_s", capacity.unobserved},
          {"productive_accelerator_s", capacity.productive},
          {"elsewhere_accelerator_s", capacity.elsewhere}};
}

// `outside`: the jobs' time that the window leaves out.
Json totals_json(const scan::Report& report, double outside) {
  const scan::Totals& totals = report.totals;
  Json metrics = Json::array();
  for (const scan::Metric& metric : report.utilisation.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"observed_accelerator_s", metric.observed},
                       {"jobs", metric.jobs}});
  }
  return {{"jobs", totals.jobs},
          {"unobserved_jobs", totals.unobserved_jobs},
          {"unobserved_jobs_accelerator_s", totals.unobserved_in_jobs},
          {"outside_window_accelerator_s", outside},
          {"failed", totals.lost_jobs},
          {"families", totals.families},
          {"users", totals.users},
          {"accounts", totals.accounts},
          {"split_accelerator_s", split_json(totals.split)},
          {"wasted_accelerator_s", seen(totals.split, scan::wasted(totals.split))},
          {"queue_accelerator_s", totals.queue},
          {"lost_in_failed_accelerator_s", totals.lost},
          {"recoverable_accelerator_s", seen(totals.split, totals.recoverable)},
          {"usd", json_of(totals.money)},
          {"utilisation_mean", json_of(report.utilisation.mean)},
          {"utilisation_median", json_of(report.utilisation.median)},
          {"metrics", metrics}};
}

Json counts_json(const std::vector<scan::TroubleCount>& troubles) {
  Json counts = Json::object();
  for (const scan::TroubleCount& t : troubles) {
    counts[std::string(model::name(t.trouble))] = t.count;
  }
  return counts;
}

Json inputs_json(const app::FleetAnswer& answer) {
  Json inputs = Json::array();
  for (const app::InputRead& input : answer.inputs) {
    inputs.push_back({{"name", input.name},
                      {"read_as", input.read_as},
                      {"packing", input.packing},
                      {"bytes", input.bytes},
                      {"bytes_known", input.known},
                      {"jobs", input.jobs},
                      {"series", input.series},
                      {"samples", input.samples},
                      {"known_by", input.known_by},
                      {"notes", input.notes},
                      {"troubles", counts_json(input.troubles)},
                      {"left_out", input.left_out}});
  }
  return inputs;
}

Json troubles_json(const scan::FleetUsage& usage) {
  Json troubles = Json::array();
  for (const scan::TroubleCount& t : usage.troubles) {
    Json first = Json::array();
    for (const scan::Complaint& c : usage.complaints) {
      if (c.trouble != t.trouble) continue;
      first.push_back({{"input", c.input}, {"line", c.line}, {"byte", c.byte}, {"text", c.text}});
    }
    troubles.push_back(
        {{"name", model::name(t.trouble)}, {"count", t.count}, {"first", std::move(first)}});
  }
  return troubles;
}

Json passed_over_json(const scan::FleetUsage& usage) {
  constexpr std::string_view kReasons[] = {"better", "slices", "labelled", "unplaced"};
  Json rows = Json::array();
  for (const scan::PassedOver& row : usage.passed_over) {
    rows.push_back({{"why", kReasons[static_cast<std::size_t>(row.why)]},
                    {"metric", usage.text(row.metric)},
                    {"input", row.input},
                    {"better", usage.text(row.better)},
                    {"better_from", row.better_from},
                    {"samples", row.samples}});
  }
  return rows;
}

Json assumptions_json(const scan::FleetUsage& usage) {
  Json rows = Json::array();
  for (const scan::Assumption& one : usage.assumptions) {
    rows.push_back(
        {{"about", one.about}, {"says", one.says}, {"records", one.records}, {"share", one.share}});
  }
  return rows;
}

Json families_json(const app::FleetAnswer& answer) {
  const scan::Report& report = answer.report;
  const double days = std::max(to_seconds(report.end - report.start), 3600.0) / 86400;
  Json families = Json::array();
  for (const Row& row : report.cut(By::kFamily).rows) {
    Json json = json_of(row);
    json["family"] = row.name;
    json["has_spec"] = std::ranges::find(answer.with_spec, row.name) != answer.with_spec.end();
    json["volume_accelerator_h_per_day"] = scan::in_hours(row.split.allocated) / days;
    families.push_back(std::move(json));
  }
  return families;
}

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

Json fleet_json(const app::FleetAnswer& answer, By by) {
  const scan::Report& report = answer.report;
  Json rows = Json::array();
  for (const Row& row : report.cut(by).rows) rows.push_back(json_of(row));
  Json unreadable = Json::array();
  for (const app::InputRead& input : answer.inputs) {
    if (!input.left_out.empty()) unreadable.push_back(input.left_out);
  }
  Json partitions = Json::array();
  for (const scan::CapacityUse& c : report.partitions) partitions.push_back(json_of(c));
  Json trend;
  if (report.trend) {
    trend = {{"says", report.trend->says},         {"change", report.trend->change},
             {"lower", report.trend->lower},       {"upper", report.trend->upper},
             {"can_tell", report.trend->can_tell}, {"of", report.trend->of}};
  }
  return {{"schema_version", 1},
          {"jobs", report.totals.jobs},
          {"window", {{"start_s", to_seconds(report.start)}, {"end_s", to_seconds(report.end)}}},
          {"idle_below", report.idle_below},
          {"assumptions", assumptions_json(answer.usage)},
          {"totals", totals_json(report, std::max(0.0, answer.usage.unclipped -
                                                           report.totals.split.allocated))},
          {"by", scan::name(by)},
          {"count", report.cut(by).count},
          {"rows", rows},
          {"families", families_json(answer)},
          {"pareto_wasted", json_of(report.cut(by).wasted)},
          {"pareto_wasted_by_job", json_of(report.cut(By::kJob).wasted)},
          {"capacity", json_of(report.capacity)},
          {"partitions", partitions},
          {"trend", trend},
          {"trends", trend_json(report)},
          {"next", answer.next ? answer.next->body : Json()},
          {"jobs_by_label", answer.jobs_by_label},
          {"samples", answer.usage.samples},
          {"samples_attributed", answer.usage.attributed},
          {"samples_outside", answer.usage.outside_samples},
          {"samples_passed_over", passed_over_json(answer.usage)},
          {"inputs", inputs_json(answer)},
          {"troubles", troubles_json(answer.usage)},
          {"missing", answer.missing},
          {"not_kept", answer.not_kept},
          {"unreadable", unreadable}};
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
