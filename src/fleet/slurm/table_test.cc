// Records whose free text holds delimiters and line ends, as `sacct -P -o ALL` prints them.
#include "fleet/slurm/table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fleet/feed.h"
#include "fleet/slurm/slurm.h"

namespace amdahl::fleet::slurm {
namespace {

using model::Trouble;

constexpr std::string_view kTableHeader =
    "AllocTRES|Comment|Elapsed|ElapsedRaw|End|JobID|JobName|NodeList|Start|State|SubmitLine|User|"
    "WorkDir\n";

std::string row(std::string_view id, std::string_view comment, std::string_view name,
                std::string_view line, std::string_view folder = "/home/u") {
  return fmt::format(
      "gres/gpu=2|{}|01:00:00|3600|2024-03-01T01:00:00|{}|{}|n{}|2024-03-01T00:00:00|COMPLETED|{}|"
      "u|{}\n",
      comment, id, name, id, line, folder);
}

Fed read_table(std::string_view bytes) {
  const Fed whole = feed(make, bytes, {});
  for (const int threads : {1, 3}) {
    for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{100}}) {
      const Fed other = feed(make, bytes, {.threads = threads}, piece);
      EXPECT_EQ(other.told.counts, whole.told.counts);
      EXPECT_EQ(other.told.jobs.size(), whole.told.jobs.size());
      for (std::size_t i = 0; i < std::min(other.told.jobs.size(), whole.told.jobs.size()); ++i) {
        EXPECT_EQ(other.told.jobs[i].id, whole.told.jobs[i].id);
        EXPECT_EQ(other.told.jobs[i].name, whole.told.jobs[i].name);
        EXPECT_EQ(other.told.jobs[i].script, whole.told.jobs[i].script);
        EXPECT_EQ(other.told.jobs[i].where.line, whole.told.jobs[i].where.line);
      }
    }
  }
  return whole;
}

TEST(SlurmTable, FreeTextMayHoldDelimitersAndLineEnds) {
  const std::string bytes = std::string(kTableHeader) + row("1", "", "a", "sbatch --wrap python") +
                            row("2", "", "b", "sbatch --wrap 'zcat x | python t.py'") +
                            row("3", "", "c", "sbatch --wrap \"echo\na; b\"") +
                            row("4", "{\"a\": \"b|c\"}", "d|e|f", "srun a || b") +
                            row("5", "one\n\ntwo|\nthree", "g", "srun 'a|\nb'") +
                            row("6", "", "h", "srun a|", "") +  // With a last column that is empty.
                            row("7", "", "i", "srun x", "/tmp/a\nb") + row("8", "", "j", "srun y");
  const Fed fed = read_table(bytes);
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    const Recorder::Job& job = fed.told.jobs[i];
    SCOPED_TRACE(job.id);
    EXPECT_EQ(job.id, std::to_string(i + 1));
    EXPECT_EQ(job.hosts, "n" + job.id);
    EXPECT_EQ(job.user, "u");
    EXPECT_EQ(job.draft.accelerators, 2);
    EXPECT_EQ(job.draft.elapsed, std::chrono::hours{1});
  }
  EXPECT_EQ(fed.told.jobs[1].script, "sbatch --wrap 'zcat x | python t.py'");
  EXPECT_EQ(fed.told.jobs[2].script, "sbatch --wrap \"echo\na; b\"");
  EXPECT_EQ(fed.told.jobs[3].name, "d|e|f");
  EXPECT_EQ(fed.told.jobs[3].script, "srun a || b");
  EXPECT_EQ(fed.told.count(Trouble::kRepaired), 6U);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 0U);
}

TEST(SlurmTable, BlocksAreNotCutWithinARecord) {
  std::string bytes(kTableHeader);
  for (int i = 1; i <= 6000; ++i) {
    bytes += row(std::to_string(i), "", "train", "sbatch --wrap 'a |\nb\nc'");
  }
  const Fed one = feed(make, bytes, {});
  const Fed three = feed(make, bytes, {.threads = 3});
  EXPECT_EQ(one.told.jobs.size(), 6000U);
  EXPECT_EQ(three.told.jobs.size(), 6000U);
  EXPECT_EQ(three.told.counts, one.told.counts);
  EXPECT_EQ(three.told.count(Trouble::kBadLine), 0U);
}

TEST(SlurmTable, WhatIsCutIsStillSaid) {
  const std::string bytes = std::string(kTableHeader) + row("1", "", "a", "x") +
                            "gres/gpu=2||01:00:00|3600|2024-03-01T01:00:00|2|b\n" +
                            row("3", "", "c", "y");
  const Fed fed = read_table(bytes);
  EXPECT_EQ(fed.told.jobs.size(), 2U);
  ASSERT_EQ(fed.told.complaints.size(), 1U);
  EXPECT_EQ(fed.told.complaints[0].text, "has 7 cells, expected 13");
  EXPECT_EQ(fed.told.complaints[0].where.line, 3U);
}

TEST(SlurmTable, CountsThatCannotBeAndStatesThatAreCut) {
  const auto record = [](int id, std::string_view state, std::string_view elapsed,
                         std::string_view tres) {
    return fmt::format("{}|{}|2024-03-01T00:00:00|2024-03-01T01:00:00|{}|{}|n1\n", id, state,
                       elapsed, tres);
  };
  const Fed fed = read_table(
      "JobID|State|Start|End|ElapsedRaw|AllocTRES|NodeList\n" +
      record(1, "COMPLETED", "3600", "gres/gpu=-2") +
      record(2, "COMPLETED", "3600", "cpu=1,gres/gpu=99999999999999") +
      record(3, "completed", "3600", "gres/gpu=1") + record(4, "OUT_OF_ME+", "3600", "gres/gpu=1") +
      record(5, "WOBBLED", "3600", "gres/gpu=1") + record(6, "COMPLETED", "360000", "gres/gpu=1") +
      record(7, "COMPLETED", "1800", "gres/gpu=1"));
  ASSERT_EQ(fed.told.jobs.size(), 5U);
  ASSERT_FALSE(fed.told.complaints.empty());
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 2U);
  EXPECT_EQ(fed.told.complaints[0].text,
            "'gres/gpu=-2' has a count of accelerators that cannot be read");
  EXPECT_EQ(fed.told.jobs[0].draft.state, model::JobState::kCompleted);
  EXPECT_EQ(fed.told.jobs[1].draft.state, model::JobState::kOutOfMemory);
  EXPECT_EQ(fed.told.jobs[2].draft.state, model::JobState::kOther);
  EXPECT_EQ(fed.told.count(Trouble::kUnknownState), 1U);
  EXPECT_EQ(fed.told.jobs[3].draft.elapsed, std::chrono::hours{1}) << "no clock hides 99 hours";
  EXPECT_EQ(fed.told.jobs[4].draft.elapsed, std::chrono::minutes{30}) << "it was suspended";
  EXPECT_EQ(fed.told.count(Trouble::kOddElapsed), 2U);
}

TEST(SlurmTable, TheClusterOfEachJob) {
  const Fed fed = read_table(
      "Cluster|JobID|Start|End|AllocTRES\n"
      "alpha|7|2024-03-01T00:00:00|2024-03-01T01:00:00|gres/gpu=2\n"
      "beta|7|2024-03-01T00:00:00|2024-03-01T01:00:00|gres/gpu=2\n");
  ASSERT_EQ(fed.told.jobs.size(), 2U) << fed.error;
  EXPECT_EQ(fed.told.jobs[0].cluster, "alpha");
  EXPECT_EQ(fed.told.jobs[1].cluster, "beta");
}

}  // namespace
}  // namespace amdahl::fleet::slurm
