// Tables of the comparison alone: what it finds that is not there, and how soon it finds what is.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "compare/compare.h"
#include "compare/judge.h"
#include "sim/tables.h"

namespace amdahl::sim {
namespace {

constexpr std::uint64_t kErrors = 1;
constexpr std::uint64_t kPower = 2;
constexpr int kSamePairs = 8;
constexpr int kLongest = 100;  // Pairs that are peeked at.
constexpr int kCap = 40;
constexpr double kDelta = 0.02;

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

class Pairs {
 public:
  Pairs(const World& world, std::uint64_t seed)
      : noise_{find_scenario(world.scenario)->noise(world.noise)},
        stream_{seed, 0},
        slots_{noise_, stream_} {}

  double next(double effect) {
    const double first = slots_.next(stream_);
    const double second = slots_.next(stream_) + noise_.second;
    return effect + (stream_.chance(0.5) ? first - second : second - first);
  }
  double sigma() {
    std::vector<double> same;
    for (int i = 0; i < kSamePairs; ++i) same.push_back(next(0));
    return compare::sigma_from_same(same);
  }

 private:
  Noise noise_;
  Stream stream_;
  Slots slots_;
};

struct Path {
  double highest = 0;                                 // ln E, over all looks.
  model::Answer answer = model::Answer::kCannotTell;  // At the first that had one.
  int pairs = kCap;                                   // By then.
};

Path walk(Pairs& pairs, double effect, double sigma, int longest) {
  compare::Judge judge({.sigma = sigma, .delta = kDelta, .cap = kCap});
  Path path;
  for (int n = 1; n <= longest; ++n) {
    judge.fold(pairs.next(effect));
    path.highest = std::max(path.highest, judge.log_e_win());
    const bool open = path.answer == model::Answer::kCannotTell;
    if (!open || n > kCap) continue;
    // Worse is an answer of the loop, which the reference did not ask for.
    const model::Answer answer = judge.answer();
    if (answer == model::Answer::kWorse && judge.log_e_futile() < std::log(5)) continue;
    path.answer = answer;
    path.pairs = n;
  }
  return path;
}

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
        Pairs pairs(world, unit_seed(options, kErrors + 16 * w, i));
        const Path path = walk(pairs, 0, pairs.sigma(), kLongest);
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
  const World world{options.setup.scenario ? options.setup.scenario->name : "base", power.noise, 0};
  std::vector<Path> paths(static_cast<std::size_t>(repeats));
  constexpr int kUnits = 16;
  const auto done = for_all(kUnits, options.watch, [&](int unit) {
    for (int i = unit; i < repeats; i += kUnits) {
      Pairs pairs(world, unit_seed(options, kPower + 16 * row, i));
      const double sigma = pairs.sigma();
      const double effect = -std::log1p(-power.saving);
      paths[static_cast<std::size_t>(i)] =
          walk(pairs, effect, with_same ? sigma : compare::Design{}.sigma, kCap);
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
  Table table{
      "power",
      "Wins found and pairs taken, by noise of a pair and true saving",
      {"pair noise", "saving", "win", "reference", "pairs", "reference ", "no effect",
       "win, no A/A", "reference  ", "pairs, no A/A", "reference   "},
      {},
      {fmt::format("{} sequences a row; E of 20 at most 40 pairs, smallest that matters "
                   "2 %, noise as in '{}'",
                   repeats, options.setup.scenario ? options.setup.scenario->name : "base")}};
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

}  // namespace amdahl::sim
