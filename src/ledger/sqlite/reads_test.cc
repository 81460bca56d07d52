#include <gtest/gtest.h>

#include "ledger/sqlite/queries.h"
#include "ledger/sqlite/test_kit.h"

namespace amdahl::ledger::sqlite {
namespace {

using model::VerdictKind;

std::vector<std::string> ids(const std::vector<HypothesisRow>& rows) {
  std::vector<std::string> out;
  for (const HypothesisRow& row : rows) out.push_back(row.hypothesis.id);
  return out;
}
using Ids = std::vector<std::string>;

TEST_F(LedgerTest, WhatWasWrittenIsReadBack) {
  begin_experiment();
  ASSERT_EQ(say({reserved("r-1", "x-1", 0), reserved("r-2", "x-1", 1),
                 reserved("r-3", "", 0, 5, "same"), submitted("r-1", "w-1"), collected("r-1", 9)}),
            "");
  const auto runs = *ledger_->runs_of("x-1");
  ASSERT_EQ(runs.size(), 2u);
  const auto& run = runs.at(0);
  EXPECT_EQ(run.reservation, "r-1");
  EXPECT_EQ(run.aim.purpose, model::Purpose::kCompare);
  EXPECT_EQ(run.cpus, (std::vector<int>{0, 1}));
  EXPECT_EQ(run.worker_run_id, "w-1");
  EXPECT_EQ(run.state, model::PairState::kCollected);
  EXPECT_EQ(run.reserved_accelerator_s, 10);
  EXPECT_EQ(run.spent_accelerator_s, 9);
  EXPECT_EQ(run.at, clock_.unix_time());
  EXPECT_EQ(run.request, R"({"reservation":"r-1"})");
  ASSERT_TRUE(run.fact);
  EXPECT_EQ(run.fact->a.cost, 2);
  EXPECT_TRUE(runs.at(1).variant_second);
  EXPECT_FALSE(runs.at(1).fact);

  const auto flying = *ledger_->runs_in_flight();
  ASSERT_EQ(flying.size(), 2u);
  EXPECT_EQ(flying.at(0).reservation, "r-2");
  EXPECT_EQ((*ledger_->family_runs("f", {model::Purpose::kSame})).at(0).reservation, "r-3");
  EXPECT_EQ((*ledger_->family_runs("f")).size(), 3u);

  const auto live = *ledger_->live_experiments();
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live.at(0).stage, model::Stage::kCompare);
  EXPECT_EQ(live.at(0).experiment.registered, clock_.unix_time());
  EXPECT_FALSE(live.at(0).comparison);
  EXPECT_EQ(ledger_->experiment("x-9").error().text, "no experiment \"x-9\": see `amdahl status`");
}

TEST_F(LedgerTest, RunsOfAFamilyNewestFirst) {
  begin_experiment();
  ASSERT_EQ(say({reserved("r-1", "", 0, 5, "same"), reserved("r-2", "x-1", 0),
                 reserved("r-3", "", 1, 5, "same"), reserved("r-4", "", 2, 5, "same")}),
            "");
  Ids seen;
  ASSERT_TRUE(ledger_->each_family_run("f", {model::Purpose::kSame}, [&](const model::Pair& run) {
    seen.push_back(run.reservation);
    return seen.size() < 2;
  }));
  EXPECT_EQ(seen, (Ids{"r-4", "r-3"}));
}

TEST_F(LedgerTest, StagesComparisonsAndVotesAreTheLatest) {
  begin_experiment();
  model::Comparison comparison;
  comparison.pairs = 7;
  comparison.lower = -std::numeric_limits<double>::infinity();
  ASSERT_EQ(say({draft("comparison.made", "x-1", model::encode(comparison)),
                 draft("experiment.staged", "x-1", {{"stage", "refute"}})}),
            "");
  const auto row = *ledger_->experiment("x-1");
  EXPECT_EQ(row.stage, model::Stage::kRefute);
  ASSERT_TRUE(row.comparison);
  EXPECT_EQ(row.comparison->pairs, 7);
  EXPECT_EQ(row.comparison->lower, comparison.lower);

  const auto vote = [](std::string check, model::Vote how) {
    model::Finding finding;
    finding.check = std::move(check);
    finding.vote = how;
    return draft("check.voted", "x-1", model::encode(finding));
  };
  ASSERT_EQ(say({vote("order", model::Vote::kAbstain), vote("host", model::Vote::kAgree),
                 vote("order", model::Vote::kAgree)}),
            "");
  const auto votes = *ledger_->votes("x-1");
  ASSERT_EQ(votes.size(), 2u);
  EXPECT_EQ(votes.at(0).check, "order");
  EXPECT_EQ(votes.at(0).vote, model::Vote::kAgree);
  EXPECT_EQ(say(draft("check.voted", "x-9", model::encode(votes.at(0)))),
            "check.voted x-9: only a live experiment is voted on");
  expect_sound();
}

TEST_F(LedgerTest, FamiliesKeepSpecVolumeAndTheLatestProfile) {
  model::Profile profile;
  profile.id = "p-1";
  profile.family = "f";
  ASSERT_EQ(say({draft("scan.picked", "f", {{"volume_accelerator_h_per_day", 12.5}, {"jobs", 31}}),
                 draft("scan.picked", "g", {{"volume_accelerator_h_per_day", 1}})}),
            "");
  EXPECT_TRUE((*ledger_->families()).empty());  // Seen, but not adopted.
  ASSERT_EQ(say({family_adopted("f"), draft("profile.recorded", "f", model::encode(profile))}), "");
  const auto families = *ledger_->families();
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families.at(0).name, "f");
  EXPECT_EQ(families.at(0).spec.command.at(0), "train");
  EXPECT_EQ(families.at(0).volume_accelerator_h_per_day, 12.5);
  EXPECT_EQ(families.at(0).volume_jobs, 31);
  EXPECT_EQ(families.at(0).profile->id, "p-1");
  EXPECT_EQ(ledger_->family("g").error().text, "no family \"g\": see `amdahl status`");
  expect_sound();
}

TEST_F(LedgerTest, WhatWasPreventedIsSummedAndNeedsAnAnswer) {
  const auto again = [](const std::string& id, int pairs, double cost) {
    return draft("hypothesis.known", id,
                 {{"asked", "playbook p-1"}, {"pairs", pairs}, {"accelerator_s", cost}});
  };
  begin_experiment();
  EXPECT_EQ(say(again("h-1", 4, 2)), "hypothesis.known h-1: no hypothesis with an answer h-1");
  ASSERT_EQ(say(judged("h-1", "x-1", VerdictKind::kRefuted)), "");
  EXPECT_EQ(say(again("h-1", 0, 2)), "hypothesis.known h-1: /pairs: must be at least 1");
  EXPECT_EQ(say(again("h-9", 4, 2)), "hypothesis.known h-9: no hypothesis with an answer h-9");
  ASSERT_EQ(say({again("h-1", 4, 2.5), again("h-1", 4, 2.5)}), "");
  const auto tallies = *ledger_->tallies();
  EXPECT_EQ(tallies.at("prevented.ideas"), 2);
  EXPECT_EQ(tallies.at("prevented.pairs"), 8);
  EXPECT_EQ(tallies.at("prevented.accelerator_us"), 5'000'000);
  expect_sound();
}

// Another tested hypothesis of family f that acts on `against` and ended so.
std::vector<Draft> tried(const std::string& number, model::Bottleneck against, VerdictKind kind) {
  Draft idea = proposed("h-" + number, "key" + number);
  idea.payload["bottleneck"] = model::name(against);
  return {idea, registered("x-" + number, "h-" + number),
          judged("h-" + number, "x-" + number, kind)};
}

TEST_F(LedgerTest, LeversAreCountedByWhatTheyActOn) {
  using model::Bottleneck;
  end_experiment(VerdictKind::kPromoted);  // Says nothing of what it acts on.
  ASSERT_EQ(say(tried("21", Bottleneck::kInput, VerdictKind::kRefuted)), "");
  ASSERT_EQ(say(tried("22", Bottleneck::kInput, VerdictKind::kNoEffect)), "");
  // Neither was tried to its end.
  ASSERT_EQ(say(tried("23", Bottleneck::kInput, VerdictKind::kAborted)), "");
  ASSERT_EQ(say(tried("24", Bottleneck::kSync, VerdictKind::kDropped)), "");
  const auto levers = *ledger_->lever_records();
  ASSERT_EQ(levers.size(), 2u);
  EXPECT_EQ(levers.at(Bottleneck::kInput).tried, 2);
  EXPECT_EQ(levers.at(Bottleneck::kInput).won, 0);
  EXPECT_EQ(levers.at(Bottleneck::kUnknown).tried, 1);
  EXPECT_EQ(levers.at(Bottleneck::kUnknown).won, 1);
  EXPECT_EQ(ledger_->track_records()->at("f").tried, 3);
  expect_sound();
  ASSERT_EQ(raw("UPDATE lever_record SET won = 1 WHERE bottleneck = 'input'"), "");
  EXPECT_EQ(ledger_->verify()->differences,
            (std::vector<std::string>{"lever_record input: won is 1, replay says 0"}));
}

TEST_F(LedgerTest, OnlyTheLastChoiceOfAScanStands) {
  EXPECT_FALSE(*ledger_->choice());
  ASSERT_EQ(say({draft("scan.chose", "f", {{"family", "f"}, {"why", "one"}}),
                 draft("scan.chose", "g", {{"family", "g"}, {"why", "two"}})}),
            "");
  const auto choice = **ledger_->choice();
  EXPECT_EQ(choice.family, "g");
  EXPECT_EQ(choice.at, clock_.unix_time());
  EXPECT_EQ(choice.body.at("why"), "two");
  EXPECT_EQ(say(draft("scan.chose", "f", {{"family", "g"}, {"why", ""}})),
            "scan.chose f: the payload names another subject, \"g\"");
  EXPECT_EQ(say(draft("scan.chose", "f", {{"family", "f"}})), "scan.chose f: /why: must be text");
  ASSERT_EQ(say(draft("scan.chose", "fleet", {{"family", ""}, {"why", "nothing"}})), "");
  EXPECT_EQ((*ledger_->choice())->family, "");
  expect_sound();
}

TEST_F(LedgerTest, VerdictsStacksAndSavings) {
  end_experiment(VerdictKind::kPromoted);
  ASSERT_EQ(say({proposed("h-2", "key2"), judged("h-2", "", VerdictKind::kInvalid)}), "");
  EXPECT_EQ((*ledger_->verdict("h-1"))->kind, VerdictKind::kPromoted);
  EXPECT_EQ((*ledger_->verdict("h-1"))->at, clock_.unix_time());
  EXPECT_FALSE(*ledger_->verdict("h-9"));
  EXPECT_EQ((*ledger_->verdicts("f", 9)).at(0).hypothesis, "h-2");
  EXPECT_EQ((*ledger_->verdicts("", 1)).size(), 1u);
  EXPECT_TRUE((*ledger_->verdicts("g", 9)).empty());
  // What was never put to the test tells nothing about the family's levers.
  const auto records = *ledger_->track_records();
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records.at("f").tried, 1);
  EXPECT_EQ(records.at("f").won, 1);
  EXPECT_EQ((*ledger_->lever_records()).size(), 1u);

  model::StackResult stack;
  stack.family = "f";
  stack.changes = 1;
  ASSERT_EQ(say({draft("stack.measured", "f", model::encode(stack)),
                 draft("saving.booked", "h-1", {{"family", "f"}, {"predicted_share", 0.2}})}),
            "");
  EXPECT_EQ((*ledger_->stacks("f")).at(0).changes, 1);
  EXPECT_FALSE((*ledger_->savings()).at(0).realised_share);
  ASSERT_EQ(say(draft("saving.booked", "h-1",
                      {{"family", "f"}, {"predicted_share", 0.2}, {"realised_share", 0.15}})),
            "");
  ASSERT_EQ((*ledger_->savings()).size(), 1u);
  EXPECT_EQ((*ledger_->savings()).at(0).realised_share, 0.15);
  EXPECT_EQ((*ledger_->gate("approved")).at(0).decision.actor, "ada");
  expect_sound();
}

Draft realised(const std::string& month, int jobs, double saved) {
  return draft("saving.realised", "f",
               {{"month", month},
                {"jobs", jobs},
                {"used_accelerator_s", 100},
                {"saved_accelerator_s", saved},
                {"lower_accelerator_s", saved - 5},
                {"upper_accelerator_s", saved + 5}});
}

TEST_F(LedgerTest, TheLastBookingOfAMonthCounts) {
  ASSERT_EQ(say({family_adopted("f"), realised("2026-11", 3, 20), realised("2026-10", 2, -1),
                 realised("2026-11", 4, 30)}),
            "");
  const auto earnings = *ledger_->earnings();
  ASSERT_EQ(earnings.size(), 2u);
  EXPECT_EQ(earnings[0].month, "2026-10");
  EXPECT_EQ(earnings[1].month, "2026-11");
  EXPECT_EQ(earnings[1].jobs, 4);
  EXPECT_EQ(earnings[1].saved, 30);
  EXPECT_EQ(earnings[1].lower, 25);
  EXPECT_EQ(earnings[1].upper, 35);
  EXPECT_NE(say(realised("November", 1, 1)), "");
  expect_sound();
}

TEST_F(LedgerTest, OutlaysAreKeptByMonth) {
  begin_experiment();
  ASSERT_EQ(say({reserved("r-1", "x-1", 0), collected("r-1", 4)}), "");
  clock_.advance(std::chrono::hours(24 * 40));
  ASSERT_EQ(say({reserved("r-2", "x-1", 1), collected("r-2", 3)}), "");
  const auto outlays = *ledger_->outlays("accelerator_s");
  ASSERT_EQ(outlays.size(), 2u);
  EXPECT_EQ(outlays[0].spent, 4);
  EXPECT_EQ(outlays[1].spent, 3);
  EXPECT_LT(outlays[0].month, outlays[1].month);
  EXPECT_EQ((*ledger_->spent_by_family()).at("f"), 7);
  expect_sound();
}

TEST_F(LedgerTest, TalliesFollowEveryWrite) {
  end_experiment(VerdictKind::kRefuted);
  ASSERT_EQ(say({proposed("h-2", "key2"), registered("x-2", "h-2"), reserved("r-1", "x-2", 0),
                 submitted("r-1", "w-1")}),
            "");
  const std::map<std::string, std::int64_t> expected = {
      {"experiment.closed", 1},  {"experiment.live", 1}, {"hypothesis.live", 1},
      {"hypothesis.refuted", 1}, {"run.reserved", 0},    {"run.submitted", 1},
      {"verdict.refuted", 1}};
  EXPECT_EQ(*ledger_->tallies(), expected);
}

TEST_F(LedgerTest, HypothesesByFamilyStateAndPrefix) {
  end_experiment(VerdictKind::kRefuted);
  ASSERT_EQ(say({proposed("h-21", "key2"), proposed("h-22", "key3", "g")}), "");
  EXPECT_EQ(ids(*ledger_->hypotheses("", "")), (Ids{"h-1", "h-21", "h-22"}));
  EXPECT_EQ(ids(*ledger_->hypotheses("f", "")), (Ids{"h-1", "h-21"}));
  EXPECT_EQ(ids(*ledger_->hypotheses("f", "live")), (Ids{"h-21"}));
  EXPECT_EQ(ids(*ledger_->hypotheses("", "live")), (Ids{"h-21", "h-22"}));

  EXPECT_EQ(ledger_->hypothesis("h-22")->hypothesis.family, "g");
  EXPECT_EQ(ledger_->hypothesis("h-1")->hypothesis.id, "h-1");  // Exact beats prefix.
  EXPECT_EQ(ledger_->hypothesis("h-2").error().text, "\"h-2\" is ambiguous: it matches h-21, h-22");
  EXPECT_EQ(ledger_->hypothesis("h-9").error().text,
            "no hypothesis \"h-9\": see `amdahl ledger list`");
  EXPECT_EQ(ledger_->hypothesis("").error().kind, Error::Kind::kNotFound);
}

TEST_F(LedgerTest, HypothesesComeInPagesNewestFirstWithTheirVerdicts) {
  end_experiment(VerdictKind::kRefuted);
  ASSERT_EQ(say({proposed("h-2", "key2"), proposed("h-3", "key3", "g"), proposed("h-4", "key4")}),
            "");
  struct Page {
    Ids ids;
    std::int64_t total;
    bool goes_on;
    bool operator==(const Page&) const = default;
  };
  std::int64_t before = 0;
  const auto page = [&](const std::string& family, const std::string& state) {
    const auto got = *ledger_->page_of_hypotheses(family, state, before, 2);
    Page seen{{}, got.total, got.next != 0};
    for (const auto& item : got.items) {
      seen.ids.push_back(item.row.hypothesis.id);
      EXPECT_EQ(item.verdict.has_value(), item.row.hypothesis.id == "h-1");
    }
    before = got.next;
    return seen;
  };
  EXPECT_EQ(page("", ""), (Page{{"h-4", "h-3"}, 4, true}));
  EXPECT_EQ(page("", ""), (Page{{"h-2", "h-1"}, 4, false}));
  EXPECT_EQ(page("f", ""), (Page{{"h-4", "h-2"}, 3, true}));
  EXPECT_EQ(page("f", ""), (Page{{"h-1"}, 3, false}));
  EXPECT_EQ(page("f", "live"), (Page{{"h-4", "h-2"}, 2, false}));
  EXPECT_EQ(page("g", "refuted"), (Page{{}, 0, false}));
}

TEST_F(LedgerTest, SearchTakesWhateverIsTyped) {
  end_experiment(VerdictKind::kRefuted);
  ASSERT_EQ(say(judged("h-2", "", VerdictKind::kInvalid)),
            "verdict.recorded h-2: a verdict needs a live hypothesis of its family");
  ASSERT_EQ(say({proposed("h-2", "key2"),
                 judged("h-2", "", VerdictKind::kInvalid, "the loader's workers crashed")}),
            "");
  EXPECT_EQ(ids(*ledger_->search("crash", 9)), (Ids{"h-2"}));    // The reason, stemmed.
  EXPECT_EQ(ids(*ledger_->search("--batch 32", 9)).size(), 2u);  // The change.
  EXPECT_EQ(ids(*ledger_->search("fewer launches", 1)).size(), 1u);
  EXPECT_EQ(ids(*ledger_->search("launch crash", 9)), (Ids{"h-2", "h-1"}));  // Best first.
  for (const char* typed : {"", "\"", "AND", "a* (", "title:", "NEAR(", "-", "^x", "'; --", "{}"}) {
    const auto found = ledger_->search(typed, 9);
    EXPECT_TRUE(found) << typed << ": " << found.error().text;
  }
  EXPECT_TRUE((*ledger_->search("nothingofthesort", 9)).empty());
  // A rare word is found below any number of newer ideas that have the other one.
  for (int i = 0; i < 120; ++i) {
    const std::string digits = fmt::format("{:03}", i);
    ASSERT_EQ(say({proposed("h-9" + digits, "key9" + digits)}), "");
  }
  EXPECT_EQ(ids(*ledger_->search("launches crashed", 2)), (Ids{"h-2", "h-9119"}));
}

TEST_F(LedgerTest, EventsPageByPage) {
  begin_experiment();
  const auto last = *ledger_->events("", 0, 2);
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last.at(0).seq, 4);
  EXPECT_EQ(last.at(0).kind, "experiment.registered");
  EXPECT_EQ((*ledger_->events("", 3, 9)).at(0).seq, 2);
  EXPECT_EQ((*ledger_->events("h-1", 0, 9)).size(), 1u);
  EXPECT_EQ((*ledger_->events("h-1", 0, 9)).at(0).payload.at("key"), "key1");
  std::vector<std::int64_t> seen;
  ASSERT_TRUE(ledger_->each_event(1, [&](const Event& event) {
    seen.push_back(event.seq);
    return seen.size() < 2;
  }));
  EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 3}));
}

TEST_F(LedgerTest, SecretsAreNotStored) {
  Draft reservation = reserved("r-1", "", 0, 1, "same");
  reservation.payload["request"] = R"({"env":{"HF_TOKEN":"hf_abcdefghijklmnop","A":"1"}})";
  ASSERT_EQ(say({reservation, draft("cycle.noted", "c-1", {{"api_key", "s3cret"}, {"n", 1}})}), "");
  EXPECT_EQ((*ledger_->runs_in_flight()).at(0).request,
            R"({"env":{"A":"1","HF_TOKEN":"[redacted]"}})");
  EXPECT_EQ((*ledger_->events("c-1", 0, 1)).at(0).payload.dump(),
            R"({"api_key":"[redacted]","n":1})");
  expect_sound();
}

struct PlanCase {
  const char* name;
  std::string_view sql;
  std::vector<std::string> plan;  // Without sorting steps.
};
// What a cycle asks every time may not grow with what is over.
const PlanCase kPlanCases[] = {
    {"last event",
     kHead,
     {"SEARCH events USING INTEGER PRIMARY KEY (rowid=?)", "SCALAR SUBQUERY 1", "SEARCH events"}},
    {"live experiments",
     kLiveExperiments,
     {"SEARCH experiment USING INDEX experiment_live (state=?)"}},
    {"runs in flight", kRunsInFlight, {"SEARCH run USING INDEX run_in_flight (state=?)"}},
    {"runs of an experiment",
     kRunsOfExperiment,
     {"SEARCH run USING INDEX sqlite_autoindex_run_3 (experiment=?)"}},
    {"runs of a family",
     kRunsOfFamilyFor,
     {"SEARCH run USING INDEX run_family (family=? AND purpose=?)"}},
    {"latest runs of a family",
     kLatestRunsOfFamilyFor,
     {"SEARCH run USING INDEX run_family (family=? AND purpose=?)"}},
    {"hypotheses in a state",
     kHypothesesInState,
     {"SEARCH hypothesis USING INDEX hypothesis_state (state=?)"}},
    {"hypotheses of a family in a state",
     kHypothesesOfFamilyInState,
     {"SEARCH hypothesis USING INDEX hypothesis_family (family=? AND state=?)"}},
    {"holder of a key", kHolderOfKey, {"SEARCH hypothesis USING INDEX hypothesis_key (key=?)"}},
    {"page of a family",
     kHypothesisPageOfFamily,
     {"SEARCH h USING INDEX hypothesis_of (family=? AND rowid<?)",
      "SEARCH v USING INDEX sqlite_autoindex_verdict_1 (hypothesis=?) LEFT-JOIN"}},
    {"page of a state",
     kHypothesisPageInState,
     {"SEARCH h USING INDEX hypothesis_state (state=? AND rowid<?)",
      "SEARCH v USING INDEX sqlite_autoindex_verdict_1 (hypothesis=?) LEFT-JOIN"}},
    {"page of both",
     kHypothesisPageOfBoth,
     {"SEARCH h USING INDEX hypothesis_family (family=? AND state=? AND rowid<?)",
      "SEARCH v USING INDEX sqlite_autoindex_verdict_1 (hypothesis=?) LEFT-JOIN"}},
    {"a search", kSearch, {"SCAN search VIRTUAL TABLE INDEX 192:M5"}},
    {"everyone with a key",
     kHypothesesWithKey,
     {"SEARCH hypothesis USING INDEX hypothesis_any_key (key=?)"}},
    {"newest gates", kNewestGates, {"SCAN gate"}},
    {"gate of an experiment",
     kGateOf,
     {"SEARCH gate USING INDEX sqlite_autoindex_gate_1 (experiment=?)"}},
    {"pending gates", kGatesInState, {"SEARCH gate USING INDEX gate_state (state=?)"}},
    {"open canaries", kCanariesInState, {"SEARCH canary USING INDEX canary_state (state=?)"}},
    {"canaries of a family",
     kCanariesOfFamily,
     {"SEARCH canary USING INDEX sqlite_autoindex_canary_2 (family=?)"}},
    {"votes", kVotes, {"SEARCH vote USING INDEX sqlite_autoindex_vote_1 (experiment=?)"}},
    {"verdict", kVerdict, {"SEARCH verdict USING INDEX sqlite_autoindex_verdict_1 (hypothesis=?)"}},
    {"verdicts of a family",
     kVerdictsOfFamily,
     {"SEARCH verdict USING INDEX verdict_family (family=?)"}},
    {"open campaign", kOpenCampaign, {"SEARCH campaign USING INDEX campaign_open (open=?)"}},
    {"events of a subject",
     kEventsOfSubjectBefore,
     {"SEARCH events USING INDEX events_subject (subject=? AND seq<?)"}},
    // One row per family, resource or state: these do not grow with time.
    {"families", kFamilies, {"SCAN family"}},
    {"budgets", kBudgets, {"SCAN budget USING INDEX sqlite_autoindex_budget_1"}},
    {"outlays", kOutlays, {"SEARCH outlay USING INDEX sqlite_autoindex_outlay_1 (resource=?)"}},
    {"outlays by month",
     kOutlaysByMonth,
     {"SEARCH outlay USING INDEX sqlite_autoindex_outlay_1 (resource=?)"}},
    {"track records", kTrackRecords, {"SCAN track_record"}},
    {"lever records", kLeverRecords, {"SCAN lever_record"}},
    {"choice", kChoice, {"SCAN choice"}},
    {"tallies", kTallies, {"SCAN tally USING INDEX sqlite_autoindex_tally_1"}},
};

TEST_F(LedgerTest, EveryCyclesReadsUseIndexes) {
  begin_experiment();
  db::Connection db = *db::Connection::open(path_, db::Mode::kReadOnly, 0);
  for (const PlanCase& c : kPlanCases) {
    SCOPED_TRACE(c.name);
    auto plan = db.prepare("explain", "EXPLAIN QUERY PLAN " + std::string(c.sql));
    ASSERT_TRUE(plan) << plan.error().text;
    db::Statement row = *std::move(plan);
    std::vector<std::string> steps;
    while (*row.step()) {
      const std::string step(row.text(3));
      // Sorting would read all of a history to give its newest row.
      EXPECT_FALSE(c.sql == kLatestRunsOfFamilyFor && step.starts_with("USE TEMP"));
      if (step != "USE TEMP B-TREE FOR ORDER BY") steps.push_back(step);
    }
    EXPECT_EQ(steps, c.plan);
  }
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
