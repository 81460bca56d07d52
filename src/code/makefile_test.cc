#include "code/makefile.h"

#include <gtest/gtest.h>

namespace amdahl::code {
namespace {

TEST(Makefile, FlagsThatAskForLessAreRaised) {
  struct Case {
    const char* name;
    std::string text;
    std::string want;  // Empty: left alone.
    const char* before;
  };
  const Case cases[] = {
      {"a level", "CC = gcc\nCFLAGS = -Wall -O2 -g # fast\n",
       "CC = gcc\nCFLAGS = -Wall -O3 -march=native -ffp-contract=off -g # fast\n", "-O2"},
      {"added to", "CXXFLAGS += -O0\n", "CXXFLAGS += -O3 -march=native -ffp-contract=off\n", "-O0"},
      {"none", "CFLAGS=-Wall -lm\n", "CFLAGS=-Wall -lm -O3 -march=native -ffp-contract=off\n", ""},
      {"for any machine", "CFLAGS := -O3\n", "CFLAGS := -O3 -march=native -ffp-contract=off\n",
       "-O3"},
      {"all there", "CFLAGS = -Ofast -march=native\n", "", ""},
      {"another's recipe", "all:\n\tcc -O2 -o a a.c\n", "", ""},
      {"its recipe",
       "CFLAGS = -Wall\nrun fast: a.c\n\techo -Other\n\tcc $(CFLAGS) -O2 -o run a.c\n",
       "CFLAGS = -Wall\nrun fast: a.c\n\techo -Other\n\tcc $(CFLAGS) -O3 -march=native "
       "-ffp-contract=off -o run a.c\n",
       "-O2"},
      {"not a level", "CFLAGS = -Output\n",
       "CFLAGS = -Output -O3 -march=native -ffp-contract=off\n", ""},
      {"the linker's", "LDFLAGS = -Wl,-O1\n", "", ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto found = faster_build(c.text, "run");
    ASSERT_EQ(found.has_value(), !c.want.empty());
    if (!found) continue;
    EXPECT_EQ(edited(c.text, found->edits), c.want);
    EXPECT_EQ(found->before, c.before);
  }
}

TEST(Makefile, SumsInAnyOrderAreAskedForWhereTheyAreNot) {
  const std::string text =
      "run: run.c\n\tcc -O3 -o run run.c\nfast:\n\tcc -Ofast -march=native -o run run.c\n";
  const auto free = faster_build(text, "run", Rounding::kFree);
  ASSERT_TRUE(free);
  EXPECT_EQ(free->line, 2);
  EXPECT_TRUE(edited(text, free->edits)
                  .starts_with("run: run.c\n\tcc -Ofast -march=native -o run run.c\n"));
  const auto same = faster_build(text, "run");
  ASSERT_TRUE(same) << "what another recipe asks for is no matter";
  EXPECT_TRUE(edited(text, same->edits).starts_with("run: run.c\n\tcc -O3 -march=native -ffp"));
  EXPECT_FALSE(faster_build(text, "fast", Rounding::kFree));
  EXPECT_FALSE(faster_build("CFLAGS = -O3 -ffast-math\n", "run", Rounding::kFree));
}

TEST(Makefile, KnowsWhatItMakes) {
  const std::string text = "A := b\nrun probe: run.c\n\tcc -o run run.c\n";
  EXPECT_TRUE(makes(text, "run"));
  EXPECT_TRUE(makes(text, "probe"));
  EXPECT_FALSE(makes(text, "A"));
  EXPECT_FALSE(makes(text, "cc"));
}

}  // namespace
}  // namespace amdahl::code
