// soak_test.cc: the promises of the statistics, kept by real runs on this machine: a job against
// itself, and against itself with exactly known extra work. AMDAHL_SOAK says how many A/A pairs;
// script/soak asks for hundreds, the tests for a few.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>

#include <gtest/gtest.h>

#include "json.h"
#include "stats/coin.h"
#include "stats/eprocess.h"
#include "stats/estimate.h"
#include "stats/tests.h"

namespace amdahl::e2e {
namespace {

int pairs_wanted() {
  const char* text = std::getenv("AMDAHL_SOAK");
  return text ? std::max(12, std::atoi(text)) : 24;
}

bool is_long() { return pairs_wanted() >= 100; }

struct SamePair {
  int index = 0;
  bool assigned = false;
  bool executed = false;
  double d = 0;
};

// All A/A pairs in the ledger's own words.
std::vector<SamePair> same_pairs(const Sandbox& sandbox) {
  std::vector<SamePair> pairs;
  const Outcome exported = sandbox.amdahl({"ledger", "export"});
  EXPECT_EQ(exported.code, 0) << exported.err;
  std::size_t from = 0;
  while (from < exported.out.size()) {
    const std::size_t end = std::min(exported.out.find('\n', from), exported.out.size());
    const Json event = Json::parse(exported.out.substr(from, end - from), nullptr, false);
    from = end + 1;
    if (event.is_discarded() || event.value("kind", "") != "run.collected") continue;
    const Json& fact = event.at("payload").at("fact");
    if (fact.is_null() || fact.value("purpose", "") != "same") continue;
    const auto per_work = [](const Json& arm) {
      return arm.at("cost").get<double>() / arm.at("work").get<double>();
    };
    pairs.push_back({fact.at("index"), fact.at("variant_second"), fact.at("ran_variant_second"),
                     std::log(per_work(fact.at("a")) / per_work(fact.at("b")))});
  }
  return pairs;
}

double sup_log_e(const std::vector<double>& d, double sigma) {
  stats::EProcess process({.sigma = sigma});
  double most = 0;
  for (const double value : d) {
    process.fold(value);
    most = std::max(most, process.log_e());
  }
  return most;
}

std::string known_spec(int extra, int rounds) {
  return "family = \"known\"\ncommand = [\"" + known_job() +
         "\"]\nworkdir = \".\"\naccelerators = 1\ntime_limit_s = 60\n[env]\nEXTRA = \"" +
         std::to_string(extra) + "\"\nROUNDS = \"" + std::to_string(rounds) +
         "\"\n[work]\nunit = \"items\"\n[[outputs]]\npath = \"{out}/result\"\n";
}

TEST(Soak, AJobAgainstItselfStaysWithinItsBound) {
  const int wanted = pairs_wanted();
  Sandbox sandbox;
  sandbox.write("job.toml", known_spec(0, 600000));
  sandbox.write("config.toml", "[compare]\nsame_pairs = " + std::to_string(wanted) +
                                   "\nmin_gain = 0.9\n[loop]\nlease_s = 5.0\n");
  ASSERT_EQ(sandbox.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  const std::vector<SamePair> pairs = same_pairs(sandbox);
  ASSERT_GE(static_cast<int>(pairs.size()), wanted);

  std::vector<double> d;
  int heads = 0;
  for (const SamePair& pair : pairs) {
    EXPECT_EQ(pair.assigned, stats::coin("same", "known", pair.index)) << "pair " << pair.index;
    EXPECT_EQ(pair.executed, pair.assigned) << "pair " << pair.index;
    heads += pair.assigned ? 1 : 0;
    d.push_back(pair.d);
  }
  EXPECT_GT(stats::binomial_two_sided_half(heads, static_cast<int>(d.size())), 1e-4);

  // Sequences of 12: each may reach 20 with a chance of at most 1 in 20.
  const double sigma = stats::sigma_of_same(d);
  int sequences = 0;
  int alarms = 0;
  for (std::size_t i = 0; i + 12 <= d.size(); i += 12) {
    const auto from = d.begin() + static_cast<std::ptrdiff_t>(i);
    ++sequences;
    alarms += sup_log_e({from, from + 12}, sigma) >= std::log(20.0) ? 1 : 0;
  }
  EXPECT_GT(stats::binomial_tail(alarms, sequences, 0.05), 1e-3)
      << alarms << " of " << sequences << " sequences of a job against itself reach E = 20";

  const auto middle = d.begin() + static_cast<std::ptrdiff_t>(d.size() / 2);
  const double early = stats::sigma_of_same({d.begin(), middle});
  const double late = stats::sigma_of_same({middle, d.end()});
  std::cout << pairs.size() << " A/A pairs: E reaches 20 in " << alarms << " of " << sequences
            << " sequences of 12; variant second in " << heads << "; sigma " << sigma << " ("
            << early << " in the first half, " << late << " in the second); whole run: E at most "
            << std::exp(sup_log_e(d, sigma)) << "\n";
  if (is_long()) {
    EXPECT_LT(std::abs(std::log(early / late)), std::log(3.0));
  }
}

struct Planted {
  int percent = 0;
  int pairs = 0;
  bool better = false;
};

// The baseline does so many per cent more work than the variant.
Planted plant(int percent, int cap) {
  Sandbox sandbox;
  sandbox.write("slow.toml", known_spec(percent, 1800000));
  sandbox.write("fast.toml", known_spec(0, 1800000));
  const Outcome compared = sandbox.amdahl({"compare", "--pairs", std::to_string(cap), "--claim",
                                           std::to_string(std::max(2, percent)), "--json", "--",
                                           "slow.toml", ":::", "fast.toml"});
  const Json json = json_of(compared, compared.code);
  if (json.is_null()) return {};
  const Json& c = json.at("comparison");
  const double truth = std::log1p(percent / 100.0);
  // Starting the process is not part of what was planted: at most 3 % of the run.
  const double infinity = std::numeric_limits<double>::infinity();
  const double lower = c.at("lower").is_number() ? c.at("lower").get<double>() : -infinity;
  const double upper = c.at("upper").is_number() ? c.at("upper").get<double>() : infinity;
  if (percent > 0) {
    EXPECT_LE(lower, truth + 1e-9) << c.dump(1);
    EXPECT_GE(upper, 0.97 * truth) << c.dump(1);
    EXPECT_EQ(c.at("answer"), "better") << percent << " %: " << c.dump(1);
  }
  std::cout << percent << " % planted: " << c.at("answer") << " after " << c.at("pairs")
            << " pairs, " << c.at("effect") << " (" << c.at("lower") << " to " << c.at("upper")
            << "), truth " << truth << "\n";
  return {percent, c.at("pairs"), c.at("answer") == "better"};
}

TEST(Soak, PlantedEffectsAreFoundTheLargerTheSooner) {
  std::vector<Planted> found;
  const std::vector<int> sizes = is_long() ? std::vector{30, 10, 5, 2} : std::vector{30, 10};
  for (const int percent : sizes) found.push_back(plant(percent, is_long() ? 200 : 60));
  // A pair yields one bit at most, so that large effects all take about as many.
  if (!is_long()) return;
  EXPECT_LE(found.front().pairs, found.back().pairs + 3);
}

// Each may be wrong with a chance of 1 in 20, so that two of three would be one in a hundred.
TEST(Soak, NoEffectIsNotCalledAWin) {
  if (!is_long()) GTEST_SKIP() << "takes hundreds of pairs; ./script/soak runs it";
  int wrong = 0;
  for (int i = 0; i < 3; ++i) wrong += plant(0, 100).better ? 1 : 0;
  EXPECT_LE(wrong, 1);
}

}  // namespace
}  // namespace amdahl::e2e
