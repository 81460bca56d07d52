#include "fleet/pbs/pbs.h"

#include <gtest/gtest.h>

#include "fleet/feed.h"

namespace amdahl::fleet::pbs {
namespace {

using model::JobState;
using model::Trouble;

constexpr std::string_view kLog =
    "02/11/2026 20:00:00;L;license;floating license hour:0 day:0 month:0 max:0\n"
    "02/11/2026 20:00:12;Q;77.pbs1;user=ada queue=gpu\n"
    "02/11/2026 20:00:20;S;77.pbs1;user=ada group=bio queue=gpu qtime=1770840012 "
    "start=1770840020\n"
    "02/11/2026 20:12:21;E;77.pbs1;user=ada group=bio account=\"B 1\" jobname='a b' queue=gpu "
    "ctime=1770840000 qtime=1770840012 etime=1770840012 start=1770840020 exec_host=n1/0*8+n2/0*8 "
    "exec_vnode=(n1:ncpus=8:ngpus=4:mem=1kb)+(n2:ncpus=8:ngpus=4) Resource_List.ngpus=8 "
    "Resource_List.gpu_type=a100 Resource_List.walltime=01:00:00 end=1770843620 Exit_status=0 "
    "resources_used.ngpus=0 resources_used.GPU_endTime=n1:(gpu0:Tue Sep 03 23:27:26 2019) "
    "resources_used.walltime=01:00:00\n"
    "02/11/2026 20:13:00;E;78[3].pbs1;user=bob group=bio queue=gpu qtime=1770840012 "
    "start=1770840020 exec_host=n3/0 Resource_List.ngpus=2 end=1770840620 Exit_status=-29\n"
    "02/11/2026 20:14:00;S;79.pbs1;user=bob group=bio queue=gpu qtime=1770840012 "
    "start=1770840840 exec_host=n3/0 Resource_List.ngpus=1\n"
    "02/11/2026 20:15:00;E;80.pbs1;user=bob queue=cpu qtime=1770840012 start=1770840020 "
    "exec_host=c1/0 Resource_List.ngpus=0 end=1770840620 Exit_status=271\n"
    "not a record\n"
    "02/11/2026 20:16:00;E;81.pbs1;user=bob qtime=1 start=1770840620 end=1770840020 "
    "Exit_status=0\n";

TEST(Pbs, TellsJobsThatEndedAndThatRun) {
  ASSERT_TRUE(claims(kLog));
  EXPECT_FALSE(claims("02/11/2026 20:00:00,E,1"));
  EXPECT_FALSE(claims("JobID|State"));
  for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{100}}) {
    const Fed fed = feed(make, kLog, {}, piece);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 4U);
    const Recorder::Job& first = fed.told.jobs[0];
    EXPECT_EQ(first.id, "77");
    EXPECT_EQ(first.raw, "77.pbs1");
    EXPECT_EQ(first.name, "a b");
    EXPECT_EQ(first.account, "B 1");
    EXPECT_EQ(first.kind, "a100");
    EXPECT_EQ(first.hosts, "n1,n2");
    EXPECT_EQ(first.draft.host_count, 2);
    EXPECT_EQ(first.draft.accelerators, 8);
    EXPECT_EQ(first.draft.end - first.draft.start, std::chrono::hours{1});
    EXPECT_EQ(first.draft.start - first.draft.submit, std::chrono::seconds{8});
    EXPECT_EQ(first.draft.state, JobState::kCompleted);
    EXPECT_EQ(first.where.line, 4U);
    EXPECT_EQ(fed.told.jobs[1].id, "78[3]");
    EXPECT_EQ(fed.told.jobs[1].draft.state, JobState::kTimeout);
    EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 2);
    EXPECT_EQ(fed.told.jobs[2].id, "80");
    EXPECT_EQ(fed.told.jobs[2].draft.state, JobState::kCancelled);
    EXPECT_EQ(fed.told.jobs[2].draft.accelerators, 0);
    EXPECT_EQ(fed.told.jobs[3].id, "79");
    EXPECT_EQ(fed.told.jobs[3].draft.state, JobState::kRunning);
    EXPECT_EQ(fed.told.jobs[3].draft.end, Nanos{});
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
    EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);
  }
}

TEST(Pbs, ReadsTorque) {
  const Fed fed =
      feed(make,
           "08/26/2014 15:07:50;S;9.torque.example.org;user=u group=g queue=batch qtime=1409065664 "
           "start=1409065670 exec_host=n1/0+n1/1 Resource_List.nodes=1:ppn=2:gpus=2\n"
           "08/26/2014 16:07:50;R;9.torque.example.org;\n"
           "08/26/2014 18:08:04;E;9.torque.example.org;user=u group=g jobname=STDIN queue=batch "
           "qtime=1409065664 start=1409072884 owner=u@login exec_host=n1/0+n1/1+n2/0+n2/1 "
           "exec_gpus=n1-gpu/1+n1-gpu/0+n2-gpu/3 Resource_List.neednodes=2:ppn=2:gpus=2 "
           "Resource_List.nodes=2:ppn=2:gpus=2+1:ppn=4 end=1409076484 Exit_status=1\n"
           "08/26/2014 19:07:50;R;10.torque.example.org;\n",
           {});
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].draft.state, JobState::kPreempted);
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
  EXPECT_EQ(fed.told.jobs[0].draft.end - fed.told.jobs[0].draft.start, std::chrono::hours{1});
  EXPECT_EQ(fed.told.jobs[1].draft.state, JobState::kFailed);
  EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 4);
  EXPECT_EQ(fed.told.jobs[1].hosts, "n1,n2");
  EXPECT_EQ(fed.told.places,
            (std::vector<std::string>{"9.torque.example.org n1 1", "9.torque.example.org n1 0",
                                      "9.torque.example.org n2 3"}));
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U) << "an end without a beginning";
}

// Sites define the resource of accelerators themselves, under the name they like.
TEST(Pbs, CountsAcceleratorsByAnyNameThatSitesGiveThem) {
  const struct {
    const char* values;
    double want;
  } cases[] = {
      {"Resource_List.gpu=4", 4},
      {"Resource_List.ngpus=4", 4},
      {"Resource_List.gpus=4", 4},
      {"Resource_List.select=1:ncpus=8:gpu=4", 4},
      {"Resource_List.select=2:ncpus=8:ngpus=4+1:ncpus=1", 8},
      {"Resource_List.select=3:GPUs=1", 3},
      {"exec_vnode=(n1:ncpus=8:gpu=4)+(n2:ncpus=8:gpu=4) Resource_List.gpu=1", 8},
      {"Resource_List.gpu=0 Resource_List.select=1:ncpus=8:ngpus=2", 2},
      {"Resource_List.select=1:ncpus=8:gpu_mem=40gb Resource_List.gpu_type=a100", 0},
      {"Resource_List.select=1:ncpus=8 resources_used.gpu=4", 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.values);
    const std::string log = "02/11/2026 20:13:00;E;7.pbs1;user=b queue=q start=1770840020 " +
                            std::string(c.values) + " end=1770840620 Exit_status=0\n";
    const Fed fed = feed(make, log, {});
    ASSERT_EQ(fed.told.jobs.size(), 1U);
    EXPECT_EQ(fed.told.jobs[0].draft.accelerators, c.want);
  }
}

}  // namespace
}  // namespace amdahl::fleet::pbs
