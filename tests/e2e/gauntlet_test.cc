// gauntlet_test.cc: a real job that cheats in every way we know of; each is refused for its reason.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness.h"

namespace amdahl::e2e {
namespace {

using Json = nlohmann::json;

struct End {
  std::string verdict;
  std::string because;  // What its reason must name.
};

struct Cheat {
  std::string name;
  std::vector<End> ends;  // What may become of it; empty: it waits at the gate.
};

// Outputs are digested, or else the job's own accuracy is what must not suffer.
void add_known_job(const House& house, const std::string& family, const std::string& guard) {
  house.write("input", "what it reads\n");
  house.write(family + ".toml", "family = \"" + family + "\"\ncommand = [\"" + KNOWN_JOB +
                                    "\"]\nworkdir = \".\"\naccelerators = 1\n"
                                    "time_limit_s = 20\ninputs = [\"input\"]\n"
                                    "[work]\nunit = \"items\"\n" +
                                    guard);
  house.write("config.toml",
              "[campaign]\nk = 20\n[compare]\ncap = 40\nmin_gain = 0.9\n[loop]\nlease_s = 5.0\n");
  const Outcome adopted = house.amdahl({"adopt", "--spec", family + ".toml"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
}

// Title of the hypothesis to its row in the ledger, with the reason of its verdict.
std::map<std::string, Json> run_all(const House& house, const std::string& family,
                                    const std::vector<Cheat>& cheats) {
  for (const Cheat& cheat : cheats) {
    const Outcome proposed =
        house.amdahl({"propose", family, "--env", "CHEAT=" + cheat.name, "--gain", "30", "--title",
                      cheat.name, "--as", "mallory"});
    EXPECT_EQ(proposed.code, 0) << cheat.name << ": " << proposed.err;
  }
  const Outcome cycle = house.amdahl({"cycle", "--watch"});
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  std::map<std::string, Json> rows;
  const Json list = Json::parse(house.amdahl({"ledger", "list", "--json"}).out, nullptr, false);
  for (const Json& row : list["hypotheses"]) {
    const std::string id = row["hypothesis"]["id"];
    const Outcome shown = house.amdahl({"ledger", "show", id, "--json"});
    Json whole = Json::parse(shown.out, nullptr, false);
    whole["state"] = row["state"];
    rows[row["hypothesis"]["title"]] = whole;
  }
  return rows;
}

void expect_ends(const House& house, const std::string& family, const std::vector<Cheat>& cheats) {
  const std::map<std::string, Json> rows = run_all(house, family, cheats);
  for (const Cheat& cheat : cheats) {
    ASSERT_TRUE(rows.contains(cheat.name)) << cheat.name;
    const Json& row = rows.at(cheat.name);
    if (cheat.ends.empty()) {
      EXPECT_EQ(row["state"], "live") << cheat.name << ": " << row.dump(1);
      continue;
    }
    ASSERT_TRUE(row.contains("verdict") && row["verdict"].is_object())
        << cheat.name << " has no verdict: " << row.dump(1);
    const std::string verdict = row["state"];
    const std::string reason = row["verdict"]["reason"];
    const bool fits = std::ranges::any_of(cheat.ends, [&](const End& end) {
      return end.verdict == verdict && reason.find(end.because) != std::string::npos;
    });
    EXPECT_TRUE(fits) << cheat.name << " is " << verdict << ": " << reason;
  }
  EXPECT_EQ(house.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Gauntlet, EveryCheatIsRefusedForItsReasonAndTheHonestOnePasses) {
  // A win that depends on the order looks like noise until it looks like a win.
  const std::vector<End> never_seen{
      {"refuted", "order"}, {"no effect", "saves"}, {"inconclusive", "pairs"}};
  House house;
  add_known_job(house, "known", "[[outputs]]\npath = \"{out}/result\"\n");
  expect_ends(house, "known",
              {
                  {"skips", {{"no effect", "saves"}}},  // Its cost per unit of work is the same.
                  {"claims more", {{"refuted", "work"}}},
                  {"hides what it skips", {{"refuted", "quality"}}},
                  {"another seed", {{"refuted", "quality"}}},
                  {"copies the other arm", never_seen},
                  {"warm", never_seen},
                  {"daemon", {{"refuted", "work"}}},
                  {"crashes", {{"refuted", "failures"}, {"invalid", "the variant failed in"}}},
                  {"honest", {}},
              });
  const Json gate = Json::parse(house.amdahl({"gate", "list", "--json"}).out, nullptr, false);
  ASSERT_EQ(gate["gate"].size(), 1U) << gate.dump(1);
}

TEST(Gauntlet, QualityMayVaryWithinItsToleranceOnly) {
  House house;
  add_known_job(house, "scored",
                "[[outputs]]\npath = \"{out}/result\"\ndigest = false\n"
                "[[quality]]\nname = \"accuracy\"\ntolerance = 0.01\n");
  expect_ends(house, "scored", {{"coarse", {{"refuted", "quality"}}}, {"another seed", {}}});
}

// The metric is the job's own word; what the supervisor saw must bear it out.
TEST(Gauntlet, AJobThatEditsItsOwnClockIsFoundOut) {
  House house;
  add_known_job(house, "timed",
                "[metric]\nname = \"seconds\"\ndirection = \"lower\"\n"
                "[[outputs]]\npath = \"{out}/result\"\n");
  expect_ends(house, "timed", {{"own clock", {{"refuted", "cost"}}}});
}

}  // namespace
}  // namespace amdahl::e2e
