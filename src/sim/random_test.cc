#include "sim/random.h"

#include <cmath>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace amdahl::sim {
namespace {

TEST(Stream, DrawsWhatItIsAskedFor) {
  struct Case {
    const char* name;
    std::function<double(Stream&)> draw;
    double mean;
    double variance;
  };
  const Case kCases[] = {
      {"uniform", [](Stream& s) { return s.uniform(2, 4); }, 3, 1.0 / 3},
      {"normal", [](Stream& s) { return s.normal(1, 2); }, 1, 4},
      {"exponential", [](Stream& s) { return s.exponential(0.5); }, 0.5, 0.25},
      {"gamma 2", [](Stream& s) { return s.gamma(2, 0.5); }, 1, 0.5},
      {"gamma 0.6", [](Stream& s) { return s.gamma(0.6, 2); }, 1.2, 2.4},
      {"student t", [](Stream& s) { return s.student_t(8); }, 0, 8.0 / 6},
      {"pareto", [](Stream& s) { return s.pareto(1, 5); }, 1.25, 5.0 / 48},
      {"chance", [](Stream& s) { return s.chance(0.2) ? 1.0 : 0.0; }, 0.2, 0.16},
      {"below", [](Stream& s) { return static_cast<double>(s.below(5)); }, 2, 2},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Stream stream(7, 1);
    constexpr int kDraws = 40000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = c.draw(stream);
      sum += value;
      squares += (value - c.mean) * (value - c.mean);
    }
    EXPECT_NEAR(sum / kDraws, c.mean, 4 * std::sqrt(c.variance / kDraws));
    EXPECT_NEAR(squares / kDraws, c.variance, 0.1 * c.variance);
  }
}

TEST(Stream, IsTheSameForTheSameNamesAndNoOther) {
  std::set<std::string> seen;
  for (const std::uint64_t seed : {0U, 1U}) {
    for (const std::uint64_t what : {0U, 1U}) {
      for (const std::uint64_t number : {0U, 1U}) {
        const std::string hex = Stream(seed, what, number).hex(32);
        EXPECT_EQ(hex, Stream(seed, what, number).hex(32));
        seen.insert(hex);
      }
    }
  }
  EXPECT_EQ(seen.size(), 8U);
}

}  // namespace
}  // namespace amdahl::sim
