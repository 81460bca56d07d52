// What is known is not more than was told: of lone samples, and of jobs without an end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/hour_testing.h"
#include "scan/usage_testing.h"

namespace amdahl::ingest {
namespace {

using namespace scan;

using model::Trouble;
using std::chrono::seconds;

// What a file of long ago says of jobs without an end.
TEST(Known, JobsWithoutAnEndEndWithWhatIsKnown) {
  const auto line = [](const char* id, const char* state, std::string_view end) {
    return fmt::format("{}|{}|{}|{}|gres/gpu=2|n1\n", id, state, kStart, end);
  };
  const std::string later = std::to_string(kStart + 3600);
  const std::string header = "JobID|State|Start|End|AllocTRES|NodeList\n";
  const TextInput jobs = text_input("sacct.txt", header + line("1", "RUNNING", "Unknown") +
                                                     line("2", "COMPLETED", later) +
                                                     line("3", "COMPLETED", "Unknown"));
  for (const bool is_old : {true, false}) {
    const Nanos now = seconds(kStart) + std::chrono::hours(is_old ? 1000 : 20);
    const FleetUsage usage = read_texts({jobs}, {.from = seconds(kStart), .to = now}, now).usage;
    ASSERT_EQ(usage.jobs.size(), 2U);
    EXPECT_NEAR(usage.jobs[0].split.allocated, 2 * 3600 * (is_old ? 1 : 20), 1e-6);
    EXPECT_NEAR(usage.jobs[1].split.allocated, 2 * 3600, 1e-6);
    EXPECT_EQ(count_of(usage, Trouble::kBadTime), 1U);
  }
}

// Nobody knows how long it holds, but not for an hour.
TEST(Known, OneSampleIsNoHour) {
  const TextInput jobs =
      text_input("sacct.txt", std::string(kSacct) + sacct_line("1", 0, 3600, "n1", "gres/gpu=1"));
  const TextInput place = text_input("place.csv", "jobid,host,gpu\n1,n1,0\n");
  const std::string header = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";
  const std::string sample = fmt::format("{},n1,0,100\n", kStart + 600);
  const auto observed = [&](const std::string& rows) {
    const FleetUsage usage = scan_all({jobs, place, text_input("dcgm.csv", header + rows)});
    return to_seconds(usage.lanes.at(0).observed);
  };
  EXPECT_NEAR(observed(sample), 240, 1);
  // Those before the window tell how often they come.
  std::string before;
  for (int i = 100; i > 0; --i) before += fmt::format("{},n1,0,100\n", kStart - 30 * i);
  EXPECT_NEAR(observed(before + sample), 120, 1);
}

}  // namespace
}  // namespace amdahl::ingest
