#include "api/actions.h"

#include "api/document.h"

namespace amdahl::api {
namespace {

using scan::Replay;

Json json_of(const Replay& replay, const scan::FleetUsage& usage) {
  return {{"policy", replay.policy},
          {"limit_s", replay.limit > Nanos{} ? Json(to_seconds(replay.limit)) : Json()},
          {"judged", replay.judged},
          {"hits", replay.hits.size()},
          {"false_hits", replay.wrong()},
          {"users", replay.users(usage)},
          {"recovered_accelerator_s", replay.recovered()},
          {"at_risk_accelerator_s", replay.at_risk()}};
}

Json bill_of(std::string_view name, std::uint64_t jobs, const scan::Split& split, double lost,
             double recoverable, const std::optional<scan::Money>& money, const Json& kwh) {
  const bool is_seen = scan::observed_in(split) > 0;
  return {{"name", name},
          {"jobs", jobs},
          {"allocated_accelerator_s", split.allocated},
          {"productive_accelerator_s", split.productive},
          {"wasted_accelerator_s", is_seen ? Json(scan::wasted(split)) : Json()},
          {"unobserved_accelerator_s", split.unobserved},
          {"lost_in_failed_accelerator_s", lost},
          {"recoverable_accelerator_s", is_seen ? Json(recoverable) : Json()},
          {"allocated_usd", money ? Json(money->allocated) : Json()},
          {"wasted_usd", money ? or_null(money->wasted) : Json()},
          {"recoverable_usd", money ? or_null(money->recoverable) : Json()},
          {"energy_kwh", kwh}};
}

Json json_of(const scan::HeldIdle& held) {
  return {{"accelerator_s", held.seconds},
          {"jobs", held.jobs},
          {"users", held.users},
          {"worst_job", held.worst_job},
          {"worst_accelerator_s", held.worst}};
}

}  // namespace

Json actions(const scan::Report& report) {
  Json rows = Json::array();
  for (const scan::Action& action : report.actions) {
    rows.push_back({{"id", action.id},
                    {"title", action.title},
                    {"confirmed", action.is_confirmed},
                    {"wasted_accelerator_s", action.wasted},
                    {"wasted_usd", or_null(action.usd_wasted)},
                    {"recovered_accelerator_s", action.recovered},
                    {"recovered_lower_accelerator_s", action.lower},
                    {"recovered_upper_accelerator_s", action.upper},
                    {"recovered_accelerator_h_per_week",
                     scan::in_hours(scan::per_week(report, action.recovered))},
                    {"recovered_usd_per_week",
                     action.usd ? Json(scan::per_week(report, *action.usd)) : Json()},
                    {"jobs", action.jobs},
                    {"users", action.users},
                    {"confidence", action.confidence.mean},
                    {"confidence_lower", action.confidence.lower},
                    {"confidence_upper", action.confidence.upper},
                    {"basis", action.confidence.source},
                    {"because", action.because},
                    {"command", action.command},
                    {"message", action.message}});
  }
  return rows;
}

Json leaking(const scan::Report& report) {
  const auto side = [&](bool confirmed) {
    double wasted = 0;
    double usd = 0;
    bool is_priced = report.totals.money.has_value();
    for (const scan::Action& action : report.actions) {
      if (action.is_confirmed != confirmed) continue;
      wasted += action.wasted;
      usd += action.usd_wasted.value_or(0);
      is_priced = is_priced && action.usd_wasted.has_value();
    }
    const bool is_rate = scan::tells_a_week(report);
    // Both by the day: money goes the way of the hours.
    return Json{
        {"accelerator_s", wasted},
        {"usd", is_priced ? Json(usd) : Json()},
        {"accelerator_h_per_day", is_rate ? Json(scan::hours_per_day(report, wasted)) : Json()},
        {"usd_per_day",
         is_rate && is_priced ? Json(scan::hours_per_day(report, usd * 3600)) : Json()}};
  };
  return {{"confirmed", side(true)}, {"suspected", side(false)}};
}

Json policies(const scan::Report& report, const scan::FleetUsage& usage) {
  Json timeouts = Json::array();
  for (const Replay& replay : report.policies.idle_timeouts) {
    timeouts.push_back(json_of(replay, usage));
  }
  const Replay* chosen = report.policies.idle_timeout();
  return {{"idle_timeouts", timeouts},
          {"idle_timeout_s", chosen ? Json(to_seconds(chosen->limit)) : Json()},
          {"right_size", json_of(report.policies.right_size, usage)},
          {"hold_failing", json_of(report.policies.hold_failing, usage)}};
}

Json goodput(const scan::Report& report) {
  const scan::Goodput& good = report.goodput;
  return {{"scheduling", or_null(good.scheduling)},
          {"runtime", good.runtime},
          {"program", or_null(good.program)},
          {"total", or_null(good.total)}};
}

Json waiting(const scan::Report& report) {
  Json rows = Json::array();
  for (const scan::Waiting& one : report.waiting) {
    rows.push_back({{"kind", one.kind},
                    {"queued_accelerator_s", one.queued},
                    {"while_idle_accelerator_s", one.while_idle},
                    {"while_free_accelerator_s", or_null(one.while_free)}});
  }
  return rows;
}

Json beside(const scan::Report& report, const scan::FleetUsage& usage) {
  const scan::Beside& of = report.beside;
  Json free = Json::array();
  for (const scan::FreeUse& one :
       usage.has_accounting ? std::vector<scan::FreeUse>{} : usage.free) {
    free.push_back({{"host", usage.text(one.host)},
                    {"accelerator", usage.text(one.accelerator)},
                    {"observed_accelerator_s", one.all},
                    {"idle_accelerator_s", one.idle},
                    {"productive_accelerator_s", one.productive}});
  }
  Json energy;
  if (of.energy.powered > 0) {
    energy = {{"powered_accelerator_s", of.energy.powered},
              {"kwh", of.energy.kwh},
              {"unused_accelerator_s", of.energy.unused_seconds},
              {"unused_kwh", of.energy.unused_kwh},
              {"co2_kg", of.energy.kwh * of.energy.co2_g_per_kwh / 1000},
              {"co2_g_per_kwh", of.energy.co2_g_per_kwh}};
  }
  Json outside = Json::array();
  for (const scan::OutsideUse& one : of.outside) {
    outside.push_back({{"host", one.host}, {"productive_accelerator_s", one.seconds}});
  }
  return {{"energy", energy},
          {"idle_without_process", of.knows_memory ? json_of(of.empty) : Json()},
          {"idle_with_memory", of.knows_memory ? json_of(of.loaded) : Json()},
          {"outside_of_jobs", outside},
          {"without_jobs", free}};
}

Json failures(const scan::Report& report) {
  Json rows = Json::array();
  for (const scan::Failure& one : report.failures) {
    rows.push_back({{"state", one.state},
                    {"reason", one.reason},
                    {"jobs", one.jobs},
                    {"users", one.users},
                    {"allocated_accelerator_s", one.allocated},
                    {"productive_accelerator_s", one.productive},
                    {"worst_job", one.worst_job}});
  }
  return rows;
}

Json chargeback(const scan::Report& report) {
  const scan::Totals& totals = report.totals;
  const auto kwh = [&](double value) {
    return report.beside.energy.powered > 0 ? Json(value) : Json();
  };
  Json bills = {
      {"total", bill_of("total", totals.jobs, totals.split, totals.lost, totals.recoverable,
                        totals.money, kwh(report.beside.energy.kwh))}};
  for (const scan::By by : {scan::By::kUser, scan::By::kAccount, scan::By::kPartition}) {
    const scan::Cut& cut = report.cut(by);
    if (cut.rows.size() < cut.count) return nullptr;
    Json& rows = bills[std::string(scan::name(by))] = Json::array();
    for (const scan::Row& row : cut.rows) {
      rows.push_back(bill_of(row.name, row.jobs, row.split, row.lost, row.recoverable, row.money,
                             kwh(row.kwh)));
    }
  }
  return bills;
}

}  // namespace amdahl::api
