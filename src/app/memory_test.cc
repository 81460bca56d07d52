#include "app/memory.h"

#include <algorithm>

#include "app/calibration.h"
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

}  // namespace
}  // namespace amdahl::app
