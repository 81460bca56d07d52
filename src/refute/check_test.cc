#include "refute/check.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "refute/sample.h"
#include "source_dir.h"

namespace amdahl::refute {
namespace {

using model::Finding;
using model::Vote;

std::vector<Finding> all_agree() {
  std::vector<Finding> findings;
  for (const Check& check : checks()) {
    findings.push_back({std::string(check.id), Vote::kAgree, false, check.mandatory, ""});
  }
  return findings;
}

Finding& named(std::vector<Finding>& findings, std::string_view id) {
  return *std::ranges::find(findings, id, &Finding::check);
}

TEST(Checks, TheTableIsSound) {
  std::string ids;
  std::string mandatory;
  for (const Check& check : checks()) {
    EXPECT_TRUE(check.asks.ends_with('?')) << check.id;
    ids += std::string(check.id) + " ";
    if (!check.mandatory) continue;
    mandatory += std::string(check.id) + " ";
    EXPECT_EQ(check.applies, nullptr) << check.id;  // What must answer is always asked.
  }
  // Renaming one would orphan what the ledger holds.
  EXPECT_EQ(ids,
            "design work quality cost replicate aa input host order outlier aggregate strata tod "
            "amdahl failures shrink dose mechanism contention ");
  EXPECT_EQ(mandatory, "design work quality cost replicate aa input host ");
}

// A sound win that was shown on busy hosts as well.
Evidence whole_win(const model::Spec& spec) {
  Evidence evidence = sample_win(spec);
  top_up(evidence, "contention", 8, 0.1);
  for (auto& pair : evidence.pairs) pair.contended = pair.target == "contention";
  evidence.topped_up = false;
  return evidence;
}

TEST(Checks, ASoundWinSurvives) {
  const model::Spec spec = sample_spec();
  const std::vector<Finding> findings = ask_all(whole_win(spec));
  ASSERT_EQ(findings.size(), checks().size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    EXPECT_EQ(findings[i].check, checks()[i].id);
    EXPECT_EQ(findings[i].mandatory, checks()[i].mandatory);
    EXPECT_EQ(findings[i].vote, Vote::kAgree) << findings[i].check << ": " << findings[i].because;
  }
  const Panel panel = combine(findings, true, false);
  EXPECT_EQ(panel.outcome, Outcome::kSurvives);
  EXPECT_EQ(panel.because, "19 of 19 checks agree; none refutes");
  EXPECT_TRUE(panel.also_wants.empty());
}

TEST(Checks, WhatDoesNotApplyIsNotAsked) {
  model::Spec spec = sample_spec();
  spec.strata.clear();
  Evidence evidence = whole_win(spec);
  evidence.doses.clear();
  evidence.component.clear();
  const std::vector<Finding> findings = ask_all(evidence);
  for (const char* id : {"strata", "dose", "mechanism"}) {
    EXPECT_EQ(std::ranges::find(findings, id, &Finding::check), findings.end()) << id;
  }
  const Panel panel = combine(findings, true, false);
  EXPECT_EQ(panel.outcome, Outcome::kSurvives);
  EXPECT_EQ(panel.because, "16 of 16 checks agree; none refutes");
}

// A job that names nothing beyond what is mandatory, in one afternoon, on one quiet machine.
TEST(Checks, APlainJobStillFindsAMajority) {
  model::Spec spec = sample_spec();
  spec.strata.clear();
  Evidence evidence = sample_win(spec);
  evidence.doses.clear();
  evidence.component.clear();
  evidence.touched_share.reset();
  for (auto& pair : evidence.pairs) pair.a.started_s = 1700006400;
  const Panel panel = combine(ask_all(evidence), true, false);
  EXPECT_EQ(panel.outcome, Outcome::kSurvives);
  EXPECT_EQ(panel.because, "13 of 16 checks agree; none refutes");
}

TEST(Checks, WithoutPairsNothingIsRefuted) {
  const model::Spec spec = sample_spec();
  Evidence evidence;
  evidence.spec = &spec;
  for (const Finding& finding : ask_all(evidence)) {
    EXPECT_NE(finding.vote, Vote::kRefute) << finding.check << ": " << finding.because;
    EXPECT_FALSE(finding.because.empty()) << finding.check;
  }
}

// The abort of a test must not be a way to lose what the test has shown.
TEST(Checks, EarlierTestsCountAgainstAChangeAndNeverForIt) {
  const model::Spec spec = sample_spec();
  Evidence evidence = whole_win(spec);
  const auto vote = [&](std::string_view id) {
    std::vector<Finding> findings = ask_all(evidence);
    return show(named(findings, id)).substr(0, 5);
  };
  for (int i = 0; i < 6; ++i) evidence.before.push_back(sample_pair(i, 0.1));
  for (const char* id : {"work", "quality", "failures"}) EXPECT_EQ(vote(id), "agree") << id;
  for (int i = 0; i < 4; ++i) evidence.before[i].voided = evidence.before[i].b.failed = true;
  EXPECT_EQ(vote("failures"), "doubt");
  evidence.before[4].b.output_digest = "another";
  EXPECT_EQ(vote("quality"), "veto:");
  evidence.before.resize(3);
  for (auto& pair : evidence.before) pair = sample_pair(pair.index, 0.1);
  evidence.pairs.resize(4);
  EXPECT_EQ(vote("quality"), "absta") << "results must be as good on this baseline";
}

TEST(Combine, ADecisiveRefutationVetoes) {
  auto findings = all_agree();
  named(findings, "work") = {"work", Vote::kRefute, true, true, ""};
  const Panel panel = combine(findings, true, false);
  EXPECT_EQ(panel.outcome, Outcome::kRefuted);
  EXPECT_EQ(panel.because, "18 of 19 checks agree; refuted decisively by work");
  EXPECT_TRUE(panel.wants_pairs.empty());
}

TEST(Combine, DoubtAndSilenceBuyPairsOnce) {
  auto findings = all_agree();
  named(findings, "order").vote = Vote::kRefute;
  named(findings, "host").vote = Vote::kAbstain;
  named(findings, "amdahl").vote = Vote::kAbstain;  // May abstain.
  const Panel first = combine(findings, true, false);
  EXPECT_EQ(first.outcome, Outcome::kTopUp);
  EXPECT_EQ(first.because, "16 of 19 checks agree; needs targeted pairs for order, host");
  EXPECT_EQ(first.wants_pairs, (std::vector<std::string>{"order", "host"}));
  const Panel second = combine(findings, true, true);
  EXPECT_EQ(second.outcome, Outcome::kRefuted);
  EXPECT_EQ(second.because, "16 of 19 checks agree; still refuted after targeted pairs by order");
}

TEST(Combine, WhatIsMissingHolds) {
  auto findings = all_agree();
  named(findings, "host").vote = Vote::kAbstain;
  std::erase_if(findings, [](const Finding& finding) { return finding.check == "aa"; });
  EXPECT_EQ(combine(findings, true, false).wants_pairs, (std::vector<std::string>{"host", "aa"}));
  const Panel panel = combine(findings, false, true);
  EXPECT_EQ(panel.outcome, Outcome::kHold);
  EXPECT_EQ(panel.because,
            "17 of 18 checks agree; on hold: no answer from the mandatory checks: host, aa; E is "
            "below the campaign's threshold");
}

TEST(Combine, HalfIsNoMajority) {
  auto findings = all_agree();
  int silent = 0;
  for (Finding& finding : findings) {
    if (!finding.mandatory && silent++ < 9) finding.vote = Vote::kAbstain;
  }
  EXPECT_EQ(combine(findings, true, true).outcome, Outcome::kSurvives);  // 10 of 19.
  findings.push_back({"one", Vote::kAbstain, false, false, ""});
  const Panel panel = combine(findings, true, true);
  EXPECT_EQ(panel.outcome, Outcome::kHold);
  EXPECT_EQ(panel.because, "10 of 20 checks agree; on hold: fewer than half of the checks agree");
}

TEST(Combine, AClaimThatPassesMayStillBeShownInTheOtherState) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  const Panel panel = combine(ask_all(evidence), true, false);
  EXPECT_EQ(panel.outcome, Outcome::kSurvives);
  EXPECT_TRUE(panel.wants_pairs.empty());
  EXPECT_EQ(panel.also_wants, std::vector<std::string>{"contention"});
  EXPECT_EQ(helped_by_pairs(panel.also_wants, evidence), panel.also_wants);
  // The pairs were bought and came to nothing: it asks no more, and the claim goes on.
  top_up(evidence, "contention", 8, 0.1);
  for (auto& pair : evidence.pairs) pair.voided = pair.target == "contention";
  const Panel again = combine(ask_all(evidence), true, true);
  EXPECT_EQ(again.outcome, Outcome::kSurvives);
  EXPECT_EQ(helped_by_pairs(again.also_wants, evidence), std::vector<std::string>{});
  EXPECT_EQ(holds_for(evidence), "quiet hosts; busy hosts not tested");
}

TEST(Combine, NothingIsBoughtForAClaimThatDoesNotPass) {
  auto findings = all_agree();
  named(findings, "contention").vote = Vote::kAbstain;
  EXPECT_EQ(combine(findings, true, true).also_wants, std::vector<std::string>{"contention"});
  EXPECT_TRUE(combine(findings, false, true).also_wants.empty());  // Held.
  named(findings, "order").vote = Vote::kRefute;
  EXPECT_TRUE(combine(findings, true, false).also_wants.empty());
  EXPECT_TRUE(combine(findings, true, true).also_wants.empty());
}

TEST(Targets, AreWhatTheCheckAsksAbout) {
  EXPECT_EQ(target_of("host").pairs, 4);
  EXPECT_EQ(target_of("host").enough, 8);
  EXPECT_EQ(target_of("host").variant_second, std::nullopt);
  EXPECT_EQ(target_of("order").enough, 8);
  EXPECT_EQ(target_of("order").variant_second, false);
  EXPECT_EQ(target_of("aggregate").enough, 12);
  EXPECT_EQ(target_of("aa").enough, 12);
  EXPECT_EQ(target_of("contention").enough, 4);
  EXPECT_EQ(target_of("failures").pairs, 8);
  EXPECT_TRUE(target_of("aa").same);
  EXPECT_FALSE(target_of("aggregate").same);
  EXPECT_TRUE(target_of("contention").contended);
  EXPECT_FALSE(target_of("host").contended);
  for (const char* id : {"quality", "cost", "mechanism"}) {
    EXPECT_TRUE(target_of(id).whole_runs) << id;
  }
  EXPECT_FALSE(target_of("order").whole_runs);
}

TEST(Targets, DependOnWhatIsThereAlready) {
  const model::Spec spec = sample_spec();
  Evidence evidence = sample_win(spec);
  for (auto& pair : evidence.pairs) pair.stratum = "long";
  EXPECT_EQ(target_of("strata", evidence).stratum, "short");
  EXPECT_EQ(target_of("host", evidence).stratum, "");
  EXPECT_EQ(target_of("order", evidence).variant_second, false);
  EXPECT_EQ(target_of("order", evidence).pairs, 4);
  EXPECT_EQ(target_of("aa", evidence).pairs, 4);
  // Only one pair with the variant first, or only two with it second.
  for (auto& pair : evidence.pairs) pair.ran_variant_second = pair.index > 0;
  EXPECT_EQ(target_of("order", evidence).variant_second, false);
  EXPECT_EQ(target_of("order", evidence).pairs, 2);
  for (auto& pair : evidence.pairs) pair.ran_variant_second = pair.index < 2;
  EXPECT_EQ(target_of("order", evidence).variant_second, true);
  EXPECT_EQ(target_of("order", evidence).pairs, 1);
}

TEST(Targets, NoPairsAreBoughtThatCannotHelp) {
  model::Spec spec = sample_spec();
  spec.outputs.clear();
  spec.inputs.clear();
  const Evidence evidence = sample_win(spec);
  const Panel panel = combine(ask_all(evidence), true, false);
  EXPECT_EQ(panel.outcome, Outcome::kTopUp);
  EXPECT_EQ(panel.wants_pairs, (std::vector<std::string>{"quality", "input"}));
  EXPECT_EQ(helped_by_pairs(panel.wants_pairs, evidence), std::vector<std::string>{});
  const std::vector<std::string> others = {"order", "host", "input"};
  EXPECT_EQ(helped_by_pairs(others, evidence), (std::vector<std::string>{"order", "host"}));
}

// The guide lists every check, in order, with its question as it is asked.
TEST(Guide, ListsEveryCheck) {
  std::ifstream file(AMDAHL_SOURCE_DIR "/docs/guide/checks.md");
  ASSERT_TRUE(file);
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| **")) rows.push_back(line);
  }
  ASSERT_EQ(rows.size(), checks().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Check& check = checks()[i];
    const std::string want =
        fmt::format("| **{}**{} | {} |", check.id, check.mandatory ? " M" : "", check.asks);
    EXPECT_TRUE(rows[i].starts_with(want)) << rows[i] << "\nshould start with\n" << want;
  }
}

}  // namespace
}  // namespace amdahl::refute
