// Tables of the comparison alone: what it finds that is not there, and how soon it finds what is.
#include <array>
#include <cmath>

#include <fmt/core.h>

#include "compare/compare.h"
#include "sim/sequence.h"
#include "sim/tables.h"

namespace amdahl::sim {
namespace {

constexpr std::uint64_t kErrors = 1;
constexpr std::uint64_t kPower = 2;
constexpr std::uint64_t kMethods = 9;
constexpr int kSamePairs = 8;
constexpr int kLongest = 100;  // Pairs that are peeked at.

struct World {
  std::string_view scenario;
  double noise;
  double reference;  // Share of false wins at 0.05, with futility and the cap.
};

constexpr auto kWorlds = std::to_array<World>({
    {"clean", .05, .031},
    {"base", .02, .021},
    {"base", .05, .038},
    {"base", .15, .039},
    {"period", .01, .034},
    {"bursty", .05, .040},
    {"drift", .05, .040},
    {"outliers", .05, .038},
    {"cauchy", .05, .040},
});

}  // namespace

Table errors_table(const Options& options) {
  const int repeats = options.size > 0 ? options.size : 4000;
  Table table{"errors",
              "False wins when nothing is there, looking after every pair",
              {"noise", "pair noise", "E>=20 ever", "E>=100 ever", "E>=1000 ever", "win, 40 pairs",
               "reference"},
              {},
              {fmt::format("{} sequences a row, {} looks each, sigma from {} A/A pairs; nominal: "
                           "0.05, 0.01, 0.001",
                           repeats, kLongest, kSamePairs)}};
  constexpr int kUnits = 64;
  for (std::size_t w = 0; w < kWorlds.size(); ++w) {
    const World& world = kWorlds[w];
    if (options.setup.scenario && options.setup.scenario->name != world.scenario) continue;
    std::vector<std::array<int, 5>> counts(kUnits);
    const auto done = for_all(kUnits, options.watch, [&](int unit) {
      std::array<int, 5>& count = counts[static_cast<std::size_t>(unit)];
      for (int i = unit; i < repeats; i += kUnits) {
        Sequence sequence(*find_scenario(world.scenario), world.noise,
                          unit_seed(options, kErrors + 16 * w, i));
        const double sigma = sequence.sigma(kSamePairs);
        const Path path = walk(sequence, 0, sigma, kLongest);
        count[0] += path.highest >= std::log(20) ? 1 : 0;
        count[1] += path.highest >= std::log(100) ? 1 : 0;
        count[2] += path.highest >= std::log(1000) ? 1 : 0;
        count[3] += path.answer == model::Answer::kBetter ? 1 : 0;
        ++count[4];
      }
    });
    std::array<int, 5> all{};
    for (std::size_t u = 0; u < counts.size(); ++u) {
      for (std::size_t i = 0; i < all.size() && done[u]; ++i) all[i] += counts[u][i];
    }
    table.rows.push_back({words(std::string(world.scenario)), plain(world.noise, 2),
                          shown(share_of(all[0], all[4]), 4), shown(share_of(all[1], all[4]), 4),
                          shown(share_of(all[2], all[4]), 4), shown(share_of(all[3], all[4]), 4),
                          plain(world.reference, 3)});
  }
  return table;
}

namespace {

const Scenario& scenario_of(const Options& options) {
  return options.setup.scenario ? *options.setup.scenario : *find_scenario("base");
}

struct Power {
  double noise;
  double saving;
  // Reference with and without A/A pairs: share of wins, pairs.
  std::array<double, 2> same;
  std::array<double, 2> none;
};

constexpr auto kPowers = std::to_array<Power>({
    {.02, 0, {.02, 9.3}, {.02, 11.0}},    {.02, .01, {.30, 14.9}, {.29, 17.0}},
    {.02, .02, {.85, 14.1}, {.83, 16.4}}, {.02, .05, {1.0, 7.8}, {1.0, 8.4}},
    {.02, .10, {1.0, 6.2}, {1.0, 6.1}},   {.02, .20, {1.0, 5.7}, {1.0, 5.5}},
    {.02, .50, {1.0, 6.1}, {1.0, 6.0}},   {.05, 0, {.04, 22.4}, {.04, 22.1}},
    {.05, .01, {.14, 26.9}, {.14, 26.9}}, {.05, .02, {.36, 27.6}, {.36, 27.3}},
    {.05, .05, {.96, 13.9}, {.96, 13.5}}, {.05, .10, {1.0, 7.1}, {1.0, 6.9}},
    {.05, .20, {1.0, 5.5}, {1.0, 5.5}},   {.05, .50, {1.0, 5.5}, {1.0, 6.0}},
    {.15, 0, {.04, 30.7}, {.04, 30.5}},   {.15, .01, {.06, 31.9}, {.06, 31.3}},
    {.15, .02, {.10, 32.5}, {.09, 32.0}}, {.15, .05, {.32, 31.2}, {.24, 31.2}},
    {.15, .10, {.86, 19.6}, {.70, 21.9}}, {.15, .20, {1.0, 7.6}, {1.0, 7.8}},
    {.15, .50, {1.0, 5.1}, {1.0, 5.9}},
});

struct Walked {
  std::vector<double> win;
  std::vector<double> futile;
  std::vector<double> pairs;
};

Walked walk_all(const Options& options, std::size_t row, bool with_same, int repeats) {
  const Power& power = kPowers[row];
  const Scenario& scenario = scenario_of(options);
  std::vector<Path> paths(static_cast<std::size_t>(repeats));
  constexpr int kUnits = 16;
  const auto done = for_all(kUnits, options.watch, [&](int unit) {
    for (int i = unit; i < repeats; i += kUnits) {
      Sequence sequence(scenario, power.noise, unit_seed(options, kPower + 16 * row, i));
      const double sigma = sequence.sigma(kSamePairs);
      const double effect = -std::log1p(-power.saving);
      paths[static_cast<std::size_t>(i)] =
          walk(sequence, effect, with_same ? sigma : compare::Design{}.sigma, kSequenceCap);
    }
  });
  Walked walked;
  for (int i = 0; i < repeats; ++i) {
    if (!done[static_cast<std::size_t>(i % kUnits)]) continue;
    const Path& path = paths[static_cast<std::size_t>(i)];
    const bool open = path.answer == model::Answer::kCannotTell;
    const bool won = path.answer == model::Answer::kBetter;
    walked.win.push_back(won ? 1 : 0);
    walked.futile.push_back(!open && !won ? 1 : 0);
    walked.pairs.push_back(path.pairs);
  }
  return walked;
}

}  // namespace

Table power_table(const Options& options) {
  const int repeats = options.size > 0 ? options.size : 1000;
  Table table{"power",
              "Wins found and pairs taken, by noise of a pair and true saving",
              {"pair noise", "saving", "win", "reference", "pairs", "reference ", "no effect",
               "win, no A/A", "reference  ", "pairs, no A/A", "reference   "},
              {},
              {fmt::format("{} sequences a row; E of 20 at most 40 pairs, smallest that matters "
                           "2 %, noise as in '{}'",
                           repeats, scenario_of(options).name)}};
  for (std::size_t row = 0; row < kPowers.size(); ++row) {
    const Power& power = kPowers[row];
    const Walked same = walk_all(options, row, true, repeats);
    const Walked none = walk_all(options, row, false, repeats);
    table.rows.push_back(
        {plain(power.noise, 2), plain(power.saving, 2), shown(mean_of(same.win), 3),
         plain(power.same[0], 2), shown(mean_of(same.pairs), 1), plain(power.same[1], 1),
         shown(mean_of(same.futile), 2), shown(mean_of(none.win), 3), plain(power.none[0], 2),
         shown(mean_of(none.pairs), 1), plain(power.none[1], 1)});
  }
  return table;
}

namespace {

struct Contest {
  double noise;
  double saving;
};

struct Score {
  std::vector<double> ours;
  std::vector<double> ours_pairs;
  std::vector<double> groups;
  std::vector<double> groups_pairs;
  std::vector<double> fixed;     // At 20 pairs.
  std::vector<int> significant;  // At each number of pairs.

  // The pairs after which one fixed t test finds as much as ours; 0 if none in reach does.
  int pairs_for_our_power() const {
    double wins = 0;
    for (const double win : ours) wins += win;
    for (std::size_t n = 2; n < significant.size(); ++n) {
      if (significant[n] >= wins) return static_cast<int>(n);
    }
    return 0;
  }
};

Score contest(const Options& options, const Contest& c, std::uint64_t row, int repeats) {
  constexpr int kUnits = 16;
  constexpr int kMost = 200;
  constexpr std::size_t kFixed = 20;
  std::vector<Score> parts(kUnits);
  const auto done = for_all(kUnits, options.watch, [&](int unit) {
    Score& score = parts[static_cast<std::size_t>(unit)];
    score.significant.assign(kMost + 1, 0);
    for (int i = unit; i < repeats; i += kUnits) {
      Sequence sequence(scenario_of(options), c.noise, unit_seed(options, kMethods + 16 * row, i));
      const double sigma = sequence.sigma(kSamePairs);
      std::vector<double> d;
      while (d.size() < kMost) d.push_back(sequence.next(-std::log1p(-c.saving)));
      const std::vector<bool> fixed = t_tests(d);
      d.resize(kSequenceCap);
      const Path ours = walk(d, sigma);
      const Path groups = walk_in_groups(d);
      score.ours.push_back(ours.answer == model::Answer::kBetter ? 1 : 0);
      score.ours_pairs.push_back(ours.pairs);
      score.groups.push_back(groups.answer == model::Answer::kBetter ? 1 : 0);
      score.groups_pairs.push_back(groups.pairs);
      score.fixed.push_back(fixed[kFixed] ? 1 : 0);
      for (std::size_t n = 0; n < fixed.size(); ++n) score.significant[n] += fixed[n] ? 1 : 0;
    }
  });
  Score all;
  all.significant.assign(kMost + 1, 0);
  for (std::size_t u = 0; u < parts.size(); ++u) {
    if (!done[u]) continue;
    const auto add = [&](std::vector<double> Score::*of) {
      (all.*of).insert((all.*of).end(), (parts[u].*of).begin(), (parts[u].*of).end());
    };
    for (const auto of :
         {&Score::ours, &Score::ours_pairs, &Score::groups, &Score::groups_pairs, &Score::fixed}) {
      add(of);
    }
    for (std::size_t n = 0; n < all.significant.size(); ++n) {
      all.significant[n] += parts[u].significant[n];
    }
  }
  return all;
}

}  // namespace

Table methods_table(const Options& options) {
  const int repeats = options.size > 0 ? options.size : 2000;
  Table table{"methods",
              "Pairs to a verdict: ours against group-sequential and fixed t tests, all one-sided "
              "at 0.05",
              {"pair noise", "saving", "ours: win", "pairs", "groups: win", "pairs ",
               "t of 20: win", "t: pairs for our power"},
              {},
              {fmt::format("{} sequences a row, the same for all, noise as in '{}'; groups: five "
                           "looks by O'Brien and Fleming, at most 40 pairs as ours",
                           repeats, scenario_of(options).name)}};
  std::uint64_t row = 0;
  for (const double noise : {.02, .05, .15}) {
    for (const double saving : {0.0, .02, .05, .10, .20, .50}) {
      const Score score = contest(options, {noise, saving}, row++, repeats);
      const int pairs = score.pairs_for_our_power();
      const std::string needed = pairs == 0 ? "more than 200" : fmt::format("{}", pairs);
      table.rows.push_back({plain(noise, 2), plain(saving, 2), shown(mean_of(score.ours), 3),
                            shown(mean_of(score.ours_pairs), 1), shown(mean_of(score.groups), 3),
                            shown(mean_of(score.groups_pairs), 1), shown(mean_of(score.fixed), 3),
                            words(saving > 0 ? needed : "-")});
    }
  }
  return table;
}

}  // namespace amdahl::sim
