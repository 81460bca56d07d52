#include "base/screen.h"

#include <array>

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Screen, CountsColumnsNotBytes) {
  EXPECT_EQ(columns_of("µs ●"), 4U);
  EXPECT_EQ(columns_of("訓練 job"), 8U);
  EXPECT_EQ(columns_of("e\xCC\x81t\xC3\xA9"), 3U) << "a mark that combines takes no room";
  EXPECT_EQ(columns_of("\xE8\xA8"), 2U) << "half a sign is two bytes that are none";
  EXPECT_EQ(columns_of(left("訓練する人の仕事", 7)), 7U);
  EXPECT_EQ(left("訓練する人の仕事", 6), "訓練… ");
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
