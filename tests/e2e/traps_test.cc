// The traps of fleets' accounting and telemetry, each by its name, through the real program: what
// it must not cost, and that --json and --explain-input say what was done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.

struct Trap {
  const char* name;
  std::string jobs;     // Rows of sacct.
  std::string samples;  // Rows of a long table.
  double allocated;     // Accelerator-seconds in the hour.
  double unobserved;
  double productive;
  const char* trouble;  // "": nothing is to be counted.
  std::uint64_t count;
};

// Of job `id`, on GPU `id` of n1, from and to in seconds.
std::string row(const std::string& id, int from, int to, const std::string& more = "gres/gpu=1") {
  return fmt::format("{0}|{0}|COMPLETED|{1}|{2}|{3}|n1|{4}\n", id, kStart + from, kStart + to,
                     to - from, more);
}

std::string samples(int gpu, int from, int to, const std::string& value,
                    const std::string& job = "") {
  std::string text;
  for (int at = from; at < to; at += 60) {
    text += fmt::format("{},n1,{},{},{}\n", kStart + at, gpu, job, value);
  }
  return text;
}

std::vector<Trap> traps() {
  const std::string full = samples(1, 0, 3600, "50");
  const auto line = [](const std::string& text) { return text + "\n"; };
  return {
      {"AddingSteps",
       row("1", 0, 3600) + row("1.batch", 0, 3600) + row("1.extern", 0, 3600) + row("1.0", 0, 3600),
       full, 3600, 0, 1800, "job step", 3},
      {"TypedPlusUntyped", row("1", 0, 3600, "gres/gpu:a100=1,gres/gpu=1"), full, 3600, 0, 1800, "",
       0},
      {"NotClippingToTheWindow", row("1", -7200, 7200), samples(1, -7200, 7200, "50"), 3600, 0,
       1800, "", 0},
      // The mean over jobs would be 52.5 %.
      {"UnweightedUtilisation", row("1", 0, 3600) + row("2", 0, 600),
       samples(1, 0, 3600, "100") + samples(2, 0, 600, "5"), 4200, 0, 3630, "", 0},
      {"NoSampleJobsTakenAsIdle", row("1", 0, 3600) + row("2", 0, 600), full, 4200, 600, 1800, "",
       0},
      // Held for twice the cadence: 20 min less 2 between, and 28 less 2 at the end.
      {"HoldingASampleAcrossGaps", row("1", 0, 3600),
       samples(1, 0, 600, "100") + samples(1, 1740, 1920, "100"), 3600, 1080 + 1620, 900, "", 0},
      {"DaylightSaving",
       line("1|1|COMPLETED|2023-11-15T00:00:00|2023-11-15T02:00:00|3600|n1|gres/gpu=1"), full, 3600,
       0, 1800, "ambiguous time", 1},
      {"DcgmBlankValues", row("1", 0, 3600),
       samples(1, 0, 3600, "50") + samples(1, 30, 90, "9223372036854775794") +
           samples(1, 35, 95, "2147483632"),
       3600, 0, 1800, "blank value", 2},
      {"RequeuedRecords", row("1", 0, 1200) + row("1", 1800, 3600), full, 3000, 0, 1500,
       "requeued attempt", 1},
      {"DuplicatedRecords", row("1", 0, 3600) + row("1", 0, 3600), full, 3600, 0, 1800,
       "duplicate record", 1},
      {"ArrayJobs",
       line(fmt::format("7_1|71|COMPLETED|{0}|{1}|3600|n1|gres/gpu=1", kStart, kStart + 3600)) +
           line(fmt::format("7_2|72|COMPLETED|{0}|{1}|3600|n1|gres/gpu=1", kStart, kStart + 3600)),
       samples(1, 0, 3600, "50", "71") + samples(2, 0, 3600, "100", "7_2"), 7200, 0, 5400, "", 0},
      {"HetJobs",
       line(fmt::format("8+0|8|COMPLETED|{0}|{1}|3600|n1|gres/gpu=1", kStart, kStart + 3600)) +
           line(fmt::format("8+1|9|COMPLETED|{0}|{1}|3600|n1|gres/gpu=1", kStart, kStart + 3600)),
       samples(1, 0, 3600, "50", "8") + samples(2, 0, 3600, "100", "9"), 7200, 0, 5400, "", 0},
      // Its clock goes ten minutes ahead: what lies after the job's end is not used.
      {"ClockSkew", row("5", 0, 1800), samples(1, 600, 2400, "50", "5"), 1800, 480, 660,
       "clock skew", 10},
      {"EndUnknown", line(fmt::format("1|1|RUNNING|{}|Unknown|3600|n1|gres/gpu=1", kStart)), full,
       3600, 0, 1800, "running job", 1},
      {"NeverStarted",
       row("1", 0, 3600) +
           line(fmt::format("2|2|CANCELLED by 7|{0}|{0}|0|None assigned|", kStart)) +
           line("3|3|PENDING|Unknown|Unknown|0|None assigned|"),
       full, 3600, 0, 1800, "job without accelerators", 2},
      {"UnknownLabels", row("1", 0, 3600), full + samples(2, 0, 600, "50", "4711"), 3600, 0, 1800,
       "unknown job", 10},
      {"SamplesOfNobody", row("1", 0, 3600), full + samples(3, 0, 600, "50"), 3600, 0, 1800,
       "sample without a job", 10},
      {"DuplicateSamples", row("1", 0, 3600), full + samples(1, 3000, 3600, "50"), 3600, 0, 1800,
       "duplicate sample", 10},
      {"ValuesOutOfRange", row("1", 0, 3600),
       samples(1, 0, 3540, "50") + samples(1, 3540, 3600, "250"), 3600, 0, 1800, "out of range", 1},
      {"NotANumber", row("1", 0, 3600), full + samples(1, 30, 90, "NaN"), 3600, 0, 1800,
       "not a finite number", 1},
      {"CutLines", row("1", 0, 3600), full + "1700006400,n1\n", 3600, 0, 1800, "unreadable record",
       1},
      {"EndBeforeStart", row("1", 0, 3600) + row("2", 1800, 600), full, 3600, 0, 1800, "bad time",
       1},
  };
}

class Traps : public testing::TestWithParam<Trap> {};

TEST_P(Traps, CostNothingAndAreCounted) {
  const Trap trap = GetParam();
  Sandbox sandbox;
  sandbox.write("sacct.txt",
                "JobID|JobIDRaw|State|Start|End|ElapsedRaw|NodeList|AllocTRES\n" + trap.jobs);
  const bool has_first = trap.jobs.starts_with("1|1|");
  const bool has_second = trap.jobs.find("2|2|") != std::string::npos;
  sandbox.write("places.csv", std::string("jobid,host,gpu\n") + (has_first ? "1,n1,1\n" : "") +
                                  (has_second ? "2,n1,2\n" : ""));
  sandbox.write("samples.csv",
                "timestamp,Hostname,gpu,hpc_job,DCGM_FI_DEV_GPU_UTIL\n" + trap.samples);
  std::vector<std::string> words = {"scan",   "sacct.txt",  "places.csv", "samples.csv",
                                    "--from", "2023-11-15", "--to",       "2023-11-15T01:00:00",
                                    "--idle", "0"};
  words.emplace_back("--json");
  const Outcome outcome = sandbox.amdahl(words);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json answer = json_of(outcome);
  const Json& split = answer.at("totals").at("split_accelerator_s");
  EXPECT_NEAR(split.at("allocated"), trap.allocated, 1e-6);
  EXPECT_NEAR(split.at("unobserved"), trap.unobserved, 1e-6);
  EXPECT_NEAR(split.at("productive"), trap.productive, 1e-6);
  std::uint64_t counted = 0;
  for (const Json& trouble : answer.at("troubles")) {
    if (trouble.at("name") == trap.trouble) counted = trouble.at("count");
  }
  EXPECT_EQ(counted, trap.count) << answer.at("troubles");
  EXPECT_TRUE(trap.count > 0 || answer.at("troubles").empty()) << answer.at("troubles");
  words.back() = "--explain-input";
  const Outcome explained = sandbox.amdahl(words);
  ASSERT_EQ(explained.code, 0) << explained.err;
  const std::string said = trap.count == 0 ? std::string("Counted\n  nothing")
                                           : fmt::format("{}  {}:", trap.count, trap.trouble);
  EXPECT_NE(explained.out.find(said), std::string::npos) << explained.out;
}

// Where no record can be used there is no job to show; what was lost is said all the same.
TEST(TrapsAlone, RecordsThatAllAreUnreadableAreSaid) {
  Sandbox sandbox;
  sandbox.write("sacct.txt",
                "JobID|State|Start|End|NodeList|AllocTRES\n"
                "1|COMPLETED|15/11/2023 00:00:00|15/11/2023 01:00:00|n1|gres/gpu=1\n");
  sandbox.write("samples.csv", "timestamp,Hostname,gpu,hpc_job,DCGM_FI_DEV_GPU_UTIL\n" +
                                   samples(1, 0, 3600, "50"));
  const Outcome outcome = sandbox.amdahl({"scan", "sacct.txt", "samples.csv"});
  EXPECT_NE(outcome.out.find("1 × bad time"), std::string::npos) << outcome.out << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Each, Traps, testing::ValuesIn(traps()),
                         [](const auto& trap) { return std::string(trap.param.name); });

}  // namespace
}  // namespace amdahl::e2e
