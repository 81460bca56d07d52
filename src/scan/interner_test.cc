#include "scan/interner.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace amdahl::scan {
namespace {

TEST(Interner, EachOnceAndFoundAgain) {
  Interner words;
  EXPECT_EQ(words.intern(""), 0U);
  std::vector<WordId> ids;
  for (int i = 0; i < 5000; ++i) ids.push_back(words.intern("word-" + std::to_string(i)));
  Interner moved = std::move(words);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = "word-" + std::to_string(i);
    EXPECT_EQ(ids[static_cast<std::size_t>(i)], static_cast<WordId>(i + 1));
    EXPECT_EQ(moved.intern(text), static_cast<WordId>(i + 1));
    EXPECT_EQ(moved[static_cast<WordId>(i + 1)], text);
  }
  EXPECT_EQ(moved.find("word-77"), 78U);
  EXPECT_EQ(moved.find("another"), 0U);
  EXPECT_EQ(moved.size(), 5001U);
}

}  // namespace
}  // namespace amdahl::scan
