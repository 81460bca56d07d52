#include "fleet/lsf/lsf.h"

#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "fleet/feed.h"

namespace amdahl::fleet::lsf {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::seconds;

// `end`: as wait(2) says it; `why`: LSF's reason.
std::string finished(int number, std::string_view asked, std::string_view hosts, int status,
                     int exit, int index, int why, std::string_view given) {
  return fmt::format(
      R"("JOB_FINISH" "10.1" 1700003660 {} 1000 33554438 4 1700000000 0 0 1700000060 "ada" )"
      R"("gpu" "{}" "" "" "login" "" "" "" "" "10/1700000000.{}" 1 "any" {} {} 60.0 )"
      R"("a ""b"" c" "train 1" -1.000000 -1.000000 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 )"
      R"(-1 -1 -1 "" "lab" {} 1 "" "" {} 2048 0 "" "" "" "" 0 "" {} "" -1 "/ada" "" "" "" )"
      R"(-1 "" "" 5136 "" 1700000060 "" "" 2 1032 "0" 1033 "0" 0 0 0 2048 "{}" "" -1)"
      "\n",
      number, asked, number, hosts, status, exit, index, why, given);
}

TEST(Lsf, ReadsItsAccountingFile) {
  const std::string log =
      finished(12, "", R"(2 "n1" "n2")", 64, 0, 0, 0,
               "select[((ngpus>0)) && (type == local)] rusage[ngpus_physical=2.00,mem=4] ") +
      "\"EVENT_ADRSV_FINISH\" \"10.1\" 1700003660 1\n" +
      finished(13, "rusage[mem=1:ngpus_excl_p=1]", R"(1 "8*n3")", 32, 65280, 7, 5, "select[x]") +
      finished(14, "", R"(1 "n3")", 32, 9, 0, 14, "") +
      "\"JOB_FINISH\" \"10.1\" 1700003660 15 1000\n";
  ASSERT_TRUE(claims(log));
  EXPECT_FALSE(claims("\"time\",\"host\"\n"));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{100}}) {
    const Fed fed = feed(make, log, {}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 3U);
    const Recorder::Job& first = fed.told.jobs[0];
    EXPECT_EQ(first.id, "12");
    EXPECT_EQ(first.user, "ada");
    EXPECT_EQ(first.account, "lab");
    EXPECT_EQ(first.partition, "gpu");
    EXPECT_EQ(first.name, "a \"b\" c");
    EXPECT_EQ(first.script, "train 1");
    EXPECT_EQ(first.hosts, "n1,n2");
    EXPECT_EQ(first.draft.accelerators, 4);
    EXPECT_EQ(first.draft.submit, seconds{1'700'000'000});
    EXPECT_EQ(first.draft.end - first.draft.start, seconds{3600});
    EXPECT_EQ(first.draft.state, JobState::kCompleted);
    EXPECT_EQ(fed.told.jobs[1].id, "13[7]");
    EXPECT_EQ(fed.told.jobs[1].hosts, "n3");
    EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 1);
    EXPECT_EQ(fed.told.jobs[1].draft.state, JobState::kTimeout);
    EXPECT_EQ(fed.told.jobs[2].draft.accelerators, 0);
    EXPECT_EQ(fed.told.jobs[2].draft.state, JobState::kCancelled);
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
  }
}

// As bjobs -l and bhist -l wrap it.
constexpr std::string_view kLong = R"(
Job <77>, Job Name <unet_k1>, User <ada>, Project <la
                     b>, Application <serial>, Status <RUN>, Queue <gpu_l4>
                     , Command <python train.py --gpu 4>
Tue Nov 14 22:13:20 2023: Submitted from host <h07u02>, CWD <$HOME>, 8 Task(s),
                     Requested Resources < rusage[mem=122880]>, Requested
                     GPU <num=2:mode=exclusive_process:gmodel=NVIDIAL4>;
Tue Nov 14 22:14:20 2023: Started 8 Task(s) on Host(s) <4*n1> <4*n2>, Allocated 8
                     Slot(s) on Host(s) <4*n1> <4*n2>, Execution Home </a>;
Tue Nov 14 22:24:20 2023: Resource usage collected.
                     The CPU time used is 31964 seconds.

 RUNLIMIT
 360.0 min
------------------------------------------------------------------------------

Job <78>, User <bob>, Project <default>, Command <b>
Tue Nov 14 22:13:20: Submitted from host <login>, to Queue <gpu>, CWD </b>;
Tue Nov 14 22:14:20: Dispatched 1 Task(s) on Host(s) <n3>, Allocated 1 Slot(s) on
                     Host(s) <n3>, Effective RES_REQ <select[type == local] rusage
                     [ngpus_physical=1.00] >;
Tue Nov 14 22:14:21: Starting (Pid 3);
Tue Nov 14 22:24:20: Exited with exit code 143. The CPU time used is 1.0 seconds;
Tue Nov 14 22:24:20: Completed <exit>; TERM_RUNLIMIT: job killed after reaching LS
                     F run time limit;

Summary of time in seconds spent in various states by  Tue Nov 14 22:24:20
  PEND     PSUSP    RUN      USUSP    SSUSP    UNKWN    TOTAL
  60       0        600      0        0        0        660
)";

TEST(Lsf, ReadsWhatBhistAndBjobsTellAtLength) {
  ASSERT_TRUE(claims(kLong));
  ReaderOptions options;
  options.now = seconds{1'780'000'000};  // 2026: events without a year are of 2023.
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{33}}) {
    const Fed fed = feed(make, kLong, options, piece);
    ASSERT_EQ(fed.told.jobs.size(), 2U);
    const Recorder::Job& first = fed.told.jobs[0];
    EXPECT_EQ(first.id, "77");
    EXPECT_EQ(first.name, "unet_k1");
    EXPECT_EQ(first.account, "lab");
    EXPECT_EQ(first.partition, "gpu_l4");
    EXPECT_EQ(first.kind, "NVIDIAL4");
    EXPECT_EQ(first.hosts, "n1,n2");
    EXPECT_EQ(first.draft.accelerators, 4);
    EXPECT_EQ(first.draft.submit, seconds{1'700'000'000});
    EXPECT_EQ(first.draft.start, seconds{1'700'000'060});
    EXPECT_EQ(first.draft.end, Nanos{});
    EXPECT_EQ(first.draft.state, JobState::kRunning);
    const Recorder::Job& second = fed.told.jobs[1];
    EXPECT_EQ(second.partition, "gpu");
    EXPECT_EQ(second.draft.accelerators, 1);
    EXPECT_EQ(second.draft.start, seconds{1'700'000'060});
    EXPECT_EQ(second.draft.end, seconds{1'700'000'660});
    EXPECT_EQ(second.draft.state, JobState::kTimeout);
    EXPECT_EQ(fed.told.count(Trouble::kBadTime), 0U);
  }
}

// bacct -l: after what was asked for, each job at length, with tables between.
constexpr std::string_view kBacct = R"(
Accounting information about jobs that are:
  - submitted by all users.
  - completed normally or exited
------------------------------------------------------------------------------

Job <81>, Job Name <a>, User <ada>, Project <lab>, Status <DONE>, Queue <gpu>,
                     Command <python a.py>
Tue Nov 14 22:13:20 2023: Submitted from host <login>, CWD <$HOME>, Requested GPU <num=2>;
Tue Nov 14 22:14:20 2023: Dispatched 8 Task(s) on Host(s) <8*n1>, Allocated 8 Slot(s);
Tue Nov 14 22:24:20 2023: Completed <done>.

Accounting information about this job:
     Share group charged </ada>
     CPU_T     WAIT     TURNAROUND   STATUS     HOG_FACTOR    MEM    SWAP
   1200.03       60            660     done         0.26    6G      0M
------------------------------------------------------------------------------

Job <82>, User <bob>, Project <lab>, Status <EXIT>, Queue <gpu>, Command <b>
Tue Nov 14 22:13:20 2023: Submitted from host <login>, CWD </b>, Requested GPU <num=1>;
Tue Nov 14 22:14:20 2023: Dispatched 1 Task(s) on Host(s) <n2>, Allocated 1 Slot(s);
Tue Nov 14 22:24:20 2023: Completed <exit>; TERM_OWNER: job killed by owner.

SUMMARY:      ( time unit: second )
 Total number of done jobs:       1      Total number of exited jobs:     1
)";

TEST(Lsf, ReadsWhatBacctTellsAtLength) {
  ASSERT_TRUE(claims(kBacct));
  EXPECT_FALSE(claims("Accounting information about jobs that are:\n\nSUMMARY:\n"));
  for (const std::size_t piece : {std::string::npos, std::size_t{7}}) {
    const Fed fed = feed(make, kBacct, {}, piece);
    ASSERT_EQ(fed.told.jobs.size(), 2U);
    EXPECT_EQ(fed.told.jobs[0].id, "81");
    EXPECT_EQ(fed.told.jobs[0].partition, "gpu");
    EXPECT_EQ(fed.told.jobs[0].hosts, "n1");
    EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
    EXPECT_EQ(fed.told.jobs[0].draft.end - fed.told.jobs[0].draft.start, seconds{600});
    EXPECT_EQ(fed.told.jobs[0].draft.state, JobState::kCompleted);
    EXPECT_EQ(fed.told.jobs[1].draft.state, JobState::kCancelled);
    EXPECT_EQ(fed.told.count(Trouble::kBadTime), 0U);
  }
}

TEST(Lsf, AJobThatEndsBeforeItStartsIsRefused) {
  const Fed fed = feed(make,
                       "Job <9>, User <u>, Command <c>\n"
                       "Tue Nov 14 22:14:20 2023: Started 1 Task(s) on Host(s) <n1>;\n"
                       "Tue Nov 14 22:13:20 2023: Done successfully. The CPU time used is 1 s;\n");
  EXPECT_EQ(fed.told.jobs.size(), 0U);
  EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);
}

TEST(Lsf, ARequeuedJobIsTwoAttempts) {
  const Fed fed =
      feed(make,
           "Job <9>, User <u>, Command <c>\n"
           "Tue Nov 14 22:13:20 2023: Submitted from host <a>, Requested GPU <num=1/task>;\n"
           "Tue Nov 14 22:14:20 2023: Started 2 Task(s) on Host(s) <2*n1>;\n"
           "Tue Nov 14 22:24:20 2023: Job has been requeued;\n"
           "Tue Nov 14 22:34:20 2023: Started 2 Task(s) on Host(s) <2*n2>;\n"
           "Tue Nov 14 22:44:20 2023: Done successfully. The CPU time used is 1 s;\n");
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].draft.state, JobState::kPreempted);
  EXPECT_EQ(fed.told.jobs[0].hosts, "n1");
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
  EXPECT_EQ(fed.told.jobs[1].draft.state, JobState::kCompleted);
  EXPECT_EQ(fed.told.jobs[1].hosts, "n2");
}

}  // namespace
}  // namespace amdahl::fleet::lsf
