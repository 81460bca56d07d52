#include "base/text.h"

#include <array>

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Text, Pieces) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(lower("AbC-É"), "abc-É");
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string_view>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), std::vector<std::string_view>{""});
  EXPECT_EQ(join(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
}

TEST(Text, Numbers) {
  EXPECT_EQ(to_number<int>("-12"), -12);
  EXPECT_EQ(to_number<int>("12 "), std::nullopt);
  EXPECT_EQ(to_number<int>(""), std::nullopt);
  EXPECT_EQ(to_number<int>("99999999999"), std::nullopt);
  EXPECT_EQ(to_number<double>("1e3"), 1000);
}

TEST(Text, DidYouMean) {
  constexpr std::array<std::string_view, 3> kVerbs = {"scan", "profile", "compare"};
  EXPECT_EQ(did_you_mean("scna", kVerbs), "scan");
  EXPECT_EQ(did_you_mean("scxy", kVerbs), std::nullopt);  // Two slips in four letters.
  EXPECT_EQ(did_you_mean("scam", kVerbs), "scan");
  EXPECT_EQ(did_you_mean("porfile", kVerbs), "profile");
  EXPECT_EQ(did_you_mean("zzz", kVerbs), std::nullopt);
  EXPECT_EQ(did_you_mean("", kVerbs), std::nullopt);
}

TEST(Text, CommandLinesCanBePasted) {
  EXPECT_EQ(shell_quote(std::vector<std::string>{"a", "--b=c", "d e", "", "it's", "$HOME"}),
            "a --b=c 'd e' '' 'it'\\''s' '$HOME'");
}

TEST(Text, Durations) {
  using namespace std::chrono_literals;
  struct Case {
    Nanos time;
    const char* want;
  };
  constexpr Case kCases[] = {
      {0s, "0 s"},       {250us, "250 µs"},    {12ms, "12 ms"},        {1230ms, "1.23 s"},
      {75s, "75 s"},     {245s, "4 min 05 s"}, {182min, "3 h 02 min"}, {72h, "3.0 days"},
      {-12ms, "-12 ms"},
  };
  for (const Case& c : kCases) EXPECT_EQ(show_duration(c.time), c.want);
}

TEST(Text, SharesAndNumbers) {
  EXPECT_EQ(show_percent(0.1234), "12 %");
  EXPECT_EQ(show_percent(0.0123), "1.2 %");
  EXPECT_EQ(show_percent(-0.0), "0.0 %");
  EXPECT_EQ(show_percent(-0.5), "-50 %");
  EXPECT_EQ(show_number(0), "0");
  EXPECT_EQ(show_number(0.0123), "0.0123");
  EXPECT_EQ(show_number(1.234), "1.23");
  EXPECT_EQ(show_number(12.34), "12.3");
  EXPECT_EQ(show_number(123.4), "123");
  EXPECT_EQ(show_number(1234), "1234");
  EXPECT_EQ(show_number(123456.7), "123457");
  EXPECT_EQ(show_number(6.468e-14), "< 0.0001");
  EXPECT_EQ(show_number(-6.468e-14), "> -0.0001");
  EXPECT_EQ(show_number(1e40), "over 10^15");
}

TEST(Text, ClipsByCharacters) {
  EXPECT_EQ(clip("abcdef", 6), "abcdef");
  EXPECT_EQ(clip("abcdef", 4), "abc…");
  EXPECT_EQ(clip("ääää", 4), "ääää");
  EXPECT_EQ(clip("äääää", 3), "ää…");
  EXPECT_EQ(clip("ab", 1), "…");
  EXPECT_EQ(clip("訓練の", 6), "訓練の");
  EXPECT_EQ(clip("訓練の", 5), "訓練…");
  EXPECT_EQ(clip("訓練の", 4), "訓…");
}

}  // namespace
}  // namespace amdahl
