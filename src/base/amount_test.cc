#include "base/amount.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Amount, LargeOnesAreWholeAndGrouped) {
  EXPECT_EQ(show_amount(98203.8978), "98,204");
  EXPECT_EQ(show_amount(1234567), "1,234,567");
  EXPECT_EQ(show_amount(-1344), "-1,344");
  EXPECT_EQ(show_amount(999.6), "1,000");
  EXPECT_EQ(show_amount(100), "100");
  EXPECT_EQ(show_amount(12.345), "12.3");
  EXPECT_EQ(show_amount(0), "0");
}

TEST(Amount, SmallOnesHaveTwoDigitsAfterThePoint) {
  EXPECT_EQ(show_amount(0.161), "0.16");
  EXPECT_EQ(show_amount(0.0533), "0.05");
  EXPECT_EQ(show_amount(0.00143), "< 0.01");
  EXPECT_EQ(show_amount(-0.00143), "> -0.01");
  EXPECT_EQ(show_amount(0.997), "1.00");
  EXPECT_EQ(show_fixed(0.00143, 3), "0.001");
  EXPECT_EQ(show_fixed(0, 2), "0.00");
}

TEST(Amount, TimesHaveTheUnitThatFits) {
  EXPECT_EQ(show_seconds(0), "0 s");
  EXPECT_EQ(show_seconds(34.24), "34.2 s");
  EXPECT_EQ(show_seconds(0.574), "0.574 s");
  EXPECT_EQ(show_seconds(0.0574), "57.4 ms");
  EXPECT_EQ(show_seconds(0.00213), "2.13 ms");
  EXPECT_EQ(show_seconds(0.0000813), "81.3 µs");
}

TEST(Amount, SizesHaveNoExponent) {
  EXPECT_EQ(show_size(1.0 / 7), "0.1429");
  EXPECT_EQ(show_size(8), "8");
  EXPECT_EQ(show_size(9999.4), "9999");
  EXPECT_EQ(show_size(9999.6), "10,000");
  EXPECT_EQ(show_size(16384), "16,384");
}

}  // namespace
}  // namespace amdahl
