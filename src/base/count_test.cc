#include "base/count.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Counted, OneIsSingularAndNoneIsNot) {
  EXPECT_EQ(counted(0, "pair"), "0 pairs");
  EXPECT_EQ(counted(1, "pair"), "1 pair");
  EXPECT_EQ(counted(2, "pair"), "2 pairs");
  EXPECT_EQ(counted(1, "family", "families"), "1 family");
  EXPECT_EQ(counted(5, "family", "families"), "5 families");
}

}  // namespace
}  // namespace amdahl
