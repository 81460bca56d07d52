#include "app/snapshot.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/pairs.h"
#include "ledger/event.h"
#include "model/plan.h"

namespace amdahl::app {
namespace {

constexpr Nanos kSameMaxAge = std::chrono::hours(24 * 7);
// Jobs of a family below which its volume is a guess, and no reason to drop an idea.
constexpr int kJobsForVolume = 10;
constexpr int kVerdictsBack = 100;
constexpr std::string_view kSame = "same";

double mean_pair_cost(const std::vector<ledger::Run>& runs, double fallback) {
  double sum = 0;
  int n = 0;
  for (const ledger::Run& run : runs) {
    if (!run.fact || run.fact->voided) continue;
    sum += run.fact->a.cost + run.fact->b.cost;
    ++n;
  }
  return n ? sum / n : fallback;
}

// Failures since the last success, newest last.
int failures_in_a_row(const std::vector<ledger::Run>& runs) {
  int failures = 0;
  for (const ledger::Run& run : runs) {
    if (run.state == ledger::RunState::kVoid) ++failures;
    if (run.state == ledger::RunState::kCollected) failures = 0;
  }
  return failures;
}

Result<loop::FamilyRecord> family_record(Context& context, const ledger::Family& family,
                                         const SnapshotOptions& options) {
  loop::FamilyRecord record;
  record.spec = family.spec;
  record.baseline = family.baseline;
  loop::FamilyState& f = record.state;
  f.name = family.name;
  f.volume_accelerator_h_per_day = family.volume_accelerator_h_per_day;
  f.volume_known = family.volume_jobs >= kJobsForVolume;
  const model::Plan plan = TRY(make_plan(family.spec, family.baseline));
  f.slots = plan.cpus * (family.spec.pairing == "concurrent" ? 2 : 1);
  double guess = 60.0 * plan.accelerators;
  if (family.profile) {
    f.profiled = family.profile->baseline == digest(plan) &&
                 family.profile->at >= options.profiles_not_before;
    guess = 2 * to_seconds(family.profile->wall) * plan.accelerators;
  }
  const std::vector<ledger::Run> profiles =
      TRY(recent_runs(context, family.name, "profile", Nanos::max()));
  f.profile_failures = failures_in_a_row(profiles);
  const Nanos oldest = context.clock->unix_time() - kSameMaxAge;
  const std::vector<ledger::Run> same =
      TRY(recent_runs(context, family.name, std::string(kSame), oldest));
  for (const ledger::Run& run : same) {
    if (!run.fact) continue;
    record.past_runs += 2;  // Both arms are the baseline.
    record.past_failed += (run.fact->a.failed ? 1 : 0) + (run.fact->b.failed ? 1 : 0);
    if (run.fact->voided || run.at < oldest) continue;
    // Noise is that of a launcher on its hardware; pairs from elsewhere do not tell it.
    if (!run.fact->target.empty() && run.fact->target != place_of(context)) continue;
    record.same.push_back(*run.fact);
  }
  f.same_failures = failures_in_a_row(same);
  f.pair_cost_s = mean_pair_cost(same, guess);
  return record;
}

// What earlier turns of the knobs that live hypotheses turn have done.
Result<> add_doses(Context& context, const std::vector<ledger::HypothesisRow>& live,
                   std::map<std::string, loop::FamilyRecord>& records) {
  for (const ledger::HypothesisRow& row : live) {
    const auto family = records.find(row.hypothesis.family);
    if (row.hypothesis.dose.empty() || family == records.end()) continue;
    if (!family->second.doses.empty()) continue;
    for (const model::Verdict& verdict :
         TRY(context.ledger->verdicts(row.hypothesis.family, kVerdictsBack))) {
      if (!verdict.comparison || verdict.comparison->pairs == 0) continue;
      const ledger::HypothesisRow past = TRY(context.ledger->hypothesis(verdict.hypothesis));
      if (past.hypothesis.dose.empty()) continue;
      family->second.doses.push_back(
          {past.hypothesis.dose, past.hypothesis.dose_value, verdict.comparison->effect});
    }
  }
  return Ok{};
}

// The order in which the last scan would have families worked on.
Result<std::map<std::string, int>> places_of_choice(Context& context) {
  std::map<std::string, int> places;
  const auto choice = TRY(context.ledger->choice());
  if (!choice) return places;
  places.emplace(choice->family, 0);
  for (const Json& next : choice->body.value("next", Json::array())) {
    places.emplace(next.value("family", ""), static_cast<int>(places.size()));
  }
  return places;
}

PairOrder order_of(const ledger::Run& run) {
  PairOrder order;
  order.family = run.family;
  order.experiment = run.experiment;
  order.purpose = run.purpose;
  order.index = run.index;
  order.variant_second = run.variant_second;
  order.profile = run.purpose == "profile";
  order.stratum = run.fact ? run.fact->stratum : notes_of(run).stratum;
  return order;
}

bool is_open(const ledger::Run& run) {
  return run.state == ledger::RunState::kReserved || run.state == ledger::RunState::kSubmitted;
}

Result<> add_experiment(Context& context, const ledger::ExperimentRow& row, loop::Desk& desk) {
  const std::string& id = row.experiment.id;
  std::vector<model::Finding> votes = TRY(context.ledger->votes(id));
  TRY(desk.add(row.experiment, row.stage, std::move(votes)).in(id));
  for (const ledger::Run& run : TRY(context.ledger->runs_of(id))) {
    desk.began(order_of(run));
    if (is_open(run)) continue;
    desk.ended(run.family, run.experiment, run.purpose, run.index, run.fact ? &*run.fact : nullptr);
  }
  return Ok{};
}

loop::Settings settings_of(const Config& config) {
  loop::Settings settings;
  settings.per_family = std::max(1, config.per_family);
  settings.same_wanted = config.same_pairs;
  settings.horizon_days = config.horizon_days;
  settings.worth_at_least = config.worth_at_least;
  settings.other_contention = config.busy_hosts;
  settings.beta = config.beta;
  settings.cap = config.cap;
  return settings;
}

Result<loop::CampaignRecord> campaign_of(Context& context) {
  loop::CampaignRecord record;
  record.campaign = {context.config.campaign_k, context.config.campaign_alpha, 0};
  if (const auto open = TRY(context.ledger->campaign())) {
    record = {open->id, open->seed, {open->k, open->alpha, open->promoted}, open->registered};
  }
  return record;
}

}  // namespace

Result<std::vector<ledger::Run>> recent_runs(Context& context, const std::string& family,
                                             const std::string& purpose, Nanos not_before) {
  std::vector<ledger::Run> runs;
  bool succeeded = false;
  TRY(context.ledger->each_family_run(family, purpose, [&](const ledger::Run& run) {
    if (succeeded && run.at < not_before) return false;
    succeeded |= run.state == ledger::RunState::kCollected;
    runs.push_back(run);
    return true;
  }));
  std::ranges::reverse(runs);
  return runs;
}

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options) {
  const Config& config = context.config;
  Snapshot snapshot{loop::Desk(settings_of(config), TRY(campaign_of(context)),
                               {config.price_accelerator_hour, config.price_cpu_hour}),
                    TRY(context.ledger->runs_in_flight()),
                    {}};
  loop::Desk& desk = snapshot.desk;
  const std::vector<ledger::HypothesisRow> live = TRY(context.ledger->hypotheses("", "live"));
  std::map<std::string, loop::FamilyRecord> records;
  const std::map<std::string, int> places = TRY(places_of_choice(context));
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    records[family.name] = TRY(family_record(context, family, options).in(family.name));
    const auto place = places.find(family.name);
    if (place != places.end()) records[family.name].state.place = place->second;
    snapshot.families.emplace(family.name, family);
  }
  TRY(add_doses(context, live, records));
  for (auto& [name, record] : records) TRY(desk.add(std::move(record)).in(name));
  for (const ledger::HypothesisRow& row : live) desk.add(row.hypothesis);
  for (const ledger::ExperimentRow& row : TRY(context.ledger->live_experiments())) {
    TRY(add_experiment(context, row, desk));
  }
  for (const ledger::Run& run : snapshot.in_flight) {
    if (run.experiment.empty()) desk.began(order_of(run));
  }
  return snapshot;
}

}  // namespace amdahl::app
