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
      {"C and C++", "override CFLAGS := -O3 $(X)\noverride CXXFLAGS := -O2 $(X)\n",
       "override CFLAGS := -O3 -march=native -ffp-contract=off $(X)\n"
       "override CXXFLAGS := -O3 -march=native -ffp-contract=off $(X)\n",
       "-O3"},
      {"on the next line", "CFLAGS = -Wall \\\n  -O1\nA = -O0\n",
       "CFLAGS = -Wall \\\n  -O3 -march=native -ffp-contract=off\nA = -O0\n", "-O1"},
      {"of its objects", "run: a.o\n\tcc -o run a.o\n%.o: %.c\n\tcc -O2 -c $<\n",
       "run: a.o\n\tcc -o run a.o\n%.o: %.c\n\tcc -O3 -march=native -ffp-contract=off -c $<\n",
       "-O2"},
      {"no flags", "run: a.c\n\t@gcc a.c -o run -lm\n",
       "run: a.c\n\t@gcc -O3 -march=native -ffp-contract=off a.c -o run -lm\n", ""},
      {"make's own rules", "run: run.o b.o\n",
       "CFLAGS += -O3 -march=native -ffp-contract=off\nCXXFLAGS += -O3 -march=native "
       "-ffp-contract=off\nrun: run.o b.o\n",
       ""},
      {"no compiler", "run: a.py\n\tcp a.py run\n", "", ""},
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
  const std::string text =
      "A := b\nNAME = tra\nBIN = bin\nTARGET := $(BIN)/$(NAME)cer\nrun probe: run.c\n\tcc -o run "
      "run.c\n$(TARGET): x.o\n\tcc -o $@ x.o\nbuild: y.c\n\tcc -O2 -o yes y.c\n";
  struct Case {
    const char* file;
    const char* want;
  };
  const Case cases[] = {{"run", "run"},   {"probe", "probe"}, {"bin/tracer", "bin/tracer"},
                        {"yes", "build"}, {"A", ""},          {"cc", ""}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    EXPECT_EQ(maker_of(text, c.file).value_or(""), c.want);
  }
}

}  // namespace
}  // namespace amdahl::code
