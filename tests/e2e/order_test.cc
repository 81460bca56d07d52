// Samples in any order and of any clock, through the real program: the answer is that of the
// sorted file without the broken clocks, and what was done is counted.
#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness.h"

namespace amdahl::e2e {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.

std::string line(std::int64_t at, const std::string& host, int gpu, int value) {
  return fmt::format("{},{},{},{}\n", at, host, gpu, value);
}

// An hour of two accelerators, a sample in half a minute, with a gap of ten minutes.
std::vector<std::string> hour() {
  std::vector<std::string> lines;
  for (int i = 0; i < 120; ++i) {
    if (i >= 40 && i < 60) continue;
    lines.push_back(line(kStart + i * 30, "n1", 0, i % 4 == 0 ? 0 : 80));
    lines.push_back(line(kStart + i * 30, "n1", 1, i % 3 == 0 ? 0 : 60));
  }
  return lines;
}

std::string table(const std::vector<std::string>& lines) {
  std::string text = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";
  for (const std::string& one : lines) text += one;
  return text;
}

class Order : public testing::Test {
 protected:
  void SetUp() override { write_jobs("COMPLETED", fmt::format("{}", kStart + 3600)); }

  void write_jobs(const std::string& state, const std::string& end) {
    sandbox_.write("sacct.txt", fmt::format("JobID|State|Start|End|ElapsedRaw|NodeList|AllocTRES\n"
                                            "1|{}|{}|{}|3600|n1|gres/gpu=2\n",
                                            state, kStart, end));
  }

  Json scan(const std::vector<std::string>& lines, bool is_piped = false) {
    sandbox_.write("samples.csv", table(lines));
    const Outcome outcome =
        run({"sh", "-c",
             fmt::format("'{}' scan --state state --fresh --json sacct.txt {}", program(),
                         is_piped ? "- < samples.csv" : "samples.csv")},
            {}, sandbox_.path());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out) : Json();
  }

  static std::uint64_t trouble(const Json& answer, const std::string& name) {
    for (const Json& row : answer["troubles"]) {
      if (row["name"] == name) return row["count"];
    }
    return 0;
  }

  void expect_same(const Json& answer, const Json& sorted) {
    EXPECT_EQ(answer["totals"], sorted["totals"]);
    EXPECT_EQ(answer["samples_attributed"], sorted["samples_attributed"]);
    EXPECT_EQ(answer["window"], sorted["window"]);
    EXPECT_EQ(trouble(answer, "sample out of order"), 0U);
  }

  Sandbox sandbox_;
};

TEST_F(Order, OfRowsDoesNotMatter) {
  const std::vector<std::string> lines = hour();
  const Json sorted = scan(lines);
  EXPECT_EQ(sorted["samples_attributed"], 200);
  EXPECT_EQ(trouble(sorted, "late sample"), 0U);
  std::vector<std::string> other = lines;
  std::ranges::reverse(other);
  const Json reversed = scan(other);
  expect_same(reversed, sorted);
  EXPECT_EQ(trouble(reversed, "late sample"), 198U);
  std::mt19937 luck(7);
  std::ranges::shuffle(other, luck);
  const Json shuffled = scan(other);
  expect_same(shuffled, sorted);
  EXPECT_EQ(trouble(shuffled, "duplicate sample"), 0U);
  EXPECT_GT(trouble(shuffled, "late sample"), 100U);
  other.insert(other.end(), lines.begin(), lines.end());  // And all of it twice.
  const Json twice = scan(other);
  expect_same(twice, sorted);
  EXPECT_EQ(trouble(twice, "duplicate sample"), 200U);
}

// What was missing comes at the end: there is no gap.
TEST_F(Order, AGapThatIsFilledLaterIsNone) {
  std::vector<std::string> lines = hour();
  for (int i = 40; i < 60; ++i) {
    lines.push_back(line(kStart + i * 30, "n1", 0, 100));
    lines.push_back(line(kStart + i * 30, "n1", 1, 100));
  }
  const Json late = scan(lines);
  std::ranges::stable_sort(lines, {}, [](const std::string& one) { return one.substr(0, 10); });
  expect_same(late, scan(lines));
  EXPECT_NEAR(late["totals"]["split_accelerator_s"]["unobserved"], 0, 1e-6);
  EXPECT_EQ(trouble(late, "duplicate sample"), 0U);
}

// A pipe cannot be read again: what is not used is said by its name.
TEST_F(Order, OfAPipeIsSaid) {
  std::vector<std::string> lines = hour();
  std::mt19937 luck(7);
  std::ranges::shuffle(lines, luck);
  const Json answer = scan(lines, true);
  const std::uint64_t unused = trouble(answer, "sample out of order");
  EXPECT_GT(unused, 0U);
  EXPECT_EQ(answer["samples_attributed"].get<std::uint64_t>() + unused +
                trouble(answer, "duplicate sample"),
            200U);
}

TEST_F(Order, ClocksThatWereNotSetDoNotStretchTheWindow) {
  const std::vector<std::string> lines = hour();
  for (const bool is_running : {false, true}) {
    if (is_running) write_jobs("RUNNING", "Unknown");
    const Json sane = scan(lines);
    for (const std::int64_t at : {std::int64_t{86'400}, std::int64_t{4'294'967'296}}) {
      for (const bool is_first : {true, false}) {
        SCOPED_TRACE(fmt::format("{} {} {}", is_running, at, is_first));
        std::vector<std::string> broken = lines;
        broken.insert(is_first ? broken.begin() : broken.begin() + 100, line(at, "n1", 0, 50));
        const Json answer = scan(broken);
        expect_same(answer, sane);
        EXPECT_EQ(trouble(answer, "broken clock"), 1U) << answer["troubles"];
      }
    }
  }
}

TEST_F(Order, HostsAreOneHoweverTheyAreSpelled) {
  std::vector<std::string> lines = hour();
  const Json same = scan(lines);
  for (std::string& one : lines) one.replace(one.find("n1"), 2, "N1.cluster");
  const Json upper = scan(lines);
  expect_same(upper, same);
  for (std::string& one : lines) one.replace(one.find("N1"), 2, "x9");
  const Json other = scan(lines);
  EXPECT_EQ(other["samples_attributed"], 0);
  EXPECT_NE(other.dump().find("samples are of x9; jobs ran on n1: no host is in both"),
            std::string::npos)
      << other["troubles"];
}

}  // namespace
}  // namespace amdahl::e2e
