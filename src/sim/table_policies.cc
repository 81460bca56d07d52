// Tables that set the loop beside other ways of spending and of deciding.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "sim/rivals.h"
#include "sim/tables.h"
#include "sim/tally.h"

namespace amdahl::sim {
namespace {

constexpr std::uint64_t kBudget = 6;
constexpr std::uint64_t kDecisions = 7;
constexpr std::uint64_t kBlocks = 8;
constexpr std::array<double, 5> kShares{.05, .10, .25, .50, 1.0};

struct Reference {
  std::string_view policy;
  std::array<double, 5> captured;
};
constexpr auto kReferences = std::to_array<Reference>({
    {"ours", {.40, .57, .75, .81, .84}},
    {"fifo", {.04, .13, .30, .50, .85}},
    {"round-robin", {.00, .00, .00, .00, .86}},
});

// Hours given back by what was promoted before so much was spent.
double captured_by(const Campaign& campaign, double budget_h) {
  double hours = 0;
  for (const Outcome& outcome : campaign.outcomes) {
    const bool in_time = outcome.promoted && outcome.promoted_at_h <= budget_h;
    if (in_time && is_real(outcome.truth.kind)) hours += hours_back(outcome.truth);
  }
  return hours;
}

Setup budget_setup(const Options& options, const GrantRow& policy) {
  Setup setup = options.setup;
  setup.mix = options.fitted ? setup.mix : wins_and_nulls(0.2);
  setup.grant = policy.grant;
  setup.slots = 4;
  setup.live = setup.hypotheses;
  setup.drops = policy.drops;
  return setup;
}

// `pools` and `by_fifo` are the same pools under two policies.
std::vector<Cell> budget_row(std::string_view policy, const std::vector<Campaign>& pools,
                             const std::vector<Campaign>& by_fifo) {
  std::array<std::vector<double>, kShares.size()> captured;
  std::vector<double> spent;
  std::vector<double> spent_by_fifo;
  std::vector<double> back;
  for (std::size_t pool = 0; pool < pools.size(); ++pool) {
    const Tally tally = tally_of(pools[pool]);
    spent.push_back(pools[pool].spent_h);
    spent_by_fifo.push_back(by_fifo[pool].spent_h);
    back.push_back(tally.recovered_h);
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      // Of each pool the share, so that one giant job does not decide the whole table.
      const double hours = captured_by(pools[pool], kShares[i] * by_fifo[pool].spent_h);
      captured[i].push_back(hours / tally.recoverable_h);
    }
  }
  std::vector<Cell> row{words(std::string(policy))};
  for (const auto& values : captured) row.push_back(shown(mean_of(values), 2));
  row.push_back(shown(ratio_of(spent, spent_by_fifo), 2));
  row.push_back(shown(ratio_of(back, spent), 1));
  const auto reference = std::ranges::find(kReferences, policy, &Reference::policy);
  const bool known = reference != kReferences.end();
  const auto& c = known ? reference->captured : kShares;
  row.push_back(
      words(known ? fmt::format("{:.2f} {:.2f} {:.2f} {:.2f} {:.2f}", c[0], c[1], c[2], c[3], c[4])
                  : "-"));
  return row;
}

}  // namespace

Table budget_table(const Options& options) {
  const int asked = options.size > 0 ? options.size / options.setup.hypotheses : 20;
  const int pools = std::max(1, asked);
  std::vector<std::vector<Campaign>> all(grants().size());
  for (auto& of_policy : all) of_policy.resize(static_cast<std::size_t>(pools));
  const auto done = for_all(pools, options.watch, [&](int unit) {
    for (std::size_t p = 0; p < grants().size(); ++p) {
      all[p][static_cast<std::size_t>(unit)] =
          run_campaign(budget_setup(options, grants()[p]), unit_seed(options, kBudget, unit));
    }
  });
  for (auto& of_policy : all) {
    std::vector<Campaign> ended;
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (done[i]) ended.push_back(std::move(of_policy[i]));
    }
    of_policy = std::move(ended);
  }
  Table table{"budget",
              "Share of all recoverable hours given back, by share of the hours that fifo spends",
              {"policy", "5 %", "10 %", "25 %", "50 %", "100 %", "spends, of fifo", "h back per h",
               "reference"},
              {},
              {fmt::format("{} pools of {} hypotheses, a fifth of them wins", all[0].size(),
                           options.setup.hypotheses)}};
  const auto fifo = std::ranges::find(grants(), "fifo", &GrantRow::name) - grants().begin();
  for (std::size_t p = 0; p < grants().size(); ++p) {
    if (!options.only.empty() && options.only != grants()[p].name) continue;
    table.rows.push_back(budget_row(grants()[p].name, all[p], all[static_cast<std::size_t>(fifo)]));
  }
  return table;
}

namespace {

std::vector<Cell> decision_row(std::string_view name, const std::vector<Tally>& all) {
  return {words(std::string(name)),
          shown(over(all, &Tally::false_promoted, &Tally::promoted), 3),
          shown(over(all, &Tally::noise_promoted, &Tally::promoted), 3),
          shown(over(all, &Tally::harmful_promoted, &Tally::promoted), 3),
          shown(over(all, &Tally::wins_promoted, &Tally::wins), 3),
          shown(pairs_per_hypothesis(all), 1),
          shown(over(all, &Tally::recovered_h, &Tally::recoverable_h), 3),
          shown(over(all, &Tally::recovered_h, &Tally::spent_h), 1)};
}

}  // namespace

Table decisions_table(const Options& options) {
  Setup setup = options.setup;
  if (!options.fitted) setup.mix = mixed_campaign();
  const int usual = options.size > 0 ? options.size / setup.hypotheses : 15;
  const int campaigns = std::max(1, usual);
  Table table{"decisions",
              "Ways to decide, on the same campaigns with 16 % adversaries",
              {"policy", "false share", "noise alone", "harmful", "recall", "pairs",
               "of recoverable h", "h back per h"},
              {},
              {fmt::format("{} campaigns of {}; hours back: of what is promoted, harm taken off",
                           campaigns, setup.hypotheses)}};
  const auto add = [&](std::string_view name, const std::function<Campaign(std::uint64_t)>& run) {
    if (!options.only.empty() && options.only != name) return;
    std::vector<Tally> tallies(static_cast<std::size_t>(campaigns));
    const auto done = for_all(campaigns, options.watch, [&](int unit) {
      tallies[static_cast<std::size_t>(unit)] = tally_of(run(unit_seed(options, kDecisions, unit)));
    });
    std::vector<Tally> ended;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      if (done[i]) ended.push_back(tallies[i]);
    }
    table.rows.push_back(decision_row(name, ended));
  };
  setup.canary = false;
  add("ours", [&](std::uint64_t seed) { return run_campaign(setup, seed); });
  Setup watched = setup;
  watched.canary = true;
  add("ours+canary", [&](std::uint64_t seed) {
    Campaign campaign = run_campaign(watched, seed);
    for (Outcome& outcome : campaign.outcomes) outcome.promoted = outcome.kept();
    return campaign;
  });
  for (const Rival& rival : rivals()) {
    add(rival.name, [&](std::uint64_t seed) { return run_rival(rival, setup, seed); });
  }
  return table;
}

namespace {

// All hypotheses save so much, of jobs with 5 % noise, so many to a job.
std::vector<Outcome> blocks_of(const Options& options, int per_job, double saving, int campaigns) {
  Setup setup = options.setup;
  setup.per_job = setup.settings.per_family = per_job;
  setup.population.noises = {0.05};
  setup.population.noise_shares = {1};
  setup.population.typical_effect = saving;
  setup.population.effect_spread = 0;
  const Kind kind = saving > 0 ? Kind::kWin : Kind::kNull;
  const std::vector<Kind> kinds(static_cast<std::size_t>(setup.hypotheses), kind);
  if (saving <= 0) setup.population.typical_effect = 0.05;
  std::vector<std::vector<Outcome>> all(static_cast<std::size_t>(campaigns));
  for_all(campaigns, options.watch, [&](int unit) {
    all[static_cast<std::size_t>(unit)] =
        run_campaign(setup, unit_seed(options, kBlocks, unit), kinds).outcomes;
  });
  std::vector<Outcome> outcomes;
  for (auto& some : all) outcomes.insert(outcomes.end(), some.begin(), some.end());
  return outcomes;
}

}  // namespace

Table blocks_table(const Options& options) {
  struct Row {
    int per_job;
    double at_5;
    double at_10;
  };
  constexpr Row kRows[] = {{1, 24.5, 12.9}, {2, 18.7, 9.8}, {4, 15.9, 8.2}};
  const int asked = options.size > 0 ? options.size / options.setup.hypotheses : 5;
  const int campaigns = std::max(1, asked);
  Table table{
      "blocks",
      "Runs to a verdict when variants of one job share the baseline's run",
      {"variants of a job", "false wins at 0 %", "runs at 5 %", "reference", "runs at 10 %",
       "reference "},
      {},
      {fmt::format("{} hypotheses a cell, pair noise 5 %; runs of the compare stage of those "
                   "that reach E of 20",
                   campaigns * options.setup.hypotheses)}};
  for (const Row& row : kRows) {
    const auto runs = [&](double saving) {
      std::vector<double> counts;
      for (const Outcome& outcome : blocks_of(options, row.per_job, saving, campaigns)) {
        if (outcome.evidence) counts.push_back(outcome.compare_runs);
      }
      return mean_of(counts);
    };
    int wins = 0;
    const std::vector<Outcome> nulls = blocks_of(options, row.per_job, 0, campaigns);
    for (const Outcome& outcome : nulls) wins += outcome.evidence ? 1 : 0;
    table.rows.push_back({words(fmt::format("{}", row.per_job)),
                          shown(share_of(wins, static_cast<int>(nulls.size())), 3),
                          shown(runs(0.05), 1), plain(row.at_5, 1), shown(runs(0.10), 1),
                          plain(row.at_10, 1)});
  }
  return table;
}

}  // namespace amdahl::sim
