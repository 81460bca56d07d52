#include "app/memory.h"

#include <algorithm>

#include "app/calibration.h"
#include "app/propose.h"
#include "app/roi.h"
#include "app/test_kit.h"

namespace amdahl::app {
namespace {

using hypothesize::Nearness;

class MemoryTest : public ContextTest {
 protected:
  static model::Change batch(const std::string& size) {
    model::Change change;
    change.args["--batch"] = size;
    return change;
  }
};

TEST_F(MemoryTest, AVerdictLeavesALessonAndMovesTheNextChance) {
  adopt();
  promote("h-1", batch("16"));
  const auto events = context_.ledger->events("h-1", 0, 50);
  ASSERT_TRUE(events);
  const auto lesson = std::ranges::find(*events, "lesson.recorded", &ledger::Event::kind);
  ASSERT_NE(lesson, events->end());
  EXPECT_NE(lesson->payload.at("lesson").get<std::string>().find("promoted"), std::string::npos);
  EXPECT_EQ(lesson->payload.at("next").size(), 2U);
  EXPECT_TRUE(context_.ledger->verify()->ok());

  const auto calibration = calibrate(context_);
  ASSERT_TRUE(calibration) << calibration.error().text;
  ASSERT_EQ(calibration->origins.size(), 1U);
  EXPECT_EQ(calibration->origins[0].promoted, 1);
  EXPECT_DOUBLE_EQ(*calibration->origins[0].frequency, 1);
  // (6 x 0.15 + 1) / (6 + 1) for the next flag against the same class.
  const auto next = propose(context_, "eval", {batch("32"), "more", 0.1, "", "ada"});
  ASSERT_TRUE(next) << next.error().text;
  ASSERT_TRUE(next->accepted) << next->refused;
  EXPECT_NEAR(next->accepted->prior, 1.9 / 7, 1e-9);
  ASSERT_EQ(next->known.size(), 1U);
  EXPECT_EQ(next->known[0].row.hypothesis.id, "h-1");
  EXPECT_EQ(next->known[0].nearness, Nearness::kSameSetting);
}

TEST_F(MemoryTest, WhatIsKnownIsAnAnswerAndNoError) {
  adopt();
  const auto first = propose(context_, "eval", {batch("64"), "more", 0.1, "", "ada"});
  ASSERT_TRUE(first && first->accepted);
  EXPECT_TRUE(first->known.empty());
  const auto again = propose(context_, "eval", {batch("64"), "other words", 0.1, "", "bob"});
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_FALSE(again->accepted);
  EXPECT_NE(again->refused, "");
  ASSERT_FALSE(again->known.empty());
  EXPECT_EQ(again->known[0].row.hypothesis.id, first->accepted->id);
}

// Once a profile and kind of source, however often it is asked; nothing for what is promoted.
TEST_F(MemoryTest, WhatTheAnswerCostIsNotSpentAgain) {
  adopt();
  const auto first = propose(context_, "eval", {batch("64"), "more", 0.1, "", "ada"});
  ASSERT_TRUE(first && first->accepted);
  const model::Hypothesis idea = *first->accepted;
  model::Experiment x;
  x.id = "x-1";
  x.hypothesis = idea.id;
  x.family = "eval";
  x.campaign = "c1";
  model::Verdict verdict;
  verdict.hypothesis = idea.id;
  verdict.experiment = x.id;
  verdict.kind = model::VerdictKind::kHarmful;
  verdict.reason = "slower";
  std::vector<ledger::Draft> drafts = {{"experiment.registered", "cycle", x.id, encode(x)}};
  for (int i = 0; i < 3; ++i) {
    const std::string run = fmt::format("r-{}", i);
    model::PairFact fact;
    fact.reservation = run;
    drafts.push_back({"run.reserved",
                      "cycle",
                      run,
                      {{"family", "eval"},
                       {"experiment", x.id},
                       {"purpose", "compare"},
                       {"index", i},
                       {"variant_second", false},
                       {"cpus", {0}},
                       {"reserved_accelerator_s", 900},
                       {"request", Json::object()}}});
    drafts.push_back({"run.collected",
                      "cycle",
                      run,
                      {{"spent_accelerator_s", 600}, {"fact", encode(fact)}}});
  }
  drafts.push_back({"verdict.recorded", "cycle", idea.id, encode(verdict)});
  ASSERT_EQ(say(drafts), "");
  EXPECT_EQ(return_on_investment(context_, 2.0)->prevented.ideas, 0);

  for (int i = 0; i < 2; ++i) {
    const auto again = propose(context_, "eval", {batch("64"), "other words", 0.1, "", "bob"});
    ASSERT_TRUE(again && !again->accepted);
  }
  EXPECT_EQ(return_on_investment(context_, 2.0)->prevented.ideas, 1);
  model::Hypothesis dreamt = idea;
  dreamt.origin.kind = "dream";
  for (int i = 0; i < 2; ++i) {
    const auto outcome = admit(context_, {dreamt}, "dream");
    ASSERT_TRUE(outcome && outcome->fresh.empty());
    ASSERT_EQ(outcome->drafts.size(), i == 0 ? 1U : 0U);
    ASSERT_EQ(say(outcome->drafts), "");
  }
  const Prevented prevented = return_on_investment(context_, 2.0)->prevented;
  EXPECT_EQ(prevented.ideas, 2);
  EXPECT_EQ(prevented.pairs, 6);
  EXPECT_DOUBLE_EQ(prevented.accelerator_h, 1);
  EXPECT_TRUE(context_.ledger->verify()->ok());
}

}  // namespace
}  // namespace amdahl::app
