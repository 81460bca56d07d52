#include "compare/draw.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "compare/sample_measurements.h"

namespace amdahl::compare {
namespace {

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> lines_with(const std::string& text, std::string_view sign) {
  std::vector<std::string> found;
  for (const std::string_view line : split(text, '\n')) {
    if (line.find(sign) != line.npos) found.emplace_back(line);
  }
  return found;
}

TEST(Draw, EveryPairIsARowWithADotAndAnInterval) {
  const Account account = account_of(sample_tried(0.08, 0.02, 9));
  const std::string text = draw(account, {.width = 100});
  EXPECT_TRUE(text.starts_with(account.verdict + "\n")) << text;
  const std::vector<std::string> rows = lines_with(text, "●");
  ASSERT_EQ(rows.size(), 10U) << "nine pairs and the legend\n" << text;
  const auto width = [](const std::string& row) {
    const auto from = row.find("├");
    const auto to = row.find("┤");
    return from == row.npos || to == row.npos ? 0 : columns(row.substr(from, to - from));
  };
  EXPECT_EQ(width(rows[0]), 0U) << "one pair bounds nothing";
  EXPECT_GT(width(rows[6]), width(rows[8])) << "the interval narrows\n" << text;
  EXPECT_GT(width(rows[8]), 0U);
}

TEST(Draw, KeepsToItsWidth) {
  const Account account = account_of(sample_tried(0.02, 0.05, 12));
  for (const int width : {50, 60, 79, 80, 100, 200}) {
    const std::string text = draw(account, {.width = width});
    for (const std::string_view line : split(text, '\n')) {
      const bool path = line.find("/state/compare") != line.npos;
      EXPECT_TRUE(path || columns(line) <= static_cast<std::size_t>(width))
          << width << ": " << line;
    }
    EXPECT_EQ(lines_with(text, "●").size(), 13U) << text;
  }
  EXPECT_EQ(draw(account, {.width = 1}), draw(account, {.width = kNarrowest}));
}

TEST(Draw, WhatIsToBeTypedStandsAloneAndWhole) {
  const std::string text = draw(account_of(sample_tried(0.03, 0.03, 4)), {.width = 50});
  EXPECT_NE(text.find("\n               amdahl compare --resume /state/compare/c-1\n"),
            std::string::npos)
      << text;
}

TEST(Draw, AsciiHasTheSameShape) {
  const Account account = account_of(sample_tried(0.08, 0.02, 9));
  const std::string plain = draw(account, {.width = 90, .ascii = true});
  EXPECT_TRUE(std::ranges::all_of(plain, [](char c) {
    return static_cast<unsigned char>(c) < 128;
  })) << plain;
  const std::string rich = draw(account, {.width = 90});
  const auto a = split(plain, '\n');
  const auto b = split(rich, '\n');
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(columns(a[i]), columns(b[i]));
}

TEST(Draw, ColoursOnlyWhenAsked) {
  const Account account = account_of(sample_tried(0.08, 0.02, 9));
  EXPECT_EQ(draw(account, {}).find('\x1b'), std::string::npos);
  const std::string text = draw(account, {.colour = true});
  EXPECT_TRUE(text.starts_with("\x1b[32mB is faster")) << text;
  // What is left without the codes is what is drawn without colour.
  std::string stripped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      stripped += text[i];
    }
  }
  EXPECT_EQ(stripped, draw(account, {}));
}

TEST(Draw, NoCommandWritesToTheTerminal) {
  Measurements measured = sample_tried(0.08, 0.02, 5);
  measured.a = "echo \x1b[2J\r\n\xC2\x9B";
  measured.pairs[4].voided = true;
  measured.pairs[4].void_reason = "B: \x1b]0;title\x07";
  const std::string text = draw(account_of(measured), {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_NE(text.find("echo ?[2J???"), std::string::npos) << text;
}

TEST(Draw, AFarPairIsAnArrowAtTheEdge) {
  Measurements measured = sample_tried(0.08, 0.01, 9);
  measured.pairs[4].b.cost *= 50;
  const std::string text = draw(account_of(measured), {});
  const std::vector<std::string> rows = lines_with(text, "   5 ");
  ASSERT_EQ(rows.size(), 1U) << text;
  EXPECT_NE(rows[0].find("◂"), std::string::npos) << text;
  EXPECT_EQ(rows[0].find("●"), std::string::npos) << text;
}

TEST(Draw, OfVeryManyPairsTheLastAreShown) {
  const std::string text = draw(account_of(sample_tried(0.0001, 0.05, 100)), {});
  EXPECT_EQ(lines_with(text, "●").size(), kMostRows + 1);
  EXPECT_NE(text.find("… 40 earlier pairs"), std::string::npos);
}

TEST(Draw, WithoutPairsThereIsNoPicture) {
  const std::string text = draw(account_of(sample_tried(0, 0.01, 0)), {});
  EXPECT_TRUE(lines_with(text, "●").empty()) << text;
  EXPECT_TRUE(text.starts_with("Cannot tell: no pair was completed.\n"));
}

}  // namespace
}  // namespace amdahl::compare
