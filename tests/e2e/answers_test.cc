// answers_test.cc: what every verb says with --json keeps to its schema in docs/format/answers.
#include "answers.h"

#include <fstream>

#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

using Words = std::vector<std::string>;

TEST(Answers, WhatASchemaDoesNotNameIsAProblem) {
  const Json good{
      {"schema_version", 1}, {"version", "1.2.3"}, {"revision", "abc"}, {"ledger_schema", 7}};
  EXPECT_EQ(problems_of(good, "version"), "");
  Json more = good;
  more["colour"] = "red";
  EXPECT_NE(problems_of(more, "version"), "");
  Json fewer = good;
  fewer.erase("revision");
  EXPECT_NE(problems_of(fewer, "version"), "");
  Json other = good;
  other["ledger_schema"] = "7";
  EXPECT_NE(problems_of(other, "version"), "");
  Json newer = good;
  newer["schema_version"] = 2;
  EXPECT_NE(problems_of(newer, "version"), "");
}

// The harness checks each answer; this asks for one of every kind.
TEST(Answers, EverySchemaIsThatOfARealAnswer) {
  Sandbox sandbox;
  sandbox.add_nap_job("0.3");
  const auto ask = [&](Words words) {
    const auto end = std::ranges::find(words, "--");
    words.insert(end, "--json");
    const Outcome outcome = sandbox.amdahl(words);
    EXPECT_TRUE(Json::accept(outcome.out)) << words.front() << ": " << outcome.out << outcome.err;
    return Json::parse(outcome.out, nullptr, false);
  };
  for (const char* verb : {"scan", "version", "doctor", "config"}) ask({verb});
  ask({"config", "campaign.k"});
  sandbox.amdahl({"init"}, {{"AMDAHL_CONFIG", sandbox.path("other.toml")}});
  ask({"init"});
  ask({"clean", "--dry-run"});
  ask({"run", "--quiet", "--family", "other", "--", "sleep", "0.5"});
  ask({"anatomy", "last"});
  for (Words words : {Words{"scan"}, Words{"scan", "--trend", "months"}}) ask(words);
  ask({"scan", "--of", ask({"scan", "--by", "user"}).at("rows").at(0).at("name")});
  ask({"adopt", "--spec", "job.toml"});
  const std::string win =
      ask({"propose", "nap", "--env", "NAP=0.1", "--gain", "50"}).at("id").get<std::string>();
  ask({"propose", "nap", "--env", "COLOUR=red", "--gain", "20"});
  ask({"cycle", "--watch", "--quiet"});
  ask({"work", "--idle", "1", "--quiet"});
  ask({"status"});
  ask({"gate"});
  ask({"gate", "show", win});
  const Json attack = ask({"brief", "nap", "--role", "attack"});
  EXPECT_EQ(attack.at("memory").at("claims").at(0).at("hypothesis"), win);
  ask({"gate", "approve", win, "--reason", "fine"});
  ask({"stack", "nap", "--pairs", "2"});
  ask({"run", "--quiet", "--spec", "job.toml", "--promoted"});
  for (const char* verb : {"status", "gate", "canary", "roi", "dream"}) ask({verb});
  ask({"profile", "nap", "--show"});
  // What was stored with the profile is used only while the ledger knows its digest.
  const Json brief = ask({"brief", "nap"});
  const std::string evidence = sandbox.path(
      "state/runs/" + brief.at("evidence").at("profile").get<std::string>() + "/evidence.json");
  EXPECT_EQ(brief.at("evidence_sha256").get<std::string>().size(), 64U);
  EXPECT_LE(brief.at("tokens_estimated"), 8000);
  std::ofstream(evidence, std::ios::app) << " ";
  const Json anew = ask({"brief", "nap", "--role", "dream"});
  EXPECT_TRUE(anew.at("evidence_sha256").is_null());
  EXPECT_EQ(anew.at("evidence").at("job").at("family"), "nap");
  ask({"profile", "--quiet", "--", "sleep", "0.5"});
  const std::string traces = source_path("/tests/golden/traces/hta/");
  ask({"profile", traces + "a100_event_sync.json.gz", "--hta", "--what-if", "input=0"});
  ask({"profile", source_path("/tests/fuzz/corpus/operations/two_stages.json")});
  ask({"profile", "--diff", traces + "a100_event_sync.json.gz",
       traces + "a100_event_sync.json.gz"});
  ask({"compare", "--quiet", "--pairs", "3", "--same", "1", "--", "true", ":::", "true"});
  ask({"sim", "--hypotheses", "2", "--threads", "1"});
  ask({"serve", "token", "add", "ada", "--role", "approver"});
  ask({"serve", "token", "list"});
  ask({"ledger", "list", "--limit", "1"});
  for (const std::string& what : {win, std::string("nap")}) ask({"ledger", "show", what});
  ask({"ledger", "pairs", win});
  ask({"ledger", "search", "NAP"});
  for (const char* what : {"calibration", "verify", "log"}) ask({"ledger", what});
  ask({"ledger", "copy", sandbox.path("state/ledger.db"), sandbox.path("copy.db")});
  ask({"gate", "rollback", win, "--reason", "enough"});
  ask({"ledger", "reopen", win, "--reason", "again"});
  sandbox.write("one.sh", "#!/bin/sh\nsleep 1.1\necho loss 0.5\n", true);
  ask({"tune", "--quiet", "--budget", "5s", "--accelerators", "1", "--", "./one.sh"});
  sandbox.amdahl(
      {"launcher", "check", source_path("/tests/launchers/toy"), "--patience", "6", "--json"},
      {{"TOY_DIR", sandbox.path("toy")}});
  EXPECT_EQ(all_schemas(), schemas_used());
}

}  // namespace
}  // namespace amdahl::e2e
