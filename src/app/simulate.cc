#include "app/simulate.h"

#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "compare/compare.h"
#include "os/host.h"
#include "sim/fit.h"
#include "stats/estimate.h"

namespace amdahl::app {
namespace {

constexpr int kRunsBack = 2000;  // Of each family and purpose, newest first.
constexpr std::size_t kForMedian = 6;

void take_pair(const model::PairFact& pair, const std::vector<double>& d, double centre,
               sim::PastJob& job) {
  for (const double value : d) {
    job.still.push_back(value - centre);
    const auto second = pair.ran_variant_second.seen();
    if (second) job.second.push_back(*second ? centre - value : value - centre);
  }
  if (!pair.voided) job.pair_hours.push_back((pair.a.cost + pair.b.cost) / 3600);
}

// A/A pairs tell the noise by themselves, those of an experiment around what it found.
Result<sim::PastJob> see(Context& context, const ledger::Family& family) {
  sim::PastJob job;
  std::map<std::string, std::vector<model::PairFact>> experiments;
  for (const model::Purpose purpose : {model::Purpose::kSame, model::Purpose::kCompare}) {
    int left = kRunsBack;
    TRY(context.ledger->each_family_run(family.name, {purpose}, [&](const model::Pair& run) {
      if (run.fact) {
        const bool same = run.experiment.empty();
        job.runs += same ? 2 : 1;
        job.failed += (run.fact->a.failed ? 1 : 0) + (same && run.fact->b.failed ? 1 : 0);
        experiments[run.experiment].push_back(*run.fact);
      }
      return --left > 0;
    }));
  }
  for (const auto& [experiment, pairs] : experiments) {
    std::vector<double> all;
    for (const model::PairFact& pair : pairs) {
      const std::vector<double> d = compare::log_ratios(pair, family.spec);
      all.insert(all.end(), d.begin(), d.end());
    }
    if (!experiment.empty() && all.size() < kForMedian) continue;
    const double centre = experiment.empty() ? 0 : stats::median(all);
    for (const model::PairFact& pair : pairs) {
      take_pair(pair, compare::log_ratios(pair, family.spec), centre, job);
    }
  }
  return job;
}

Result<std::vector<std::string>> fit(Context& context, sim::Setup& setup) {
  sim::PastResults seen;
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    seen.jobs.push_back(TRY(see(context, family)));
  }
  for (const auto& [family, record] : TRY(context.ledger->track_records())) {
    seen.tried += record.tried;
    seen.won += record.won;
  }
  setup.campaign = {context.config.campaign_k, context.config.campaign_alpha, 0};
  setup.hypotheses = context.config.campaign_k;
  setup.same_at_start = context.config.same_pairs;
  setup.settings.cap = context.config.cap;
  setup.settings.beta = context.config.beta;
  return sim::fit(seen, setup);
}

Result<const sim::TableRow*> table_named(const std::string& name) {
  if (const sim::TableRow* row = sim::find_table(name)) return row;
  std::vector<std::string> known;
  for (const sim::TableRow& row : sim::tables()) known.emplace_back(row.name);
  return bad_input(fmt::format("there is no table '{}'; there are: {}", name, join(known, ", ")));
}

Result<const sim::Scenario*> scenario_named(const std::string& name) {
  if (name.empty()) return static_cast<const sim::Scenario*>(nullptr);
  if (const sim::Scenario* row = sim::find_scenario(name)) return row;
  std::vector<std::string> known;
  for (const sim::Scenario& row : sim::scenarios()) known.emplace_back(row.name);
  return bad_input(
      fmt::format("there is no scenario '{}'; there are: {}", name, join(known, ", ")));
}

}  // namespace

Result<SimulateAnswer> simulate(Context* ledger, const SimulateQuestion& question,
                                const std::function<bool(std::string_view, double)>& going_on) {
  std::vector<const sim::TableRow*> rows;
  for (const std::string& name : question.tables) rows.push_back(TRY(table_named(name)));
  if (rows.empty()) rows = {sim::find_table("campaign"), sim::find_table("decisions")};
  SimulateAnswer answer;
  sim::Options options;
  options.seed = question.seed;
  options.size = question.size;
  options.only = question.only;
  options.setup.scenario = TRY(scenario_named(question.scenario));
  options.setup.canary = question.canary;
  options.watch.threads =
      question.threads > 0 ? question.threads : static_cast<int>(os::usable_cpus().size());
  if (ledger) {
    answer.fitted = TRY(fit(*ledger, options.setup));
    options.fitted = true;
  }
  for (const sim::TableRow* row : rows) {
    options.watch.going_on = [&](double done) {
      answer.interrupted |= !going_on(row->name, done);
      return !answer.interrupted;
    };
    answer.tables.push_back(row->make(options));
    if (answer.interrupted) break;
  }
  return answer;
}

}  // namespace amdahl::app
