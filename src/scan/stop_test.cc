// ^C must not wait for millions of places to be joined, nor for as many rows to be sorted.
#include "scan/stop.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "scan/ranked.h"
#include "scan/usage_accumulator.h"

namespace amdahl::scan {
namespace {

TEST(Stop, WhileAnAccumulatorSettles) {
  constexpr int kPlaces = 100'000;
  int asked = 0;
  UsageOptions options;
  options.stop = [&] { return ++asked > 3; };
  UsageAccumulator accumulator(options);
  for (int i = 0; i < kPlaces; ++i)
    accumulator.tell(fleet::Assignment{std::to_string(i), "h1", "0"});
  const auto series = accumulator.series({.host = "h1",
                                          .accelerator = "0",
                                          .uuid = {},
                                          .slice = {},
                                          .job = {},
                                          .metric = "DCGM_FI_DEV_GPU_UTIL",
                                          .kind = {}});
  const fleet::Sample sample{std::chrono::seconds(1'700'000'000), 50};
  accumulator.samples(series, {&sample, 1});
  const FleetUsage usage = std::move(accumulator).finish();
  std::uint64_t unknown = 0;
  for (const TroubleCount& row : usage.troubles) {
    if (row.trouble == model::Trouble::kUnknownJob) unknown = row.count;
  }
  EXPECT_EQ(unknown, 3U * 4096) << "not all of them";
}

TEST(Stop, WhileRowsAreSorted) {
  constexpr std::uint32_t kItems = 10'000;
  const auto key = [](std::uint32_t i) { return Key{static_cast<double>(i)}; };
  const auto name = [](std::uint32_t) { return std::string_view(); };
  const auto all = ranked(kItems, 0, key, name, Stop({}));
  ASSERT_EQ(all.size(), kItems);
  EXPECT_TRUE(std::ranges::is_sorted(all, std::ranges::greater{}));
  int asked = 0;  // Thrice while they are gathered.
  const auto some = ranked(kItems, 0, key, name, Stop([&] { return ++asked > 3; }));
  EXPECT_EQ(asked, 4);
  EXPECT_FALSE(std::ranges::is_sorted(some, std::ranges::greater{}));
}

}  // namespace
}  // namespace amdahl::scan
