#include "scan/unit.h"

#include <gtest/gtest.h>

namespace amdahl::scan {
namespace {

TEST(Unit, LittleTimeIsInSeconds) {
  struct Case {
    double seconds;
    const char* want;
  };
  constexpr Case kCases[] = {
      {0, "0 accelerator-hours"},        {0.18219, "0.18 accelerator-seconds"},
      {35, "35.0 accelerator-seconds"},  {36, "0.01 accelerator-hours"},
      {45000, "12.5 accelerator-hours"}, {3.6e9, "1,000,000 accelerator-hours"},
  };
  for (const Case& c : kCases) EXPECT_EQ(in_words(c.seconds), c.want);
}

}  // namespace
}  // namespace amdahl::scan
