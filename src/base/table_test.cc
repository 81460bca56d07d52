#include "base/table.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

using Lines = std::vector<std::string>;

TEST(Table, NumbersAreAlignedRightAndTextLeft) {
  EXPECT_EQ(table_lines({"name", "h", "limit", "state"},
                        {{"a", "9", "1.20x", "ok"}, {"bcd", "10.5", "no limit", "3 of 4"}}),
            (Lines{"name     h     limit  state", "a        9     1.20x  ok",
                   "bcd   10.5  no limit  3 of 4"}));
}

TEST(Table, AnItemOfANumberedListIsText) {
  EXPECT_EQ(table_lines({"cause", "s"}, {{"1. waits", "2"}, {"2. x", "1"}}),
            (Lines{"cause     s", "1. waits  2", "2. x      1"}));
}

TEST(Table, WidthIsWhatATerminalShows) {
  EXPECT_EQ(table_lines({"x", "y"}, {{"\x1b[1mab\x1b[0m", "µs"}, {"時", "–"}}),
            (Lines{"x   y", "\x1b[1mab\x1b[0m  µs", "時  –"}));
  EXPECT_EQ(table({"only"}, {}), "only\n");
  EXPECT_EQ(table_lines({"a", "b"}, {{"x", ""}}), (Lines{"a  b", "x"}));
}

TEST(Wrap, BreaksAtWordsAndKeepsAPercentWithItsNumber) {
  EXPECT_EQ(wrap_lines("saves 12 % of it", 8), (Lines{"saves", "12 % of", "it"}));
  EXPECT_EQ(wrap_lines("one two", 6, 2, 1), (Lines{"  one", "   two"}));
  EXPECT_EQ(wrap_lines("", 10), (Lines{""}));
  EXPECT_EQ(wrap_lines("/a/long/path here", 5), (Lines{"/a/long/path", "here"}));
}

}  // namespace
}  // namespace amdahl
