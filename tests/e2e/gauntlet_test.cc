// gauntlet_test.cc: a real job that cheats in every way we know of; each is refused for its reason.
#include <algorithm>

#include <gtest/gtest.h>
#include <unistd.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

struct End {
  std::string verdict;
  std::string because;  // What its reason must name.
};

struct Cheat {
  std::string name;
  std::vector<End> ends;  // What may become of it; empty: it waits at the gate.
};

// Outputs are digested, or else the job's own accuracy is what must not suffer.
void add_known_job(const Sandbox& sandbox, const std::string& family, const std::string& guard) {
  sandbox.write("input", "what it reads\n");
  sandbox.write(family + ".toml", "family = \"" + family + "\"\ncommand = [\"" + known_job() +
                                      "\"]\nworkdir = \".\"\naccelerators = 1\n"
                                      "time_limit_s = 20\ninputs = [\"input\"]\n"
                                      "[work]\nunit = \"items\"\n" +
                                      guard);
  sandbox.write("config.toml",
                "[campaign]\nk = 20\n[compare]\ncap = 40\nmin_gain = 0.9\n[loop]\nlease_s = 5.0\n");
  const Outcome adopted = sandbox.amdahl({"adopt", "--spec", family + ".toml"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
}

// Title of the hypothesis to its row in the ledger, with the reason of its verdict.
std::map<std::string, Json> run_all(const Sandbox& sandbox, const std::string& family,
                                    const std::vector<Cheat>& cheats) {
  for (const Cheat& cheat : cheats) {
    const Outcome proposed =
        sandbox.amdahl({"propose", family, "--env", "CHEAT=" + cheat.name, "--gain", "30",
                        "--title", cheat.name, "--as", "mallory"});
    EXPECT_EQ(proposed.code, 0) << cheat.name << ": " << proposed.err;
  }
  const Outcome cycle = sandbox.amdahl({"cycle", "--watch"});
  EXPECT_EQ(cycle.code, 0) << cycle.err;
  std::map<std::string, Json> rows;
  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  for (const Json& row : list.at("hypotheses")) {
    const std::string id = row.at("hypothesis").at("id");
    const Outcome shown = sandbox.amdahl({"ledger", "show", id, "--json"});
    Json whole = json_of(shown);
    whole["state"] = row.at("state");
    rows[row.at("hypothesis").at("title")] = whole;
  }
  return rows;
}

// What was compared and how the checks voted, a line each: a whole row is cut in the logs of CI.
std::string told(const Json& row) {
  std::string lines = row.value("comparison", Json::object()).value("because", "") + "\n";
  for (const Json& event : row.at("events")) {
    if (event.at("kind") != "check.voted") continue;
    const Json& vote = event.at("payload");
    lines += vote.value("check", "") + " " + vote.value("vote", "") + ": " +
             vote.value("because", "") + "\n";
  }
  return lines;
}

void expect_ends(const Sandbox& sandbox, const std::string& family,
                 const std::vector<Cheat>& cheats) {
  const std::map<std::string, Json> rows = run_all(sandbox, family, cheats);
  for (const Cheat& cheat : cheats) {
    ASSERT_TRUE(rows.contains(cheat.name)) << cheat.name;
    const Json& row = rows.at(cheat.name);
    if (cheat.ends.empty()) {
      EXPECT_EQ(row.at("state"), "live") << cheat.name << ": " << told(row);
      continue;
    }
    const bool may_wait =
        std::ranges::find(cheat.ends, "parked", &End::verdict) != cheat.ends.end();
    if (may_wait && row.at("state") == "parked") continue;
    ASSERT_TRUE(row.contains("verdict") && row.at("verdict").is_object())
        << cheat.name << " has no verdict: " << row.dump(1);
    const std::string verdict = row.at("state");
    const std::string reason = row.at("verdict").at("reason");
    const bool fits = std::ranges::any_of(cheat.ends, [&](const End& end) {
      return end.verdict == verdict && reason.find(end.because) != std::string::npos;
    });
    EXPECT_TRUE(fits) << cheat.name << " is " << verdict << ": " << reason;
  }
  EXPECT_EQ(sandbox.amdahl({"ledger", "verify"}).code, 0);
}

TEST(Gauntlet, EveryCheatIsRefusedForItsReasonAndTheHonestOnePasses) {
  // A win that depends on the order looks like noise until it looks like a win.
  const std::vector<End> never_seen{{"refuted", "order"}, {"no effect", "saves"}, {"parked", ""}};
  Sandbox sandbox;
  add_known_job(sandbox, "known", "[[outputs]]\npath = \"{out}/result\"\n");
  expect_ends(sandbox, "known",
              {
                  // Its cost per unit of work is the same, but for its start, which is not less.
                  {"skips", {{"no effect", "saves"}, {"parked", ""}, {"harmful", "costs"}}},
                  {"claims more", {{"refuted", "work"}}},
                  {"hides what it skips", {{"refuted", "quality"}}},
                  {"another seed", {{"refuted", "quality"}}},
                  {"copies the other arm", never_seen},
                  {"warm", never_seen},
                  {"daemon", {{"refuted", "work"}, {"harmful", "costs"}}},
                  {"crashes", {{"refuted", "failures"}, {"invalid", "the variant failed in"}}},
                  {"honest", {}},
              });
  const Json gate = json_of(sandbox.amdahl({"gate", "list", "--json"}));
  ASSERT_EQ(gate.at("gate").size(), 1U) << gate.dump(1);
}

TEST(Gauntlet, QualityMayVaryWithinItsToleranceOnly) {
  Sandbox sandbox;
  add_known_job(sandbox, "scored",
                "[[outputs]]\npath = \"{out}/result\"\ndigest = false\n"
                "[[quality]]\nname = \"accuracy\"\ntolerance = 0.01\n");
  expect_ends(sandbox, "scored", {{"coarse", {{"refuted", "quality"}}}, {"another seed", {}}});
}

// The metric is the job's own word; what the supervisor saw must bear it out.
TEST(Gauntlet, AJobThatEditsItsOwnClockIsFoundOut) {
  Sandbox sandbox;
  add_known_job(sandbox, "timed",
                "[metric]\nname = \"seconds\"\ndirection = \"lower\"\n"
                "[[outputs]]\npath = \"{out}/result\"\n");
  expect_ends(sandbox, "timed", {{"own clock", {{"refuted", "cost"}}}});
}

struct Shape {
  std::string command;  // After the program's name, as TOML strings.
  std::string folder;   // Where it runs.
  std::string more;     // Of the spec.
  std::string config;
};

void add_shaped_job(const Sandbox& sandbox, const Shape& shape) {
  sandbox.write("job.toml", "family = \"known\"\ncommand = [\"" + known_job() + "\"" +
                                shape.command + "]\nworkdir = \"" + shape.folder +
                                "\"\ntime_limit_s = 20\n" + shape.more +
                                "[work]\nunit = \"items\"\n" +
                                "[[outputs]]\npath = \"{out}/result\"\ndigest = false\n"
                                "[[quality]]\nname = \"accuracy\"\ntolerance = 0.01\n");
  sandbox.write("config.toml",
                "[campaign]\nk = 20\n[compare]\ncap = 40\nmin_gain = 0.9\n"
                "[loop]\nlease_s = 5.0\nbusy_hosts = false\n" +
                    shape.config);
  const Outcome adopted = sandbox.amdahl({"adopt", "--spec", "job.toml"});
  ASSERT_EQ(adopted.code, 0) << adopted.err;
}

// The only hypothesis of the sandbox, with its verdict.
Json only_row(const Sandbox& sandbox) {
  const Json list = json_of(sandbox.amdahl({"ledger", "list", "--json"}));
  for (const Json& row : list.at("hypotheses")) {
    if (row.at("hypothesis").at("origin").at("kind") != "person") continue;
    const std::string id = row.at("hypothesis").at("id");
    Json whole = json_of(sandbox.amdahl({"ledger", "show", id, "--json"}));
    whole["state"] = row.at("state");
    return whole;
  }
  return {};
}

// On a busy machine a cheat may win nothing in the first place.
void expect_refuted_by(const Sandbox& sandbox, const std::string& check) {
  const Json row = only_row(sandbox);
  const std::string state = row.value("state", "");
  const bool waits = state == "parked" || row.value("stage", "") == "hold";
  if (state == "no effect" || waits) return;
  ASSERT_EQ(state, "refuted") << told(row);
  const std::string reason = row.at("verdict").at("reason");
  EXPECT_NE(reason.find(check), std::string::npos) << reason;
}

// Two processors instead of one, beside the same accelerator: it is over sooner, and where
// processors have a price the whole bill has risen.
TEST(Gauntlet, WorkMovedToProcessorsIsSeenInTheBill) {
  Sandbox sandbox;
  add_shaped_job(sandbox, {.command = "",
                           .folder = ".",
                           .more = "accelerators = 1\ncpus = 2\n",
                           .config = "[price]\naccelerator_hour_usd = 2.0\ncpu_hour_usd = 6.0\n"});
  const Outcome proposed = sandbox.amdahl({"propose", "known", "--env", "CHEAT=more processors",
                                           "--title", "moved", "--gain", "40", "--as", "mallory"});
  ASSERT_EQ(proposed.code, 0) << proposed.err;
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  expect_refuted_by(sandbox, "cost");
}

// A patch that takes two thirds of the input away; the job says that it did all its work.
TEST(Gauntlet, AnInputThatShrankIsTakenOutOfTheWin) {
  Sandbox sandbox;
  std::string shards;
  for (int i = 0; i < 40; ++i) shards += "shard " + std::to_string(100 + i) + "\n";
  sandbox.write("repo/shards.txt", shards);
  const std::string repo = sandbox.path("repo");
  ASSERT_EQ(run({"sh", "-c",
                 "git init -q . && git config user.email a@b && git config user.name a && "
                 "git add . && git commit -qm one && sed -i '15,$d' shards.txt && "
                 "git diff > ../less.patch && git checkout -q ."},
                {}, repo)
                .code,
            0);
  add_shaped_job(sandbox, {.command = ", \"--shards\", \"shards.txt\"",
                           .folder = "repo",
                           .more = "repo = \"repo\"\naccelerators = 1\ninputs = [\"shards.txt\"]\n",
                           .config = ""});
  const Outcome proposed =
      sandbox.amdahl({"propose", "known", "--patch", sandbox.path("less.patch"), "--title", "less",
                      "--gain", "30", "--as", "mallory"});
  ASSERT_EQ(proposed.code, 0) << proposed.err;
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  expect_refuted_by(sandbox, "input");
}

// The profile says how much of the cost the cause explains; a win beyond that has another reason.
TEST(Gauntlet, AWinBeyondTheCeilingIsNotBelieved) {
  Sandbox sandbox;
  add_shaped_job(
      sandbox,
      {.command = ", \"--phases\"", .folder = ".", .more = "accelerators = 1\n", .config = ""});
  const std::vector<std::string> idea{"propose", "known",   "--env",   "CHEAT=beyond",
                                      "--cause", "input",   "--title", "beyond",
                                      "--as",    "mallory", "--gain"};
  const auto with_gain = [&](const char* gain) {
    std::vector<std::string> words = idea;
    words.emplace_back(gain);
    return sandbox.amdahl(words);
  };
  const Outcome too_soon = with_gain("5");
  EXPECT_EQ(too_soon.code, 2);
  EXPECT_EQ(too_soon.err,
            "amdahl: cause input: known has no profile yet; type: amdahl profile known\n");
  ASSERT_EQ(sandbox.amdahl({"profile", "known"}).code, 0);
  const Outcome too_much = with_gain("40");
  EXPECT_EQ(too_much.code, 2);
  EXPECT_NE(too_much.err.find("no more can be saved by acting on it"), std::string::npos)
      << too_much.err;
  const Outcome proposed = with_gain("5");
  ASSERT_EQ(proposed.code, 0) << proposed.err;
  ASSERT_EQ(sandbox.amdahl({"cycle", "--watch"}).code, 0);
  expect_refuted_by(sandbox, "amdahl");
}

// One cycle a host: each in a name space of its own, where the machine has another name.
TEST(Gauntlet, AWinOnOneHostAloneIsNoWin) {
  if (::geteuid() != 0 || run({"unshare", "--uts", "true"}, {}, "/").code != 0) {
    GTEST_SKIP() << "needs root and name spaces for host names";
  }
  Sandbox sandbox;
  sandbox.write("input", "what it reads\n");
  add_shaped_job(sandbox, {.command = "",
                           .folder = ".",
                           .more = "accelerators = 1\ninputs = [\"input\"]\n",
                           .config = ""});
  const Outcome proposed =
      sandbox.amdahl({"propose", "known", "--env", "CHEAT=one host", "--env", "FAST_ON=n1",
                      "--title", "one host", "--gain", "25", "--as", "mallory"});
  ASSERT_EQ(proposed.code, 0) << proposed.err;
  for (int turn = 0; turn < 400; ++turn) {
    const std::string host = turn / 3 % 2 == 1 ? "n2" : "n1";
    const Outcome cycle = sandbox.on_host(host, {"cycle"});
    ASSERT_EQ(cycle.code, 0) << cycle.err;
    if (only_row(sandbox).value("state", "") != "live") break;
  }
  expect_refuted_by(sandbox, "host");
}

}  // namespace
}  // namespace amdahl::e2e
