#include "app/simulate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "compare/compare.h"
#include "os/host.h"
#include "stats/estimate.h"

namespace amdahl::app {
namespace {

constexpr int kRunsBack = 2000;  // Of each family, newest first.
constexpr std::size_t kFewest = 6;
constexpr std::size_t kEnoughForShares = 30;
constexpr double kFar = 4;  // Deviations beyond which a pair holds an outlier.

// What a ledger's pairs of the baseline against itself say of a fleet.
struct Observed {
  std::vector<double> noises;  // One a family.
  std::vector<double> scaled;  // Log-ratios in deviations of their family.
  std::vector<double> second;  // ln(time of the second run / of the first).
  std::vector<double> pair_hours;
  int runs = 0;
  int failed = 0;
};

Result<> observe_family(Context& context, const ledger::Family& family, Observed& seen) {
  std::vector<double> d;
  int left = kRunsBack;
  TRY(context.ledger->each_family_run(family.name, "same", [&](const ledger::Run& run) {
    if (!run.fact) return --left > 0;
    const model::PairFact& pair = *run.fact;
    seen.runs += 2;
    seen.failed += (pair.a.failed ? 1 : 0) + (pair.b.failed ? 1 : 0);
    for (const double value : compare::log_ratios(pair, family.spec)) {
      d.push_back(value);
      seen.second.push_back(pair.ran_variant_second ? -value : value);
    }
    if (!pair.voided) seen.pair_hours.push_back((pair.a.cost + pair.b.cost) / 3600);
    return --left > 0;
  }));
  if (d.size() < kFewest) return Ok{};
  const double sigma = stats::sigma_of_same(d);
  seen.noises.push_back(sigma);
  for (const double value : d) seen.scaled.push_back(value / sigma);
  return Ok{};
}

void fit_noise(const Observed& seen, sim::Setup& setup, std::vector<std::string>& fitted) {
  if (seen.noises.empty()) {
    fitted.push_back("noise: too few A/A pairs, the usual mix of 1 to 10 % is assumed");
    return;
  }
  setup.population.noises = seen.noises;
  setup.population.noise_shares.assign(seen.noises.size(),
                                       1.0 / static_cast<double>(seen.noises.size()));
  sim::Noise noise = sim::find_scenario("base")->noise(1.0);
  fitted.push_back(fmt::format(
      "noise: {} of a pair typically, from {} A/A pairs of {}",
      show_percent(stats::median(seen.noises)), seen.scaled.size(),
      seen.noises.size() == 1 ? "one family" : fmt::format("{} families", seen.noises.size())));
  if (seen.scaled.size() >= kEnoughForShares) {
    const auto far =
        std::ranges::count_if(seen.scaled, [](double value) { return std::abs(value) > kFar; });
    // Either run of a pair can be the slow one.
    noise.outlier_share = static_cast<double>(far) / (2 * static_cast<double>(seen.scaled.size()));
    noise.second = stats::hodges_lehmann(seen.second);
    fitted.push_back(fmt::format("far slower: {} of runs; the second of a pair: {:+.2f} %",
                                 show_percent(noise.outlier_share),
                                 100 * std::expm1(noise.second)));
  }
  if (seen.runs >= static_cast<int>(kEnoughForShares)) {
    noise.fail = static_cast<double>(seen.failed) / seen.runs;
    fitted.push_back(fmt::format("failures: {} of {} runs", seen.failed, seen.runs));
  }
  setup.noise = noise;
}

Result<std::vector<std::string>> fit(Context& context, sim::Setup& setup) {
  Observed seen;
  for (const ledger::Family& family : TRY(context.ledger->families())) {
    TRY(observe_family(context, family, seen));
  }
  std::vector<std::string> fitted;
  fit_noise(seen, setup, fitted);
  if (!seen.pair_hours.empty()) {
    setup.population.pair_hours = std::max(1e-6, stats::median(seen.pair_hours));
    fitted.push_back(fmt::format("a pair: {:.3g} accelerator-hours", setup.population.pair_hours));
  }
  std::int64_t tried = 0;
  std::int64_t won = 0;
  for (const auto& [family, record] : TRY(context.ledger->track_records())) {
    tried += record.tried;
    won += record.won;
  }
  setup.mix = sim::mixed_campaign();
  if (tried >= static_cast<std::int64_t>(kEnoughForShares)) {
    setup.mix = sim::wins_and_nulls(static_cast<double>(won) / static_cast<double>(tried));
    fitted.push_back(fmt::format("wins: {} of {} hypotheses", won, tried));
  } else {
    fitted.push_back(
        fmt::format("wins: {} of {} hypotheses are too few, the usual mix with "
                    "adversaries is assumed",
                    won, tried));
  }
  return fitted;
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
