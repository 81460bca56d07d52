#include "scan/anatomy.h"

#include <chrono>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "scan/timeline.h"

namespace amdahl::scan {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

model::Usage usage(Nanos wall, std::vector<std::vector<float>> series) {
  model::Usage result;
  result.job = "j-1";
  result.family = "eval";
  result.accelerators = static_cast<int>(series.size());
  result.start = seconds(1'000);
  result.end = result.start + wall;
  result.utilisation = {.interval = seconds(1), .metric = "CPU slot", .accelerators = series};
  return result;
}

double sum(const Split& split) {
  return split.unobserved + split.idle + split.low + split.productive;
}

TEST(Anatomy, SplitsByTheConventionOfFleets) {
  // Idle below 5 %, the rest weighed by utilisation, gaps apart.
  const Split split = split_of(usage(seconds(4), {{0.04F, 0.5F, 1.0F, kGap}}));
  EXPECT_DOUBLE_EQ(split.allocated, 4);
  EXPECT_DOUBLE_EQ(split.idle, 1);
  EXPECT_DOUBLE_EQ(split.low, 0.5);
  EXPECT_DOUBLE_EQ(split.productive, 1.5);
  EXPECT_DOUBLE_EQ(split.unobserved, 1);
  EXPECT_DOUBLE_EQ(wasted(split), 1.5);
}

TEST(Anatomy, EndOfTheJobCutsTheLastInterval) {
  const Split split = split_of(usage(milliseconds(2'500), {{0, 1, 1, 1, 1}}));
  EXPECT_DOUBLE_EQ(split.allocated, 2.5);
  EXPECT_DOUBLE_EQ(split.idle, 1);
  EXPECT_DOUBLE_EQ(split.productive, 1.5);
  EXPECT_DOUBLE_EQ(split.unobserved, 0);
}

TEST(Anatomy, WhatNoSampleReachesIsUnobserved) {
  EXPECT_DOUBLE_EQ(split_of(usage(seconds(3), {{1}})).unobserved, 2);
  EXPECT_DOUBLE_EQ(split_of(usage(seconds(3), {{}})).unobserved, 3);

  model::Usage without_interval = usage(seconds(3), {{1, 1, 1}});
  without_interval.utilisation.interval = {};
  EXPECT_DOUBLE_EQ(split_of(without_interval).unobserved, 3);

  model::Usage more_allocated = usage(seconds(3), {{1, 1, 1}});
  more_allocated.accelerators = 2;
  EXPECT_DOUBLE_EQ(split_of(more_allocated).unobserved, 3);
  EXPECT_DOUBLE_EQ(split_of(more_allocated).allocated, 6);

  model::Usage fewer_allocated = usage(seconds(3), {{1, 1, 1}, {0, 0, 0}});
  fewer_allocated.accelerators = 1;
  EXPECT_DOUBLE_EQ(split_of(fewer_allocated).productive, 3);
  EXPECT_DOUBLE_EQ(split_of(fewer_allocated).allocated, 3);
}

TEST(Anatomy, SplitsSumToTheAllocation) {
  // Odd lengths and values, over and under the range included.
  std::vector<std::vector<float>> series(7);
  unsigned state = 12345;
  for (auto& one : series) {
    for (int i = 0; i < 999; ++i) {
      state = state * 1664525U + 1013904223U;
      const auto value = static_cast<float>(state % 1300U) / 1000.0F - 0.1F;
      one.push_back(state % 11U == 0 ? kGap : value);
    }
  }
  model::Usage job = usage(Nanos(333'333'333'331), series);
  job.utilisation.interval = milliseconds(333);
  const Split split = split_of(job);
  EXPECT_NEAR(sum(split), split.allocated, 1e-9 * split.allocated);
  const Anatomy anatomy = anatomy_of(job);
  EXPECT_NEAR(sum(anatomy.split), split.allocated, 1e-9 * split.allocated);
  for (const auto& stretches : anatomy.accelerators) {
    Nanos at{};
    for (const ActivitySpan& stretch : stretches) {
      EXPECT_EQ(stretch.start, at);
      at += stretch.duration;
    }
    EXPECT_EQ(at, anatomy.wall);
  }
}

TEST(Anatomy, EndBeforeStartIsNoTime) {
  const Anatomy anatomy = anatomy_of(usage(-seconds(5), {{1, 1}}));
  EXPECT_EQ(anatomy.wall, Nanos{});
  EXPECT_EQ(sum(anatomy.split), 0);
  EXPECT_EQ(anatomy.table.back().if_vanished, 1);
}

TEST(Anatomy, MergesNeighboursOfOneActivity) {
  const Anatomy anatomy = anatomy_of(usage(seconds(6), {{0, 0.02F, 0.3F, 0.5F, 0.9F, kGap}}));
  ASSERT_EQ(anatomy.accelerators.size(), 1U);
  const auto& stretches = anatomy.accelerators[0];
  ASSERT_EQ(stretches.size(), 4U);
  EXPECT_EQ(stretches[0].activity, Activity::kIdle);
  EXPECT_EQ(stretches[0].duration, seconds(2));
  EXPECT_EQ(stretches[1].activity, Activity::kLow);
  EXPECT_NEAR(stretches[1].utilisation, 0.4, 1e-6);
  EXPECT_EQ(stretches[2].activity, Activity::kProductive);
  EXPECT_EQ(stretches[3].activity, Activity::kUnobserved);
  EXPECT_TRUE(std::isnan(stretches[3].utilisation));
}

TEST(Anatomy, TableSaysWhatEachCouldGain) {
  model::Usage job = usage(
      seconds(10), {{0, 0, 0, 0, 0.5F, 0.5F, 1, 1, 1, 1}, {0, 0, 0, 0, 0.5F, 0.5F, 1, 1, 1, 1}});
  job.phases = {{"startup", seconds(0), seconds(4)}, {"compute", seconds(5), seconds(5)}};
  const Anatomy anatomy = anatomy_of(job);
  struct Row {
    const char* name;
    double seconds;
    double at_most;
    bool is_compute;
  };
  const Row want[] = {{"compute", 10, 2.0, false},      {"startup", 8, 1 / 0.6, false},
                      {"(unnamed)", 2, 1 / 0.9, false}, {"idle", 8, 1 / 0.6, false},
                      {"low", 2, 1 / 0.9, false},       {"compute", 10, 2.0, true}};
  ASSERT_EQ(anatomy.table.size(), std::size(want));
  for (std::size_t i = 0; i < std::size(want); ++i) {
    SCOPED_TRACE(want[i].name);
    EXPECT_EQ(anatomy.table[i].name, want[i].name);
    EXPECT_NEAR(anatomy.table[i].accelerator_seconds, want[i].seconds, 1e-9);
    EXPECT_NEAR(anatomy.table[i].if_vanished, want[i].at_most, 1e-9);
    EXPECT_EQ(anatomy.table[i].is_compute, want[i].is_compute);
  }
}

TEST(Anatomy, CeilingsFollowAmdahl) {
  EXPECT_EQ(ceiling_of(0), 1);
  EXPECT_EQ(ceiling_of(-1), 1);
  EXPECT_EQ(ceiling_of(std::nan("")), 1);
  EXPECT_EQ(ceiling_of(0.5), 2);
  EXPECT_TRUE(std::isinf(ceiling_of(1)));
}

std::string shown(const std::vector<model::Span>& spans, Nanos wall) {
  std::string text;
  for (const model::Span& span : flatten(spans, wall)) {
    text += span.name + " " + std::to_string(span.start.count()) + "+" +
            std::to_string(span.duration.count()) + "; ";
  }
  return text;
}

TEST(Timeline, ChargesEachMomentToTheInnermost) {
  constexpr Nanos kMost = Nanos::max();
  const struct {
    const char* name;
    std::vector<model::Span> spans;
    const char* want;
  } cases[] = {
      {"none", {}, ""},
      {"gaps", {{"a", Nanos(2), Nanos(3)}}, "(unnamed) 0+2; a 2+3; (unnamed) 5+5; "},
      {"nested", {{"a", Nanos(0), Nanos(10)}, {"b", Nanos(3), Nanos(2)}}, "a 0+3; b 3+2; a 5+5; "},
      {"overlap: the later start wins",
       {{"a", Nanos(0), Nanos(6)}, {"b", Nanos(4), Nanos(6)}},
       "a 0+4; b 4+6; "},
      {"together: the shorter is inner",
       {{"b", Nanos(0), Nanos(4)}, {"a", Nanos(0), Nanos(10)}},
       "b 0+4; a 4+6; "},
      {"three deep",
       {{"a", Nanos(0), Nanos(10)}, {"b", Nanos(1), Nanos(8)}, {"c", Nanos(2), Nanos(1)}},
       "a 0+1; b 1+1; c 2+1; b 3+6; a 9+1; "},
      {"neighbours merge", {{"a", Nanos(0), Nanos(5)}, {"a", Nanos(5), Nanos(5)}}, "a 0+10; "},
      {"outside is cut",
       {{"a", Nanos(-5), Nanos(8)}, {"b", Nanos(8), kMost}, {"c", Nanos(10), Nanos(1)}},
       "a 0+3; (unnamed) 3+5; b 8+2; "},
      {"nothing left", {{"a", Nanos(-5), Nanos(3)}, {"b", Nanos(1), Nanos(0)}}, ""},
      {"no name", {{"", Nanos(0), Nanos(10)}}, "(unnamed) 0+10; "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(shown(c.spans, Nanos(10)), c.want);
  }
}

}  // namespace
}  // namespace amdahl::scan
