#include "agent/route.h"

#include <gtest/gtest.h>

namespace amdahl::agent {
namespace {

TEST(Route, GoesUpOnlyWhenTheCheaperGaveNothing) {
  struct Case {
    const char* name;
    Standing standing;
    std::optional<int> want;
  };
  const std::vector<double> two{0, 0.5};
  for (const Case& c :
       std::vector<Case>{{"no models", {{}}, {}},
                         {"rules have ideas", {two, true}, {}},
                         {"rules are done", {two}, 0},
                         {"local is thinking", {two, false, {{0, false, false}}}, {}},
                         {"local gave nothing that lasted", {two, false, {{0, true, false}}}, 1},
                         {"local won", {two, false, {{0, true, true}}}, {}},
                         {"its ideas are under test", {two, true, {{0, true, false}}}, {}},
                         {"all were asked", {two, false, {{0, true, false}, {1, true, false}}}, {}},
                         {"too little to win", {two, false, {{0, true, false}}, 0.4}, {}},
                         {"enough to win", {two, false, {{0, true, false}}, 0.6}, 1},
                         {"a local model costs nothing", {two, false, {}, 0.0}, 0}}) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(next_tier(c.standing), c.want);
  }
}

}  // namespace
}  // namespace amdahl::agent
