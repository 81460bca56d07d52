#include "fleet/slurm/squeue.h"

#include <gtest/gtest.h>

#include "fleet/feed.h"
#include "fleet/slurm/slurm.h"

namespace amdahl::fleet::slurm {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::seconds;

Fed read_queue(std::string_view bytes) {
  EXPECT_EQ(sources().claiming(bytes)->name, "slurm");
  Fed whole = feed(make, bytes);
  const Fed single = feed(make, bytes, {}, 1);
  EXPECT_EQ(whole.error, single.error);
  EXPECT_EQ(whole.told.jobs.size(), single.told.jobs.size());
  EXPECT_EQ(whole.told.counts, single.told.counts);
  EXPECT_EQ(whole.told.places, single.told.places);
  return whole;
}

TEST(Squeue, Text) {
  const Fed fed = read_queue(
      "JOBID|PARTITION|NAME|USER|ACCOUNT|STATE|SUBMIT_TIME|START_TIME|NODES|NODELIST|TRES_PER_"
      "NODE\n"
      "7|gpu|train|ada|proj|RUNNING|2025-05-02T14:00:00|2025-05-02T14:10:00|2|n[1-2]|gres:gpu:a100:"
      "4\n"
      "8_3|gpu|train|ada|proj|PENDING|2025-05-02T14:00:00|N/A|1||gres/gpu:1\n"
      "9|cpu|cpu|ada|proj|RUNNING|2025-05-02T14:00:00|2025-05-02T14:10:00|1|n3|N/A\n"
      "10|cpu\n");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  EXPECT_EQ(fed.told.jobs[0].id, "7");
  EXPECT_EQ(fed.told.jobs[0].kind, "a100");
  EXPECT_EQ(fed.told.jobs[0].hosts, "n[1-2]");
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 8);
  EXPECT_EQ(fed.told.jobs[0].draft.state, JobState::kRunning);
  EXPECT_EQ(fed.told.jobs[0].draft.end, Nanos{});
  EXPECT_EQ(fed.told.jobs[0].draft.start, seconds(1746195000));
  EXPECT_EQ(fed.told.jobs[1].draft.start, Nanos{});
  EXPECT_EQ(fed.told.jobs[2].draft.accelerators, 0);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
}

TEST(Squeue, TheTimeThatAJobHasRun) {
  const Fed fed = read_queue(
      "JOBID|PARTITION|NAME|USER|STATE|START_TIME|TIME|NODES|NODELIST|TRES_PER_NODE\n"
      "7|gpu|train|ada|RUNNING|2025-05-02T14:10:00|1-02:00:00|1|n1|gres/gpu:1\n"
      "8|gpu|train|ada|TIMEOUT|2025-05-02T14:10:00|1:00:00|1|n1|gres/gpu:1\n"
      "9|gpu|train|ada|PENDING|N/A|0:00|1||gres/gpu:1\n");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  EXPECT_EQ(fed.told.jobs[0].draft.elapsed, std::chrono::hours(26));
  EXPECT_EQ(fed.told.jobs[1].draft.elapsed, std::chrono::hours(1));
  EXPECT_EQ(fed.told.jobs[2].draft.start, Nanos{});
}

TEST(Squeue, ItsTableForPeopleSaysTooLittle) {
  EXPECT_EQ(
      read_queue("             JOBID PARTITION     NAME     USER ST       TIME  NODES "
                 "NODELIST(REASON)\n"
                 "                 7       gpu    train      ada  R    1:10:00      2 n[1-2]\n")
          .error,
      "has no column START_TIME; run: squeue -a -t all -o "
      "'%i|%P|%j|%u|%a|%T|%V|%S|%M|%D|%N|%b', or squeue --json");
}

TEST(Squeue, JsonOfOldAndNewReleases) {
  const Fed fed = read_queue(R"json({"jobs": [
 {"account": "proj", "accrue_time": {"set": true, "infinite": false, "number": 1746194400},
  "array_job_id": {"set": true, "infinite": false, "number": 90},
  "array_task_id": {"set": true, "infinite": false, "number": 3},
  "end_time": {"set": true, "infinite": false, "number": 1746281400},
  "gres_detail": ["gpu:a100:2(IDX:0-1)", "gpu:a100:1(IDX:3)"],
  "job_id": 91, "job_state": ["RUNNING"], "name": "train", "nodes": "n[1-2]",
  "node_count": {"set": true, "infinite": false, "number": 2}, "partition": "gpu",
  "start_time": {"set": true, "infinite": false, "number": 1746195000},
  "submit_time": {"set": true, "infinite": false, "number": 1746194400},
  "tres_alloc_str": "cpu=4,gres/gpu=3,gres/gpu:a100=3", "user_name": "ada"},
 {"account": "proj", "array_job_id": 0, "array_task_id": null, "job_id": 92,
  "job_state": "COMPLETED",
  "start_time": 1746195000, "end_time": 1746195060, "submit_time": 1746194400, "nodes": "n3",
  "tres_alloc_str": "cpu=4,gres/gpu=1", "user_name": "bob", "node_count": 1}
], "meta": {"slurm": {}}})json");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].id, "90_3");
  EXPECT_EQ(fed.told.jobs[0].raw, "91");
  EXPECT_EQ(fed.told.jobs[0].user, "ada");
  EXPECT_EQ(fed.told.jobs[0].draft.end, Nanos{});  // What it says is a limit.
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 3);
  EXPECT_EQ(fed.told.places, (std::vector<std::string>{"91 n1 0", "91 n1 1", "91 n2 3"}));
  EXPECT_EQ(fed.told.jobs[1].draft.end - fed.told.jobs[1].draft.start, seconds(60));
  EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 1);
}

// What `scontrol show job` prints without -d.
TEST(Scontrol, JobsWithoutDetails) {
  const std::string lines =
      "JobId=91 ArrayJobId=90 ArrayTaskId=3 JobName=train\n"
      "   UserId=ada(1000) GroupId=g(1000) MCS_label=N/A\n"
      "   Priority=1 Nice=0 Account=proj QOS=normal\n"
      "   JobState=RUNNING Reason=None Dependency=(null)\n"
      "   RunTime=01:00:00 TimeLimit=1-00:00:00 TimeMin=N/A\n"
      "   SubmitTime=2026-01-05T00:00:00 EligibleTime=2026-01-05T00:00:00\n"
      "   StartTime=2026-01-05T01:00:00 EndTime=2026-01-06T01:00:00 Deadline=N/A\n"
      "   Partition=gpu AllocNode:Sid=login:1\n   NodeList=n[1-2]\n   NumNodes=2\n"
      "   ReqTRES=cpu=8,gres/gpu=4\n   AllocTRES=cpu=8,gres/gpu:a100=4,gres/gpu=4\n"
      "   Command=/home/ada/train.sh\n\n"
      "JobId=92 JobName=done\n   UserId=bob(1001)\n   JobState=FAILED ExitCode=1:0\n"
      "   RunTime=00:01:00\n   StartTime=2026-01-05T01:00:00 EndTime=2026-01-05T01:01:00\n"
      "   NodeList=n3\n   TRES=cpu=8,node=1,gres/gpu=1\n\n"
      "JobId=93 JobName=waits\n   JobState=PENDING\n   StartTime=2026-01-07T01:00:00\n"
      "   NodeList=(null)\n   ReqTRES=cpu=8,gres/gpu=1\n";
  const Fed fed = read_queue(lines);
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  const Recorder::Job& runs = fed.told.jobs[0];
  EXPECT_EQ(runs.id, "90_3");
  EXPECT_EQ(runs.raw, "91");
  EXPECT_EQ(runs.user, "ada");
  EXPECT_EQ(runs.hosts, "n[1-2]");
  EXPECT_EQ(runs.draft.accelerators, 4);
  EXPECT_EQ(runs.draft.end, Nanos{});  // What it says is a limit.
  EXPECT_EQ(runs.draft.elapsed, std::chrono::hours(1));
  EXPECT_EQ(fed.told.jobs[1].draft.end - fed.told.jobs[1].draft.start, seconds(60));
  EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 1);
  EXPECT_EQ(fed.told.jobs[2].draft.start, Nanos{});
}

TEST(SlurmExplain, NamesWhatIsUsedAndWhatIsNot) {
  EXPECT_EQ(explain("JobID|Start|End|AllocTRES|Comment|QOS\n", {}).text,
            "a table of sacct between '|': JobID, Start, End, AllocTRES\n"
            "not used: Comment, QOS\n"
            "times have no time zone: pass --time-zone");
  EXPECT_EQ(explain("JobId=7 JobName=x\n", {.time_zone = "+02:00"}).text, "scontrol show job");
}

}  // namespace
}  // namespace amdahl::fleet::slurm
