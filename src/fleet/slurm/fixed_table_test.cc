// sacct without -P: columns by the dashes below their names, long cells cut with a '+'.
#include "fleet/slurm/fixed_table.h"

#include <gtest/gtest.h>

#include "fleet/feed.h"
#include "fleet/slurm/slurm.h"

namespace amdahl::fleet::slurm {
namespace {

using model::Trouble;

constexpr std::string_view kTable =
    R"(       JobID  JobName      State               Start                 End  NodeList  AllocTRES
------------ -------- ---------- ------------------- ------------------- --------- ---------- 
1001            train  COMPLETED 2026-11-02T00:00:00 2026-11-02T02:00:00 gn[01-02] gres/gpu=8 
1001.batch      batch  COMPLETED 2026-11-02T00:00:00 2026-11-02T02:00:00      gn01 gres/gpu=4 
1234567.ext+   extern  COMPLETED 2026-11-02T00:00:00 2026-11-02T02:00:00 gn[01-02] gres/gpu=8 
1002         a long + OUT_OF_ME+ 2026-11-02T03:00:00 2026-11-02T04:00:00 gn[01,03+ gres/gpu=4 
1003_[5-9%2]      arr    PENDING             Unknown             Unknown None ass+
1004              big  COMPLETED 2026-11-02T03:00:00 2026-11-02T04:00:00      gn01 billing=3+ 
)";

TEST(FixedTable, ReadsWhatSacctShowsToPeople) {
  ASSERT_TRUE(claims(kTable));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{37}}) {
    for (const int threads : {1, 3}) {
      const Fed fed = feed(make, kTable, {.threads = threads}, piece);
      EXPECT_EQ(fed.error, "");
      ASSERT_EQ(fed.told.jobs.size(), 3U);
      const Recorder::Job& first = fed.told.jobs[0];
      EXPECT_EQ(first.id, "1001");
      EXPECT_EQ(first.hosts, "gn[01-02]");
      EXPECT_EQ(first.draft.accelerators, 8);
      EXPECT_EQ(first.draft.end - first.draft.start, std::chrono::hours{2});
      EXPECT_EQ(first.where.line, 3U);
      const Recorder::Job& second = fed.told.jobs[1];
      EXPECT_EQ(second.draft.state, model::JobState::kOutOfMemory);
      EXPECT_EQ(second.hosts, "") << "a list that is cut is not known";
      EXPECT_EQ(fed.told.jobs[2].id, "1003_[5-9%2]");
      EXPECT_EQ(fed.told.count(Trouble::kStep), 2U);
      EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U) << "whose resources are cut";
    }
  }
}

TEST(FixedTable, ColumnsMayComeInAnyOrderAndFilesBehindOneAnother) {
  const std::string bytes =
      "     User   JobID        AllocTRES               Start    Elapsed \n"
      "--------- ------- ---------------- ------------------- ---------- \n"
      "      ada       7       gres/gpu=2 2026-11-02T00:00:00   01:00:00 \n";
  ASSERT_TRUE(claims(bytes));
  const Fed fed = feed(make, bytes + bytes, {});
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[1].id, "7");
  EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 2);
  EXPECT_EQ(fed.told.jobs[1].draft.elapsed, std::chrono::hours{1});
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 0U);
}

// As pandas, R and spreadsheets write what sacct printed: with quotes, and a column of numbers.
TEST(SlurmTable, QuotesOfOthers) {
  const std::string cells =
      "1001,\"cpu=32,gres/gpu=8,node=2\",\"gn[01,03]\",2026-11-02T00:00:00,2026-11-02T02:00:00,"
      "\"a \"\"b\"\", c\"\n";
  const std::string names = "JobID,AllocTRES,NodeList,Start,End,JobName\n";
  const std::string quoted = "\"JobID\",\"AllocTRES\",\"NodeList\",\"Start\",\"End\",\"JobName\"\n";
  for (const std::string& table :
       {names + cells + cells, "," + names + "0," + cells + "1," + cells, quoted + cells + cells}) {
    SCOPED_TRACE(table);
    EXPECT_TRUE(claims(table));
    for (const int threads : {1, 3}) {
      const Fed fed = feed(make, table, {.threads = threads});
      EXPECT_EQ(fed.error, "");
      ASSERT_EQ(fed.told.jobs.size(), 2U);
      EXPECT_EQ(fed.told.jobs[1].id, "1001");
      EXPECT_EQ(fed.told.jobs[1].hosts, "gn[01,03]");
      EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 8);
      EXPECT_EQ(fed.told.count(Trouble::kRepaired) + fed.told.count(Trouble::kBadLine), 0U);
    }
  }
}

// --delimiter=, between lists that have commas themselves.
TEST(SlurmTable, CommasBetweenCommas) {
  const Fed fed = feed(make,
                       "JobID,User,NodeList,Start,End,AllocTRES,State\n"
                       "7,u,gn[01,03],2026-11-02T00:00:00,2026-11-02T02:00:00,"
                       "cpu=32,gres/gpu:a100=8,gres/gpu=8,node=2,COMPLETED\n"
                       "8,u,gn01,2026-11-02T00:00:00,2026-11-02T02:00:00,gres/gpu=2,FAILED\n",
                       {});
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].hosts, "gn[01,03]");
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 8);
  EXPECT_EQ(fed.told.jobs[0].draft.state, model::JobState::kCompleted);
  EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 2);
}

TEST(SlurmTable, AListOfJobsCutOutOfJson) {
  const std::string bytes =
      R"([{"job_id": 7, "association": {"user": "u"}, "state": {"current": ["COMPLETED"]},
      "time": {"start": 1700000000, "end": 1700003600, "elapsed": 3600}, "nodes": "n1",
      "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}]}}])";
  ASSERT_TRUE(claims(bytes));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}}) {
    const Fed fed = feed(make, bytes, {}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 1U);
    EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
    EXPECT_EQ(fed.told.count(Trouble::kTruncated), 0U);
  }
}

TEST(FixedTable, LeavesOtherTablesWithSuchNamesAlone) {
  EXPECT_TRUE(is_fixed_width_header("JobID    User  Start   End    State"));
  EXPECT_FALSE(is_fixed_width_header("JobID    User  NGPUs  Start   End    State"));
}

TEST(FixedTable, SaysWhatIsMissing) {
  const std::string again =
      "run: sacct -a -D -P -o JobID,JobIDRaw,JobName,User,Account,Partition,State,ExitCode,"
      "Submit,Start,End,ElapsedRaw,TimelimitRaw,NNodes,NodeList,ReqTRES,AllocTRES";
  EXPECT_EQ(feed(make, "JobID   State\n------- -------\n1       RUNNING\n", {}).error,
            "is sacct output in fixed-width columns, with too few columns; " + again);
  EXPECT_EQ(
      feed(make, "JobID   JobName   State\n------- ------- -------\n1       x       RUNNING\n", {})
          .error,
      "has no column Start; " + again);
  EXPECT_EQ(
      feed(make, "JobID   State\n1       RUNNING\n", {}).error,
      "is sacct output in fixed-width columns, without the line of dashes under the header; " +
          again);
}

}  // namespace
}  // namespace amdahl::fleet::slurm
