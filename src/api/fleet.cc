#include "api/fleet.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/actions.h"
#include "api/document.h"

namespace amdahl::api {
namespace {

using scan::By;
using scan::Row;
using scan::TrendLine;
using scan::TrendWindow;

Json json_of(const scan::Split& split) {
  return {{"allocated", split.allocated},
          {"unobserved", split.unobserved},
          {"idle", split.idle},
          {"low", split.low},
          {"productive", split.productive}};
}

Json json_of(const std::optional<scan::Money>& money) {
  if (!money) return nullptr;
  return {{"allocated", money->allocated},
          {"wasted", or_null(money->wasted)},
          {"lost", money->lost},
          {"recoverable", or_null(money->recoverable)}};
}

// Of what nothing was observed of, waste is not 0: it is not known.
Json seen(const scan::Split& split, double value) {
  return split.allocated - split.unobserved > 0 ? Json(value) : Json();
}

Json json_of(const model::Span& span) {
  return {{"name", span.name},
          {"start_s", to_seconds(span.start)},
          {"seconds", to_seconds(span.duration)}};
}

std::string_view lever_from(scan::Lever::From from) {
  constexpr std::string_view kNames[] = {"nothing", "share", "anatomy", "profile"};
  return kNames[static_cast<std::size_t>(from)];
}

Json json_of(const std::vector<scan::Lever>& levers) {
  Json list = Json::array();
  for (const scan::Lever& lever : levers) {
    list.push_back({{"action", lever.action},
                    {"against", model::name(lever.against)},
                    {"ceiling", lever.ceiling},
                    {"chance", lever.chance},
                    {"recoverable_accelerator_s", lever.recoverable}});
  }
  return list;
}

Json json_of(const Row& row) {
  return {{"name", row.name},
          {"detail", row.detail},
          {"jobs", row.jobs},
          {"unobserved_jobs", row.unobserved_jobs},
          {"failed", row.lost_jobs},
          {"split_accelerator_s", json_of(row.split)},
          {"wasted_accelerator_s", seen(row.split, scan::wasted(row.split))},
          {"queue_accelerator_s", row.queue},
          {"lost_in_failed_accelerator_s", row.lost},
          {"recoverable_accelerator_s", seen(row.split, row.recoverable)},
          {"utilisation", or_null(row.utilisation)},
          {"usd", json_of(row.money)},
          {"lever",
           {{"action", row.lever.action},
            {"against", model::name(row.lever.against)},
            {"ceiling", row.lever.ceiling},
            {"chance", row.lever.chance},
            {"chance_lower", row.lever.chance_lower},
            {"chance_upper", row.lever.chance_upper},
            {"basis", row.lever.basis},
            {"such_tried", row.lever.such.tried},
            {"such_won", row.lever.such.won},
            {"family_tried", row.lever.here.tried},
            {"family_won", row.lever.here.won},
            {"from", lever_from(row.lever.from)}}},
          {"levers", json_of(row.levers)},
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
          {"total_accelerator_s", or_null(capacity.total)},
          {"down_accelerator_s", or_null(capacity.down)},
          {"unallocated_accelerator_s", or_null(capacity.unallocated)},
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

// Null for a window of less than a day, which tells no rate.
Json per_day_json(const scan::Report& report) {
  if (!scan::tells_a_week(report)) return nullptr;
  const scan::Totals& totals = report.totals;
  const auto rate = [&](double seconds) { return scan::hours_per_day(report, seconds); };
  const auto money = [&](const auto part) -> Json {
    if (!totals.money || !((*totals.money).*part)) return nullptr;
    return rate(*((*totals.money).*part) * 3600);  // Money goes the way of the hours.
  };
  return {{"wasted_accelerator_h", seen(totals.split, rate(scan::wasted(totals.split)))},
          {"recoverable_accelerator_h", seen(totals.split, rate(totals.recoverable))},
          {"wasted_usd", money(&scan::Money::wasted)},
          {"recoverable_usd", money(&scan::Money::recoverable)}};
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
          {"split_accelerator_s", json_of(totals.split)},
          {"wasted_accelerator_s", seen(totals.split, scan::wasted(totals.split))},
          {"queue_accelerator_s", totals.queue},
          {"lost_in_failed_accelerator_s", totals.lost},
          {"recoverable_accelerator_s", seen(totals.split, totals.recoverable)},
          {"usd", json_of(totals.money)},
          {"per_day", per_day_json(report)},
          {"utilisation_mean", or_null(report.utilisation.mean)},
          {"utilisation_median", or_null(report.utilisation.median)},
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
  for (const ingest::InputRead& input : answer.inputs) {
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
  Json families = Json::array();
  for (const Row& row : report.cut(By::kFamily).rows) {
    Json json = json_of(row);
    json["family"] = row.name;
    json["has_spec"] = std::ranges::find(answer.with_spec, row.name) != answer.with_spec.end();
    json["volume_accelerator_h_per_day"] = scan::hours_per_day(report, row.split.allocated);
    families.push_back(std::move(json));
  }
  return families;
}

Json trends_json(const scan::Report& report) {
  Json lines = Json::array();
  for (const TrendLine& line : report.trends) {
    Json windows = Json::array();
    for (const TrendWindow& window : line.windows) {
      const scan::Split& split = window.slice.split;
      const bool observed = window.slice.jobs > 0;
      windows.push_back({{"start_s", to_seconds(window.slice.start)},
                         {"end_s", to_seconds(window.slice.end)},
                         {"jobs", window.slice.jobs},
                         {"allocated_accelerator_s", split.allocated},
                         {"observed_accelerator_s", scan::observed_in(split)},
                         {"wasted_accelerator_s", scan::wasted(split)},
                         {"waste_share", observed ? Json(window.share) : Json()},
                         {"lower", observed ? finite(window.lower) : Json()},
                         {"upper", observed ? finite(window.upper) : Json()},
                         {"change", window.has_change ? Json(window.change) : Json()},
                         {"change_lower", window.has_change ? finite(window.change_lower) : Json()},
                         {"change_upper", window.has_change ? finite(window.change_upper) : Json()},
                         {"may_be_chance", window.has_change ? Json(!window.can_tell) : Json()}});
    }
    Json halves;
    if (line.halves) {
      halves = {{"says", line.halves->says},
                {"change", line.halves->change},
                {"lower", finite(line.halves->lower)},
                {"upper", finite(line.halves->upper)},
                {"may_be_chance", !line.halves->can_tell}};
    }
    lines.push_back({{"of", line.family.empty() ? "fleet" : "family"},
                     {"family", line.family},
                     {"windows", std::move(windows)},
                     {"halves", std::move(halves)}});
  }
  return lines;
}

}  // namespace

Json fleet(const app::FleetAnswer& answer, By by) {
  const scan::Report& report = answer.report;
  Json rows = Json::array();
  for (const Row& row : report.cut(by).rows) rows.push_back(json_of(row));
  Json unreadable = Json::array();
  for (const ingest::InputRead& input : answer.inputs) {
    if (!input.left_out.empty()) unreadable.push_back(input.left_out);
  }
  Json partitions = Json::array();
  for (const scan::CapacityUse& c : report.partitions) partitions.push_back(json_of(c));
  Json trend;
  if (report.trend) {
    trend = {{"says", report.trend->says},           {"change", report.trend->change},
             {"lower", finite(report.trend->lower)}, {"upper", finite(report.trend->upper)},
             {"can_tell", report.trend->can_tell},   {"of", report.trend->of}};
  }
  return document(
      {{"jobs", report.totals.jobs},
       {"window", {{"start_s", to_seconds(report.start)}, {"end_s", to_seconds(report.end)}}},
       {"idle_below", report.idle_below},
       {"assumptions", assumptions_json(answer.usage)},
       {"totals",
        totals_json(report, std::max(0.0, answer.usage.unclipped - report.totals.split.allocated))},
       {"actions", actions(report)},
       {"leaking", leaking(report)},
       {"policies", policies(report, answer.usage)},
       {"goodput", goodput(report)},
       {"waiting", waiting(report)},
       {"beside", beside(report, answer.usage)},
       {"failures", failures(report)},
       {"chargeback", chargeback(report)},
       {"by", scan::name(by)},
       {"count", report.cut(by).count},
       {"rows", rows},
       {"families", families_json(answer)},
       {"pareto_wasted", json_of(report.cut(by).wasted)},
       {"pareto_wasted_by_job", json_of(report.cut(By::kJob).wasted)},
       {"capacity", json_of(report.capacity)},
       {"partitions", partitions},
       {"trend", trend},
       {"trends", trends_json(report)},
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
       {"unreadable", unreadable}});
}

Json fleet_rows(const scan::Cut& page, const scan::PageOptions& options) {
  Json rows = Json::array();
  for (const Row& row : page.rows) rows.push_back(json_of(row));
  return document({{"by", scan::name(page.by)},
                   {"order", scan::name(options.order)},
                   {"search", options.search},
                   {"family", options.family},
                   {"skip", options.skip},
                   {"count", page.count},
                   {"rows", rows}});
}

Json fleet_trends(const scan::Report& report) {
  return document({{"trends", trends_json(report)}});
}

Json empty_fleet() {
  return document({{"jobs", 0}, {"families", Json::array()}, {"unreadable", Json::array()}});
}

Json kept_months(const std::vector<app::KeptMonth>& months) {
  Json rows = Json::array();
  for (const app::KeptMonth& one : months) {
    rows.push_back({{"month", one.month},
                    {"scans", one.scans},
                    {"days", one.days},
                    {"jobs", one.sum.jobs},
                    {"split_accelerator_s", json_of(one.sum.split)},
                    {"wasted_accelerator_s", seen(one.sum.split, scan::wasted(one.sum.split))},
                    {"lost_in_failed_accelerator_s", one.sum.lost},
                    {"energy_kwh", one.sum.kwh > 0 ? Json(one.sum.kwh) : Json()}});
  }
  return document({{"months", rows}});
}

Json anatomy(const scan::Anatomy& job) {
  Json table = Json::array();
  for (const scan::CeilingRow& row : job.table) {
    table.push_back({{"name", row.name},
                     {"accelerator_seconds", row.accelerator_seconds},
                     {"share", row.share},
                     {"ceiling", std::isfinite(row.if_vanished) ? Json(row.if_vanished) : Json()},
                     {"is_compute", row.is_compute}});
  }
  constexpr std::string_view kActivities[] = {"unobserved", "idle", "low", "productive"};
  Json lanes = Json::array();
  for (const auto& lane : job.accelerators) {
    Json stretches = Json::array();
    for (const scan::ActivitySpan& s : lane) {
      stretches.push_back({{"activity", kActivities[static_cast<std::size_t>(s.activity)]},
                           {"start_s", to_seconds(s.start)},
                           {"seconds", to_seconds(s.duration)}});
    }
    lanes.push_back(std::move(stretches));
  }
  Json phases = Json::array();
  for (const model::Span& phase : job.phases) phases.push_back(json_of(phase));
  Json stages = Json::array();
  for (const model::Span& stage : job.stages) stages.push_back(json_of(stage));
  Json parts = Json::array();
  for (const scan::Part& part : job.parts) {
    parts.push_back({{"kind", scan::name(part.kind)},
                     {"against", model::name(scan::bottleneck_of(part.kind))},
                     {"action", scan::action(part.kind)},
                     {"accelerator_seconds", part.accelerator_seconds},
                     {"evidence", part.evidence}});
  }
  return document({{"job", job.job},
                   {"family", job.family},
                   {"wall_s", to_seconds(job.wall)},
                   {"queue_s", job.queue > Nanos{} ? Json(to_seconds(job.queue)) : Json()},
                   {"metric", job.metric},
                   {"split_accelerator_s", json_of(job.split)},
                   {"accelerators", lanes},
                   {"labels", job.labels},
                   {"no_timeline", job.no_course},
                   {"phases", phases},
                   {"stages", stages},
                   {"parts", parts},
                   {"table", table}});
}

Result<Json> fleet(const app::Config& config, const app::ScanOptions& options, By by) {
  const auto answer = app::scan_fleet(config, options);
  if (answer) return fleet(*answer, by);
  const bool nothing =
      answer.error().kind == Error::Kind::kNotFound && options.read.origins.empty();
  return nothing ? Result<Json>(empty_fleet()) : Result<Json>(answer.error());
}

Result<Json> anatomy(const app::Config& config, const std::string& job) {
  return anatomy(TRY(app::job_anatomy(config, job)));
}

Json own_waste(const app::OwnWaste& own, const app::FleetAnswer& fleet) {
  Json families = Json::array();
  for (const app::OwnFamily& family : own.families) {
    families.push_back({{"name", family.name},
                        {"jobs", family.jobs},
                        {"split_accelerator_s", json_of(family.split)},
                        {"wasted_accelerator_s", seen(family.split, scan::wasted(family.split))}});
  }
  Json worst = Json::array();
  for (const app::OwnJob& job : own.worst) {
    worst.push_back({{"job", job.id},
                     {"name", job.name},
                     {"family", job.family},
                     {"user", job.user},
                     {"state", job.state},
                     {"start_s", to_seconds(job.start)},
                     {"split_accelerator_s", json_of(job.split)},
                     {"wasted_accelerator_s", seen(job.split, scan::wasted(job.split))},
                     {"part", job.part},
                     {"evidence", job.evidence},
                     {"action", job.action}});
  }
  return document({{"by", scan::name(own.by)},
                   {"name", own.name},
                   {"window",
                    {{"start_s", to_seconds(fleet.usage.window.start)},
                     {"end_s", to_seconds(fleet.usage.window.end)}}},
                   {"jobs", own.jobs},
                   {"failed", own.lost_jobs},
                   {"split_accelerator_s", json_of(own.split)},
                   {"wasted_accelerator_s", seen(own.split, scan::wasted(own.split))},
                   {"lost_in_failed_accelerator_s", own.lost},
                   {"families", families},
                   {"worst", worst}});
}

}  // namespace amdahl::api
