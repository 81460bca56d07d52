// Traces of Ascend against what its own profiler says of them (step_trace_time.csv).
#include <fstream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "base/text.h"
#include "profile/breakdown.h"
#include "trace/testing.h"

namespace amdahl::profile {
namespace {

// The first row, by column; microseconds.
std::map<std::string, double> step_times(const std::string& path) {
  std::ifstream file(path);
  std::string head;
  std::string row;
  std::getline(file, head);
  std::getline(file, row);
  std::map<std::string, double> times;
  const std::vector<std::string_view> names = split(trim(head), ',');
  const std::vector<std::string_view> values = split(trim(row), ',');
  for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i) {
    times[std::string(names[i])] = to_number<double>(values[i]).value_or(-1);
  }
  return times;
}

TEST(Ascend, FiguresAreThoseOfItsProfiler) {
  if (trace::corpus().empty()) GTEST_SKIP() << "AMDAHL_CORPUS is not set";
  for (const std::string rank : {"level0_rank0", "level0_rank1"}) {
    SCOPED_TRACE(rank);
    const std::string path = trace::corpus() + "traces/ascend/" + rank;
    const auto loaded =
        trace::load(*trace::reader_named("kineto"), rank, trace::bytes_of(path + ".json.gz"));
    ASSERT_TRUE(loaded) << loaded.error().text;
    auto want = step_times(path + ".step_trace_time.csv");
    const std::vector<DeviceBreakdown> devices = break_down(*loaded);
    ASSERT_EQ(devices.size(), 1u);
    const DeviceBreakdown& got = devices.front();
    const auto us = [](Nanos time) { return to_seconds(time) * 1e6; };
    // The profiler rounds each of its pieces to a nanosecond.
    constexpr double kRounding = 0.2;
    EXPECT_NEAR(us(got.compute), want["Computing"], kRounding);
    EXPECT_NEAR(us(got.communication), want["Communication"], kRounding);
    EXPECT_NEAR(us(got.overlapped), want["Overlapped"], kRounding);
    EXPECT_NEAR(us(got.exposed_communication), want["Communication(Not Overlapped)"], kRounding);
  }
}

}  // namespace
}  // namespace amdahl::profile
