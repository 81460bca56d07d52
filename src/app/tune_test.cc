#include "app/tune.h"

#include <gtest/gtest.h>

namespace amdahl::app {
namespace {

using std::chrono::seconds;

TEST(TimeForIdeas, NothingIsKeptForTheStackUntilSomethingIsWon) {
  struct Case {
    int elapsed_s;
    double job_s;
    bool won;
    int want_s;
  };
  const Case cases[] = {
      {60, 10, false, 300}, {60, 10, true, 210},  {60, 2, true, 280},
      {300, 10, true, 0},   {300, 10, false, 60}, {400, 1, false, 0},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(time_for_ideas(seconds(360), seconds(c.elapsed_s), c.job_s, c.won),
              Nanos(seconds(c.want_s)));
  }
}

}  // namespace
}  // namespace amdahl::app
