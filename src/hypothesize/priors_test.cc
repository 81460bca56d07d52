#include "hypothesize/priors.h"

#include <gtest/gtest.h>

#include "model/effect.h"

namespace amdahl::hypothesize {
namespace {

using model::Bottleneck;

constexpr Nanos kNow = std::chrono::hours(24 * 365 * 50);
constexpr Nanos kDay = std::chrono::hours(24);

model::Hypothesis idea(Bottleneck bottleneck, const std::string& hardware = "here") {
  model::Hypothesis h;
  h.bottleneck = bottleneck;
  h.change.env["A"] = "1";
  h.prior = 0.2;
  h.key = model::effect_key("f", h.change, hardware);
  return h;
}

TEST(Priors, WithoutHistoryAnIdeaHasItsOwn) {
  EXPECT_DOUBLE_EQ(Priors(kNow, "here").chance_of(idea(Bottleneck::kInput)), 0.2);
}

TEST(Priors, AreABetaOfClassAndKind) {
  Priors priors(kNow, "here");
  for (int i = 0; i < 4; ++i) priors.learn(idea(Bottleneck::kInput), "promoted", kNow);
  priors.learn(idea(Bottleneck::kInput), "no effect", kNow);
  // (6 x 0.2 + 4) / (6 + 5).
  EXPECT_NEAR(priors.chance_of(idea(Bottleneck::kInput)), 5.2 / 11, 1e-12);
  EXPECT_DOUBLE_EQ(priors.chance_of(idea(Bottleneck::kSerial)), 0.2);
  model::Hypothesis patch = idea(Bottleneck::kInput);
  patch.change = {};
  patch.change.patch = "diff";
  EXPECT_DOUBLE_EQ(priors.chance_of(patch), 0.2);
}

TEST(Priors, OldVerdictsAndOtherHardwareCountLess) {
  Priors old(kNow, "here");
  old.learn(idea(Bottleneck::kInput), "refuted", kNow - 180 * kDay);
  EXPECT_NEAR(old.chance_of(idea(Bottleneck::kInput)), 1.2 / 6.5, 1e-12);
  Priors elsewhere(kNow, "here");
  elsewhere.learn(idea(Bottleneck::kInput, "there"), "promoted", kNow);
  EXPECT_NEAR(elsewhere.chance_of(idea(Bottleneck::kInput)), 1.7 / 6.5, 1e-12);
}

TEST(Priors, WhatWasNotTestedTeachesNothing) {
  Priors priors(kNow, "here");
  for (const char* state : {"live", "aborted", "invalid", "dropped", "reopened"}) {
    priors.learn(idea(Bottleneck::kInput), state, kNow);
  }
  EXPECT_TRUE(priors.cells().empty());
}

TEST(Lessons, HaveTheNumbersAndWhatToTryNext) {
  model::Hypothesis h = idea(Bottleneck::kInput);
  h.family = "eval";
  h.predicted_gain = 0.4;
  model::Verdict verdict;
  verdict.kind = model::VerdictKind::kPromoted;
  verdict.comparison = model::Comparison{};
  verdict.comparison->pairs = 12;
  verdict.comparison->effect = 0.6931471805599453;
  const Lesson lesson = lesson_of(h, verdict);
  EXPECT_EQ(lesson.text,
            "eval A=1 against data starvation: promoted (saved 50 % in 12 pairs, predicted 40 %)");
  EXPECT_EQ(lesson.next.size(), 2U);
  verdict.kind = model::VerdictKind::kRefuted;
  verdict.reason = "work: B did 3 of 4";
  EXPECT_NE(lesson_of(h, verdict).text.find(": work: B did 3 of 4"), std::string::npos);
}

}  // namespace
}  // namespace amdahl::hypothesize
