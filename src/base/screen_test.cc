#include "base/screen.h"

#include <array>

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Screen, CountsColumnsNotBytes) {
  EXPECT_EQ(columns_of("µs ●"), 4U);
  EXPECT_EQ(left("µs", 4), "µs  ");
  EXPECT_EQ(right("µs", 4), "  µs");
  EXPECT_EQ(columns_of(left("a name that is too long", 8)), 8U);
}

TEST(Screen, LetsNoNameMoveTheCursor) {
  EXPECT_EQ(plain("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(plain("\xC2\x9B"
                  "31m µ"),
            "?31m µ");
}

TEST(Screen, DrawsWithPlainLettersInTheSameColumns) {
  constexpr auto kSigns = std::to_array<Sign>({{"●", 'o'}, {"─", '-'}});
  EXPECT_EQ(to_ascii("a─●b╳", kSigns), "a-ob?");
}

}  // namespace
}  // namespace amdahl
