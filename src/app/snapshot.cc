#include "app/snapshot.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "app/attacks.h"
#include "app/pairs.h"
#include "app/ran_with.h"
#include "ledger/event.h"
#include "model/plan.h"
#include "model/spec_digest.h"
#include "refute/facts.h"

namespace amdahl::app {
namespace {

constexpr Nanos kSameMaxAge = std::chrono::hours(24 * 7);
// Jobs of a family below which its volume is a guess, and no reason to drop an idea.
constexpr int kJobsForVolume = 10;
constexpr int kVerdictsBack = 100;

// Where one person waits for one job.
constexpr int kSameFirst = 2;
constexpr double kParkedBelow = 0.0025;  // Expected wins a pair: about one chance in 40.
constexpr double kIdleFrom = 0.0012;

double mean_pair_cost(const std::vector<model::Pair>& runs, double fallback) {
  double sum = 0;
  int n = 0;
  for (const model::Pair& run : runs) {
    if (!run.fact || run.fact->voided) continue;
    sum += run.fact->a.cost + run.fact->b.cost;
    ++n;
  }
  return n ? sum / n : fallback;
}

// Failures since the last success, newest last: those of the present spec and baseline, for what is
// mended deserves another try; and with --refresh those since then.
int failures_in_a_row(const std::vector<model::Pair>& runs, const std::string& setup,
                      Nanos not_before) {
  constexpr int kInfrastructureRetries = 20;  // A budget of their own: no failure of the job's.
  int failures = 0;
  int retries = 0;
  for (const model::Pair& run : runs) {
    if (run.at < not_before || identity_of(run).setup != setup) continue;
    const bool infrastructure = run.fact && run.fact->void_reason.starts_with(kInfrastructure);
    if (infrastructure && ++retries <= kInfrastructureRetries) continue;
    if (run.state == model::PairState::kVoid) ++failures;
    if (run.state == model::PairState::kCollected) failures = 0;
  }
  return failures;
}

// What A/A pairs of the family's earlier baselines are named by, as long as one person waits for
// it: a change that was promoted minutes ago leaves the job's noise about as it was.
Result<std::set<std::string>> earlier_setups(const Context& context,
                                             const loop::FamilyRecord& record,
                                             const RanWith& with) {
  std::set<std::string> setups;
  model::Change baseline;
  for (const loop::Promoted& promoted : record.stack) {
    if (!context.config.one_job) break;
    setups.insert(setup_of(record.spec, TRY(make_plan(record.spec, baseline)), with));
    baseline = combine(baseline, promoted.change);
  }
  return setups;
}

Result<loop::FamilyRecord> family_record(Context& context, const ledger::Family& family,
                                         const SnapshotOptions& options) {
  loop::FamilyRecord record;
  record.spec = family.spec;
  record.baseline = family.baseline;
  for (const std::string& id : family.stack) {
    record.stack.push_back({id, TRY(context.ledger->hypothesis(id)).hypothesis.change});
  }
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
  const std::vector<model::Pair> profiles =
      TRY(recent_runs(context, family.name, {model::Purpose::kProfile}, Nanos::max()));
  const RanWith with = ran_with(context, family.name, family.spec);
  if (!with.environment.empty()) record.ran_with.emplace(loop::kEnvironment, with.environment);
  if (!with.source.empty()) record.ran_with.emplace(loop::kSource, with.source);
  const std::string setup = record.setup = setup_of(family.spec, plan, with);
  const std::set<std::string> before = TRY(earlier_setups(context, record, with));
  f.profile_failures = failures_in_a_row(profiles, setup, options.profiles_not_before);
  const Nanos oldest = context.clock->unix_time() - kSameMaxAge;
  std::vector<model::Pair> same =
      TRY(recent_runs(context, family.name, {model::Purpose::kSame}, oldest));
  // Noise is that of a job, and a job with another command or metric is another.
  const std::string place = place_of(context, family.name);
  for (const model::Pair& run : same) {
    const bool tells = run.fact && !run.fact->voided && run.fact->target == place;
    if (tells && before.contains(identity_of(run).setup)) record.same_before.push_back(*run.fact);
  }
  std::erase_if(same, [&](const model::Pair& run) { return identity_of(run).setup != setup; });
  for (const model::Pair& run : same) {
    if (!run.fact) continue;
    for (const model::ArmFact* arm : {&run.fact->a, &run.fact->b}) {  // Both are the baseline.
      ++record.past_runs;
      record.past_failed += arm->failed ? 1 : 0;
      record.past_lost += refute::was_lost(*arm) ? 1 : 0;
    }
    if (run.fact->voided || run.at < oldest) continue;
    // Noise is that of a launcher on its hardware; pairs from elsewhere do not tell it.
    if (!run.fact->target.empty() && run.fact->target != place) continue;
    record.same.push_back(*run.fact);
  }
  f.same_failures = failures_in_a_row(same, setup, options.profiles_not_before);
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

// The last tests of the same change that ended without a lasting verdict, since a person last
// reopened it: who does that vouches for it.
Result<std::vector<loop::EarlierTest>> earlier_tests(Context& context, const model::Hypothesis& h) {
  constexpr std::size_t kLast = 4;  // Each may have a hundred pairs, and every cycle reads them.
  std::vector<std::string> ended;
  for (const ledger::HypothesisRow& row : TRY(context.ledger->hypotheses_with_key(h.key))) {
    if (row.hypothesis.id == h.id) continue;
    if (row.state == "reopened") ended.clear();
    const auto verdict = TRY(context.ledger->verdict(row.hypothesis.id));
    if (row.state == "reopened" || !verdict || verdict->experiment.empty()) continue;
    ended.push_back(verdict->experiment);
  }
  std::vector<loop::EarlierTest> tests;
  for (std::size_t i = ended.size() - std::min(kLast, ended.size()); i < ended.size(); ++i) {
    loop::EarlierTest test{TRY(context.ledger->experiment(ended[i])).experiment, {}};
    for (const model::Pair& run : TRY(context.ledger->runs_of(ended[i]))) {
      if (run.fact) test.pairs.push_back(*run.fact);
    }
    tests.push_back(std::move(test));
  }
  return tests;
}

// What the values of a setting have shown in their race so far.
Result<> add_race(Context& context, const model::Hypothesis& h, loop::Experiments& experiments) {
  if (h.race.empty()) return Ok{};
  const std::string& setup = experiments.family(h.family).setup;
  const model::Aim aim{model::Purpose::kRace, h.id};
  for (const model::Pair& run : TRY(context.ledger->family_runs(h.family, aim))) {
    if (!in_flight(run)) experiments.raced(run, identity_of(run).setup == setup);
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

Result<> add_attacks(Context& context, const model::Experiment& e, loop::Experiments& experiments) {
  const std::vector<Attack> attacks = TRY(attacks_on(context, e.family, e.id));
  if (attacks.empty()) return Ok{};
  std::vector<std::string> checks;
  int open = 0;
  for (const Attack& attack : attacks) {
    open += attack.settled ? 0 : 1;
    if (attack.vote == model::Vote::kRefute) checks.push_back(attack.check);
  }
  experiments.attacked(e.id, std::move(checks), open);
  return Ok{};
}

Result<> add_experiment(Context& context, const ledger::ExperimentRow& row,
                        loop::Experiments& experiments) {
  const std::string& id = row.experiment.id;
  std::vector<model::Finding> votes = TRY(context.ledger->votes(id));
  TRY(experiments.add(row.experiment, row.stage, std::move(votes), row.comparison, row.resumed)
          .in(id));
  experiments.replay(id, TRY(context.ledger->runs_of(id)));
  return add_attacks(context, row.experiment, experiments);
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
  settings.wins_first = config.one_job;
  if (config.one_job) {
    settings.same_in_blocks = true;
    settings.same_first = kSameFirst;
    settings.parked_below = kParkedBelow;
    settings.idle_from = kIdleFrom;
  }
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

// Why the hypothesis cannot be tested with the slots there are; empty if it can.
std::string too_wide(const Config& config, const ledger::Family& family,
                     const model::Change& change) {
  const auto plan = make_plan(family.spec, combine(family.baseline, change));
  if (!plan) return "";  // Its experiment says what is wrong with it.
  const bool at_once = family.spec.pairing == "concurrent";
  const auto need = static_cast<std::size_t>(plan->cpus * (at_once ? 2 : 1));
  if (need <= config.slots.size()) return "";
  return fmt::format("it needs {} CPU slots and there are {}; give more with --slots", need,
                     config.slots.size());
}

}  // namespace

Result<std::vector<model::Pair>> recent_runs(Context& context, const std::string& family,
                                             const model::Aim& aim, Nanos not_before) {
  std::vector<model::Pair> runs;
  bool succeeded = false;
  TRY(context.ledger->each_family_run(family, aim, [&](const model::Pair& run) {
    if (succeeded && run.at < not_before) return false;
    succeeded |= run.state == model::PairState::kCollected;
    runs.push_back(run);
    return true;
  }));
  std::ranges::reverse(runs);
  return runs;
}

Result<Snapshot> take_snapshot(Context& context, const SnapshotOptions& options) {
  const Config& config = context.config;
  Snapshot snapshot{loop::Experiments(settings_of(config), TRY(campaign_of(context)),
                                      {config.price_accelerator_hour, config.price_cpu_hour}),
                    TRY(context.ledger->runs_in_flight()),
                    {},
                    {},
                    {}};
  loop::Experiments& experiments = snapshot.experiments;
  const std::vector<ledger::HypothesisRow> live =
      TRY(context.ledger->hypotheses(options.family, "live"));
  std::map<std::string, loop::FamilyRecord> records;
  const std::map<std::string, int> places = TRY(places_of_choice(context));
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    if (!options.family.empty() && family.name != options.family) continue;
    if (const auto plan = make_plan(family.spec, family.baseline); !plan) {
      snapshot.skipped.emplace(family.name, plan.error().text);
      continue;
    }
    records[family.name] = TRY(family_record(context, family, options).in(family.name));
    const auto place = places.find(family.name);
    if (place != places.end()) records[family.name].state.place = place->second;
    snapshot.families.emplace(family.name, family);
  }
  TRY(add_doses(context, live, records));
  for (auto& [name, record] : records) TRY(experiments.add(std::move(record)).in(name));
  const std::vector<ledger::ExperimentRow> rows = TRY(context.ledger->live_experiments());
  std::set<std::string> at_gate;  // They need no more slots.
  for (const ledger::ExperimentRow& row : rows) {
    if (row.stage == model::Stage::kGate) at_gate.insert(row.experiment.hypothesis);
  }
  std::set<std::string> wide;  // They wait for more slots, and nobody waits for them.
  for (const ledger::HypothesisRow& row : live) {
    const model::Hypothesis& h = row.hypothesis;
    const auto family = snapshot.families.find(h.family);
    if (family == snapshot.families.end()) continue;
    const std::string reason = too_wide(config, family->second, h.change);
    // With a baseline that is too wide there is nothing to go on with.
    const bool waits = !reason.empty() && too_wide(config, family->second, {}).empty();
    if (waits && !at_gate.contains(h.id)) {
      wide.insert(h.id);
      snapshot.left_out.emplace(fmt::format("{} '{}'", h.family, h.title), reason);
    } else {
      experiments.add(h, TRY(earlier_tests(context, h)));
      TRY(add_race(context, h, experiments));
    }
  }
  for (const ledger::ExperimentRow& row : rows) {
    if (!snapshot.families.contains(row.experiment.family)) continue;
    if (wide.contains(row.experiment.hypothesis)) continue;
    TRY(add_experiment(context, row, experiments));
  }
  for (const model::Pair& pair : snapshot.in_flight) {
    if (pair.experiment.empty() && snapshot.families.contains(pair.family)) {
      experiments.began(pair);
    }
  }
  return snapshot;
}

}  // namespace amdahl::app
