#include "fleet/sge/sge.h"

#include <string>

#include <gtest/gtest.h>

#include "fleet/feed.h"

namespace amdahl::fleet::sge {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::seconds;

// The fields between exit status and project, which nothing is read from.
const std::string kUsage = ":3600:1.0:1.0:0.0:0:0:0:0:1:0:0:0.0:0:0:0:0:1:1:";

const std::string kLog =
    "# Version: 8.6.4\n"
    "#\n"
    "gpu.q:node1.site:users:ada:train:12:sge:0:1700000000:1700000060:1700003660:0:0" +
    kUsage +
    "lab:dep:smp:4:0:1.0:2.0:0.0:-U x -l gpu=2,h_rt=7200 -pe smp 4:0.0:NONE:0.0:0:0\n"
    // UGE counts milliseconds. A task of an array, ended at its time limit; fractions are by slot.
    "gpu.q:node2:users:bob:sweep:13:sge:0:1700000000000:1700000060000:1700000660000:37:137" +
    kUsage +
    "NONE:dep:omp:4:7:1.0:2.0:0.0:-l gpus=0.5 -pe omp 4:0.0:NONE:0.0:0:0\n"
    // A worker of a parallel job, and the job itself: on hosts that are not said.
    "all.q:node3:users:bob:mpi:14:sge:0:1700000000:1700000060:1700000660:0:0" +
    kUsage +
    "NONE:dep:mpi:64:0:1.0:2.0:0.0:-pe mpi 64:0.0:1.node3:0.0:0:0\n"
    "all.q:node3:users:bob:mpi:14:sge:0:1700000000:1700000060:1700000660:100:137" +
    kUsage +
    "NONE:dep:mpi:64:0:1.0:2.0:0.0:-l gpu=TRUE -pe mpi 64:0.0:NONE:0.0:0:0\n"
    // Never began.
    "all.q:node3:users:bob:late:15:sge:0:1700000000:0:0:9:0" +
    kUsage +
    "NONE:dep:NONE:1:0:0.0:0.0:0.0:-l gpu=1:0.0:NONE:0.0:0:0\n"
    "something else\n";

TEST(Sge, ReadsTheAccountingFile) {
  ASSERT_TRUE(claims(kLog));
  EXPECT_FALSE(claims("a:b:c\n"));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{100}}) {
    const Fed fed = feed(make, kLog, {}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 4U);
    const Recorder::Job& first = fed.told.jobs[0];
    EXPECT_EQ(first.id, "12");
    EXPECT_EQ(first.user, "ada");
    EXPECT_EQ(first.account, "lab");
    EXPECT_EQ(first.partition, "gpu.q");
    EXPECT_EQ(first.hosts, "node1.site");
    EXPECT_EQ(first.draft.accelerators, 2);
    EXPECT_EQ(first.draft.start, seconds{1'700'000'060});
    EXPECT_EQ(first.draft.end - first.draft.start, seconds{3600});
    EXPECT_EQ(first.draft.state, JobState::kCompleted);
    EXPECT_EQ(first.where.line, 3U);
    const Recorder::Job& second = fed.told.jobs[1];
    EXPECT_EQ(second.id, "13.7");
    EXPECT_EQ(second.account, "sge");
    EXPECT_EQ(second.draft.accelerators, 2);
    EXPECT_EQ(second.draft.start, seconds{1'700'000'060});
    EXPECT_EQ(second.draft.state, JobState::kTimeout);
    const Recorder::Job& third = fed.told.jobs[2];
    EXPECT_EQ(third.hosts, "");
    EXPECT_EQ(third.draft.accelerators, 1);
    EXPECT_EQ(third.draft.state, JobState::kFailed);
    EXPECT_EQ(fed.told.jobs[3].draft.start, Nanos{});
    EXPECT_EQ(fed.told.jobs[3].draft.state, JobState::kCancelled);
    EXPECT_EQ(fed.told.count(Trouble::kStep), 1U);
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
  }
}

TEST(Sge, ReadsTheReportingFile) {
  const std::string line =
      kLog.substr(kLog.find("gpu.q"), kLog.find("\ngpu.q:node2") + 1 - kLog.find("gpu.q"));
  const std::string log =
      "1700003660:acct:" + line +
      "1700003661:job_log:1700003661:finished:12:0:NONE:r:master:q:0:1024:1:a\n";
  ASSERT_TRUE(claims(log));
  const Fed fed = feed(make, log);
  ASSERT_EQ(fed.told.jobs.size(), 1U);
  EXPECT_EQ(fed.told.jobs[0].id, "12");
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 0U);
}

const std::string kQacct =
    "==============================================================\n"
    "qname        gpu.q               \n"
    "hostname     node1               \n"
    "owner        ada                 \n"
    "project      NONE                \n"
    "jobname      train               \n"
    "jobnumber    12                  \n"
    "taskid       undefined\n"
    "account      sge                 \n"
    "qsub_time    Tue Nov 14 22:13:20 2023\n"
    "start_time   Tue Nov 14 22:14:20 2023\n"
    "end_time     Tue Nov 14 23:14:20 2023\n"
    "granted_pe   NONE                \n"
    "slots        1                   \n"
    "failed       100 : assumedly after job\n"
    "exit_status  137                 \n"
    "category     -l gpu=4\n"
    "==============================================================\n"
    "qname        gpu.q\n"
    "hostname     node2\n"
    "owner        bob\n"
    "jobnumber    13\n"
    "qsub_time    11/14/2023 22:13:20.500\n"
    "start_time   11/14/2023 22:14:20.500\n"
    "end_time     11/14/2023 22:24:20.500\n"
    "slots        1\n"
    "failed       0\n"
    "exit_status  0\n"
    "hard_resources gpu=1,h_rt=3600\n"
    "==============================================================\n"
    "qname        gpu.q\n"
    "hostname     node2\n"
    "owner        bob\n"
    "jobnumber    14\n"
    "qsub_time    2023-11-14 22:13:20.500000\n"
    "start_time   2023-11-14 22:14:20.500000\n"
    "end_time     2023-11-14 22:24:20.500000\n"
    "submit_cmd_line qsub -b y -l gpu=2 run.sh\n"
    "failed       0\n"
    "exit_status  0\n"
    "==============================================================\n"
    "Total System Usage\n"
    "    WALLCLOCK         UTIME\n";

TEST(Sge, ReadsQacct) {
  ASSERT_TRUE(claims(kQacct));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}}) {
    const Fed fed = feed(make, kQacct, {}, piece);
    ASSERT_EQ(fed.told.jobs.size(), 3U);
    const Recorder::Job& first = fed.told.jobs[0];
    EXPECT_EQ(first.id, "12");
    EXPECT_EQ(first.draft.accelerators, 4);
    EXPECT_EQ(first.draft.submit, seconds{1'700'000'000});
    EXPECT_EQ(first.draft.end, seconds{1'700'003'660});
    EXPECT_EQ(first.draft.state, JobState::kFailed);
    EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 1);
    EXPECT_EQ(fed.told.jobs[1].draft.start, std::chrono::milliseconds{1'700'000'060'500});
    EXPECT_EQ(fed.told.jobs[2].draft.accelerators, 2);
    EXPECT_EQ(fed.told.jobs[2].draft.end - fed.told.jobs[2].draft.start, seconds{600});
  }
}

}  // namespace
}  // namespace amdahl::fleet::sge
