#include "ingest/sort.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "fleet/testing.h"
#include "os/files.h"
#include "scan/usage_accumulator.h"

namespace amdahl::ingest {
namespace {

using std::chrono::seconds;

model::SeriesKey key(std::string_view device) {
  model::SeriesKey key{};
  key.host = "n1";
  key.accelerator = device;
  key.metric = "DCGM_FI_DEV_GPU_UTIL";
  return key;
}

// In memory and in a file of many parts alike; of equal times the first that came is the first.
TEST(Sort, PutsTheSeriesNamedInOrderAndPassesOnTheOthers) {
  const std::string path = testing::TempDir() + "amdahl-sort-test";
  for (const std::size_t in_memory : {std::size_t{1} << 20, std::size_t{7}}) {
    fleet::Recorder told;
    const Sorter::Names names{scan::series_name(key("0")), scan::series_name(key("1"))};
    Sorter sorter(told, names, path, in_memory);
    std::vector<fleet::SeriesId> series;
    for (const std::string_view device : {"0", "1", "2"}) {
      series.push_back(sorter.series(key(device)));
    }
    std::vector<int> times(100);
    for (int i = 0; i < 100; ++i) times[static_cast<std::size_t>(i)] = i;
    std::mt19937 luck(5);
    std::ranges::shuffle(times, luck);
    for (const int at : times) {
      for (const fleet::SeriesId id : series) {
        const fleet::Sample sample{seconds(at), static_cast<float>(at)};
        sorter.rows({&id, 1}, {&sample, 1});
      }
    }
    const fleet::Sample again{seconds(50), 7};
    sorter.samples(series[1], {&again, 1});
    EXPECT_EQ(sorter.held(), 201U);
    EXPECT_EQ(os::exists(path + ".part"), in_memory == 7);
    ASSERT_TRUE(sorter.tell_held({}));
    EXPECT_FALSE(os::exists(path + ".part"));
    ASSERT_EQ(told.samples_of[0].size(), 100U);
    ASSERT_EQ(told.samples_of[1].size(), 101U);
    ASSERT_EQ(told.samples_of[2].size(), 100U);
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(told.samples_of[0][i].at, seconds(i));
      EXPECT_EQ(told.samples_of[2][i].at, seconds(times[i])) << "which was not named";
    }
    EXPECT_EQ(told.samples_of[1][50].value, 50);
    EXPECT_EQ(told.samples_of[1][51].value, 7);
    EXPECT_GT(told.count(model::Trouble::kLateSample), 100U);
  }
}

TEST(Sort, SaysWhyItCannotWrite) {
  fleet::Recorder told;
  const Sorter::Names names{scan::series_name(key("0"))};
  Sorter sorter(told, names, "/proc/there/is/no/such", 2);
  const fleet::SeriesId id = sorter.series(key("0"));
  const std::vector<fleet::Sample> samples(5);
  sorter.samples(id, samples);
  const auto done = sorter.tell_held({});
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().text.find("/proc/there/is/no/such"), std::string::npos);
}

}  // namespace
}  // namespace amdahl::ingest
