#include "refute/check.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "refute/sample.h"

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
  std::set<std::string_view> ids;
  std::string mandatory;
  for (const Check& check : checks()) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_TRUE(check.asks.ends_with('?')) << check.id;
    if (check.mandatory) mandatory += std::string(check.id) + " ";
  }
  // Renaming one would orphan what the ledger holds.
  EXPECT_EQ(mandatory, "design work quality cost replicate aa input host ");
  EXPECT_EQ(ids.size(), 14U);
}

TEST(Checks, ASoundWinSurvives) {
  const model::Spec spec = sample_spec();
  const std::vector<Finding> findings = ask_all(sample_win(spec));
  ASSERT_EQ(findings.size(), checks().size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    EXPECT_EQ(findings[i].check, checks()[i].id);
    EXPECT_EQ(findings[i].mandatory, checks()[i].mandatory);
    EXPECT_EQ(findings[i].vote, Vote::kAgree) << findings[i].check << ": " << findings[i].because;
  }
  const Panel panel = combine(findings, true, false);
  EXPECT_EQ(panel.outcome, Outcome::kSurvives);
  EXPECT_EQ(panel.because, "14 of 14 checks agree and none refutes");
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

TEST(Combine, ADecisiveRefutationVetoes) {
  auto findings = all_agree();
  named(findings, "work") = {"work", Vote::kRefute, true, true, ""};
  const Panel panel = combine(findings, true, false);
  EXPECT_EQ(panel.outcome, Outcome::kRefuted);
  EXPECT_EQ(panel.because, "13 of 14 checks agree, refuted decisively by work");
  EXPECT_TRUE(panel.wants_pairs.empty());
}

TEST(Combine, DoubtAndSilenceBuyPairsOnce) {
  auto findings = all_agree();
  named(findings, "order").vote = Vote::kRefute;
  named(findings, "host").vote = Vote::kAbstain;
  named(findings, "amdahl").vote = Vote::kAbstain;  // May abstain.
  const Panel first = combine(findings, true, false);
  EXPECT_EQ(first.outcome, Outcome::kTopUp);
  EXPECT_EQ(first.because, "11 of 14 checks agree, targeted pairs are to settle order, host");
  EXPECT_EQ(first.wants_pairs, (std::vector<std::string>{"order", "host"}));
  const Panel second = combine(findings, true, true);
  EXPECT_EQ(second.outcome, Outcome::kRefuted);
  EXPECT_EQ(second.because, "11 of 14 checks agree, still refuted after targeted pairs by order");
}

TEST(Combine, WhatIsMissingHolds) {
  auto findings = all_agree();
  named(findings, "host").vote = Vote::kAbstain;
  std::erase_if(findings, [](const Finding& finding) { return finding.check == "aa"; });
  EXPECT_EQ(combine(findings, true, false).wants_pairs, (std::vector<std::string>{"host", "aa"}));
  const Panel panel = combine(findings, false, true);
  EXPECT_EQ(panel.outcome, Outcome::kHold);
  EXPECT_EQ(panel.because,
            "12 of 13 checks agree, held: no answer from host, aa, which must answer; "
            "E has not reached the campaign's level");
}

TEST(Combine, HalfIsNoMajority) {
  auto findings = all_agree();
  int silent = 0;
  for (Finding& finding : findings) {
    if (!finding.mandatory && silent++ < 6) finding.vote = Vote::kAbstain;
  }
  EXPECT_EQ(combine(findings, true, true).outcome, Outcome::kSurvives);  // 8 of 14.
  findings.push_back({"one", Vote::kAbstain, false, false, ""});
  findings.push_back({"two", Vote::kAbstain, false, false, ""});
  const Panel panel = combine(findings, true, true);
  EXPECT_EQ(panel.outcome, Outcome::kHold);
  EXPECT_EQ(panel.because, "8 of 16 checks agree, held: a majority has to agree");
}

TEST(Targets, AreWhatTheCheckAsksAbout) {
  EXPECT_EQ(target_of("host").pairs, 8);
  EXPECT_EQ(target_of("host").variant_second, std::nullopt);
  EXPECT_EQ(target_of("order").pairs, 8);
  EXPECT_EQ(target_of("order").variant_second, false);
  EXPECT_EQ(target_of("aggregate").pairs, 12);
  EXPECT_EQ(target_of("aa").pairs, 12);
  EXPECT_TRUE(target_of("aa").same);
  EXPECT_FALSE(target_of("aggregate").same);
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

}  // namespace
}  // namespace amdahl::refute
