#include "trace/kineto/decimal.h"

#include <gtest/gtest.h>

namespace amdahl::trace::kineto {
namespace {

TEST(Decimal, TimesAreExactToTheNanosecond) {
  struct Case {
    std::string_view token;
    std::optional<std::int64_t> want;
  };
  constexpr Case kCases[] = {
      {"0", 0},
      {"12", 12'000},
      {"12 ", 12'000},
      {"1683564901556743.125\n    ", 1'683'564'901'556'743'125},
      {"1683564901556743.1", 1'683'564'901'556'743'100},
      {"\"3605057436108.407\"", 3'605'057'436'108'407},
      {"-5.25", -5'250},
      {"0.0004", 0},
      {"0.0005", 1},
      {"-0.0005", -1},
      {"1.23456", 1'235},
      {"1e3", 1'000'000},
      {"1.5E+3", 1'500'000},
      {"25e-1", 2'500},
      {"1e-300", 0},
      {"9223372036854775.807", INT64_MAX},
      {"9223372036854775.808", {}},
      {"1e300", {}},
      {"123456789012345678901234567890", {}},
      {"0.00000000000000000000000000000001", 0},
      {"0e999999", 0},
      {"NaN", {}},
      {"-nan", {}},
      {"Infinity", {}},
      {"null", {}},
      {"", {}},
      {".", {}},
      {"-", {}},
      {"1.2.3", {}},
      {"1e", {}},
      {"12x", {}},
      {"{", {}},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.token);
    EXPECT_EQ(nanos_of(c.token), c.want);
  }
}

TEST(Decimal, IntegersMayBeInQuotesOrHexadecimal) {
  EXPECT_EQ(integer_of("7"), 7);
  EXPECT_EQ(integer_of("\"25738\""), 25738);
  EXPECT_EQ(integer_of("\"0x1F\""), 31);
  EXPECT_EQ(integer_of("-1"), -1);
  EXPECT_EQ(integer_of("7.9"), 7);
  EXPECT_EQ(integer_of("2e2"), 200);
  EXPECT_EQ(integer_of("\"stream 7\""), std::nullopt);
  EXPECT_EQ(integer_of("0xFFFFFFFFFFFFFFFF"), std::nullopt);
  EXPECT_EQ(integer_of("\"Spans\""), std::nullopt);
}

TEST(Decimal, MeasuredFiguresAreFiniteOrNothing) {
  EXPECT_EQ(real_of(" 12.5 "), 12.5);
  EXPECT_EQ(real_of("inf"), std::nullopt);
  EXPECT_EQ(real_of("nan"), std::nullopt);
  EXPECT_EQ(real_of("1e999"), std::nullopt);
}

}  // namespace
}  // namespace amdahl::trace::kineto
