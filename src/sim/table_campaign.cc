// Tables of whole campaigns through the loop.
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "base/text.h"
#include "refute/check.h"
#include "sim/tables.h"
#include "sim/tally.h"

namespace amdahl::sim {
namespace {

constexpr std::uint64_t kClasses = 3;
constexpr std::uint64_t kCampaign = 4;
constexpr std::uint64_t kSparse = 5;
constexpr int kPromotedBefore = 9;  // At which the kinds are looked at one by one.

int campaigns_of(const Options& options, int usual) {
  if (options.size <= 0) return usual;
  return std::max(1, options.size / options.setup.campaign.hypotheses);
}

std::vector<Tally> run_all(const Options& options, const Setup& setup, std::uint64_t table,
                           int campaigns) {
  std::vector<Tally> tallies(static_cast<std::size_t>(campaigns));
  const auto done = for_all(campaigns, options.watch, [&](int unit) {
    tallies[static_cast<std::size_t>(unit)] =
        tally_of(run_campaign(setup, unit_seed(options, table, unit)));
  });
  std::vector<Tally> ended;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    if (done[i]) ended.push_back(tallies[i]);
  }
  return ended;
}

// The check that decisively refuted most, and in which share of those that came before the panel.
std::string main_refuter(const std::vector<Outcome>& outcomes) {
  std::map<std::string_view, int> counts;
  int asked = 0;
  for (const Outcome& outcome : outcomes) {
    asked += outcome.evidence ? 1 : 0;
    const auto all = refute::checks();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((outcome.decisively >> i & 1U) != 0) ++counts[all[i].id];
    }
  }
  std::pair<std::string_view, int> most{"-", 0};
  for (const auto& [check, count] : counts) {
    if (count > most.second) most = {check, count};
  }
  if (most.second == 0) return "-";
  return fmt::format("{} {:.2f}", most.first, static_cast<double>(most.second) / asked);
}

std::vector<Cell> class_row(const KindRow& kind, const std::vector<Outcome>& outcomes) {
  const int count = static_cast<int>(outcomes.size());
  int evidence = 0;
  int level = 0;
  int promoted = 0;
  std::vector<double> compare;
  std::vector<double> replicate;
  std::vector<double> top_up;
  for (const Outcome& outcome : outcomes) {
    evidence += outcome.evidence ? 1 : 0;
    level += outcome.level ? 1 : 0;
    promoted += outcome.kept() ? 1 : 0;
    compare.push_back(outcome.compare);
    replicate.push_back(outcome.replicate);
    top_up.push_back(outcome.top_up);
  }
  const Expected& e = kind.expected;
  return {words(std::string(kind.name)),
          words(std::string(kind.says)),
          shown(share_of(evidence, count), 3),
          plain(e.evidence, 3),
          shown(share_of(level, count), 3),
          plain(e.level, 3),
          shown(share_of(promoted, count), 3),
          plain(e.promoted, 3),
          words(fmt::format("{:.1f}+{:.1f}+{:.1f}", mean_of(compare).value,
                            mean_of(replicate).value, mean_of(top_up).value)),
          words(fmt::format("{:.1f}+{:.1f}+{:.1f}", e.compare, e.replicate, e.top_up)),
          words(main_refuter(outcomes)),
          words(std::string(e.refuter))};
}

}  // namespace

Table classes_table(const Options& options) {
  const int each = options.size > 0 ? std::max(1, options.size / kKinds) : 200;
  Setup setup = options.setup;
  setup.hypotheses = 1;
  setup.campaign.promoted = kPromotedBefore;
  Table table{
      "classes",
      "How far each kind gets when ten promotions are in reach",
      {"kind", "truth", "E>=20", "reference", "level", "reference ", "promoted", "reference  ",
       "pairs compare+fresh+targeted", "reference   ", "main veto (share)", "reference    "},
      {},
      {fmt::format("{} hypotheses of each kind, one at a time, {} promotions before", each,
                   kPromotedBefore)}};
  for (const KindRow& kind : kinds()) {
    if (!options.only.empty() && options.only != kind.name) continue;
    std::vector<Outcome> outcomes(static_cast<std::size_t>(each));
    const auto row = static_cast<std::uint64_t>(kind.kind);
    const auto done = for_all(each, options.watch, [&](int unit) {
      outcomes[static_cast<std::size_t>(unit)] =
          run_campaign(setup, unit_seed(options, kClasses + 16 * row, unit), {kind.kind})
              .outcomes.front();
    });
    std::vector<Outcome> ended;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (done[i]) ended.push_back(outcomes[i]);
    }
    table.rows.push_back(class_row(kind, ended));
  }
  return table;
}

Table campaign_table(const Options& options) {
  Setup setup = options.setup;
  setup.mix = options.fitted ? setup.mix : mixed_campaign();
  setup.canary = true;
  const int campaigns = campaigns_of(options, 30);
  const std::vector<Tally> all = run_all(options, setup, kCampaign, campaigns);
  const auto sum_of = [&](double Tally::*what) {
    std::vector<double> values;
    for (const Tally& tally : all) values.push_back(tally.*what);
    return mean_of(values);
  };
  Table table{
      "campaign",
      fmt::format("A campaign of {} hypotheses, 16 % of them adversaries", setup.hypotheses),
      {"figure", "simulated", "reference"},
      {},
      {fmt::format("{} campaigns of {}, {} pairs at once; A/A pairs ({} a job) are not "
                   "counted",
                   all.size(), setup.hypotheses, setup.slots, setup.same_at_start)}};
  const auto add = [&](std::string name, const Figure& figure, int digits, double reference) {
    table.rows.push_back({words(std::move(name)), shown(figure, digits),
                          options.fitted || reference < 0 ? words("-") : plain(reference, digits)});
  };
  add("promotions per campaign", sum_of(&Tally::promoted), 1, 28.3);
  add("false share of promotions", over(all, &Tally::false_promoted, &Tally::promoted), 3, .078);
  add("of them noise alone", over(all, &Tally::noise_promoted, &Tally::promoted), 3, .005);
  add("recall of wins of 2 % and more", over(all, &Tally::wins_promoted, &Tally::wins), 3, .701);
  add("  where jobs tell what checks need",
      over(all, &Tally::wins_told_promoted, &Tally::wins_told), 3, -1);
  add("pairs per hypothesis", pairs_per_hypothesis(all), 2, 13.6);
  add("  compare", over(all, &Tally::compare, &Tally::hypotheses), 2, 10.2);
  add("  fresh", over(all, &Tally::replicate, &Tally::hypotheses), 2, 2.4);
  add("  targeted", over(all, &Tally::top_up, &Tally::hypotheses), 2, .9);
  add("void pairs besides", over(all, &Tally::voided, &Tally::hypotheses), 2, -1);
  add("held at the end", sum_of(&Tally::held), 1, -1);
  add("parked at the end", sum_of(&Tally::parked), 1, -1);
  add("share of recoverable hours", over(all, &Tally::recovered_h, &Tally::recoverable_h), 3, -1);
  add("hours back per hour spent", over(all, &Tally::recovered_h, &Tally::spent_h), 1, -1);
  add("after canaries: false share", over(all, &Tally::false_kept, &Tally::kept), 3, -1);
  add("after canaries: recall", over(all, &Tally::wins_kept, &Tally::wins), 3, -1);
  for (const KindRow& kind : kinds()) {
    std::vector<double> promoted;
    std::vector<double> kept;
    for (const Tally& tally : all) {
      promoted.push_back(tally.promoted_by_kind[static_cast<std::size_t>(kind.kind)]);
      kept.push_back(tally.kept_by_kind[static_cast<std::size_t>(kind.kind)]);
    }
    if (mean_of(promoted).value == 0) continue;
    add(fmt::format("promoted: {}", kind.name), mean_of(promoted), 2, -1);
    add(fmt::format("  kept"), mean_of(kept), 2, -1);
  }
  return table;
}

Table fdr_table(const Options& options) {
  struct Row {
    double wins;
    double fdr;
    double recall;
    double pairs;
  };
  constexpr Row kRows[] = {{.15, .016, .814, 14.6}, {.02, .027, .773, 17.4}, {0, .04, -1, -1}};
  const int campaigns = campaigns_of(options, 60);
  Table table{"fdr",
              "False discoveries of campaigns without adversaries, alpha 0.10",
              {"wins", "false discovery rate", "reference", "campaigns with a false one",
               "recall of 2 % and more", "reference ", "pairs per hypothesis"},
              {},
              {fmt::format("{} campaigns of {} a row; the reference had no panel", campaigns,
                           options.setup.hypotheses)}};
  for (const Row& row : kRows) {
    Setup setup = options.setup;
    setup.mix = wins_and_nulls(row.wins);
    setup.population.typical_effect = 0.06;
    const auto number = static_cast<std::uint64_t>(&row - kRows);
    const std::vector<Tally> all = run_all(options, setup, kSparse + 16 * number, campaigns);
    std::vector<double> shares;
    int spoiled = 0;
    for (const Tally& tally : all) {
      shares.push_back(tally.promoted > 0 ? tally.false_promoted / tally.promoted : 0);
      spoiled += tally.false_promoted > 0 ? 1 : 0;
    }
    table.rows.push_back(
        {plain(row.wins, 2), shown(mean_of(shares), 4), plain(row.fdr, 3),
         shown(share_of(spoiled, static_cast<int>(all.size())), 3),
         row.wins > 0 ? shown(over(all, &Tally::wins_promoted, &Tally::wins), 3) : words("-"),
         row.wins > 0 ? plain(row.recall, 3) : words("-"), shown(pairs_per_hypothesis(all), 2)});
  }
  return table;
}

}  // namespace amdahl::sim
