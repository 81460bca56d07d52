#include "fleet/values.h"

#include <gtest/gtest.h>

namespace amdahl::fleet {
namespace {

using model::Trouble;

// Trap: DCGM's blanks look like very busy accelerators.
TEST(Values, BlanksAreNoNumbers) {
  for (const std::string_view text :
       {"9223372036854775792", "9223372036854775793", "9223372036854775794", "9223372036854775795",
        "9223372036854775807", "9.223372036854776e+18", "2147483632", "2147483633", "2147483634",
        "2147483647", "140737488355328", "140737488355330.0", "", "N/A", "[N/A]", "[Not Supported]",
        "[Unknown Error]", "null", "-"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read_value(text).trouble, Trouble::kBlankValue);
  }
  for (const std::string_view text : {"NaN", "nan", "inf", "+Inf", "-inf", "1e999"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read_value(text).trouble, Trouble::kNotFinite);
  }
  for (const std::string_view text : {"busy", "1,5", "2017-10-11", "0x10", "1 2"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(read_value(text).trouble, Trouble::kBadLine);
  }
}

TEST(Values, NumbersMayHaveUnits) {
  EXPECT_EQ(read_value("83 %").number, 83);
  EXPECT_EQ(read_value(" 189.70 W ").number, 189.70);
  EXPECT_EQ(read_value("\"7\"").number, 7);
  EXPECT_EQ(read_value("+1e-3").number, 1e-3);
  EXPECT_EQ(read_value("2147483631").number, 2147483631.0);
  EXPECT_TRUE(read_value("0"));
}

}  // namespace
}  // namespace amdahl::fleet
