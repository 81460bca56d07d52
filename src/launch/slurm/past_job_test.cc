#include "launch/slurm/past_job.h"

#include <gtest/gtest.h>

#include "launch/slurm/rows.h"

namespace amdahl::launch::slurm {
namespace {

std::string sacct_row(std::initializer_list<const char*> fields) {
  std::string text;
  for (const char* field : fields) text += (text.empty() ? "" : std::string(1, kSeparator)) + field;
  return text + "\n";
}

TEST(PastJob, IsWhatAccountingSays) {
  const auto job = parse_past_job(
      sacct_row({"12", "train x", "ada", "COMPLETED", "/home/ada", "1700000000", "1700000060", "1",
                 "8", "cpu=8,mem=4.50G,node=1,gres/gpu=2,gres/gpu:a100=2", "h100"}),
      "12");
  ASSERT_TRUE(job) << job.error().text;
  EXPECT_EQ(job->id, "12");
  EXPECT_EQ(job->name, "train x");
  EXPECT_EQ(job->workdir, "/home/ada");
  EXPECT_EQ(job->end - job->start, std::chrono::seconds(60));
  EXPECT_EQ(job->cpus, 8);
  EXPECT_EQ(job->gpus, 2);
  EXPECT_DOUBLE_EQ(job->memory_mb, 4608);
  EXPECT_EQ(job->partition, "h100");
}

TEST(PastJob, ItsScriptSaysHowManyTasksANodeHas) {
  EXPECT_EQ(tasks_per_node_in("#!/bin/sh\n#SBATCH -N 2 --ntasks-per-node=4 -t 5\nsrun x\n", 2), 4);
  EXPECT_EQ(tasks_per_node_in("#!/bin/sh\n#SBATCH --ntasks=6\n", 4), 2);
  EXPECT_EQ(tasks_per_node_in("#!/bin/sh\n#SBATCH -n8 -N2\n", 2), 4);
  EXPECT_EQ(tasks_per_node_in("#!/bin/sh\n#SBATCH\t-n 8\n", 2), 4);
  EXPECT_EQ(tasks_per_node_in("#!/bin/sh\nsrun -n 8 x\n#SBATCH --nodes=2\n", 2), 1);
  EXPECT_EQ(tasks_per_node_in("#!/bin/sh\n#SBATCH --ntasks=oops --ntasks-per-node\n", 2), 1);
}

TEST(PastJob, OneThatIsUnknownOrRunsIsRefused) {
  EXPECT_EQ(parse_past_job("", "7").error().kind, Error::Kind::kNotFound);
  const auto runs = parse_past_job(
      sacct_row({"12", "x", "ada", "RUNNING", "/", "1700000000", "Unknown", "1", "8", "", "p"}),
      "12");
  EXPECT_EQ(runs.error().kind, Error::Kind::kBadInput);
  EXPECT_EQ(past_job("1; rm -rf /").error().kind, Error::Kind::kBadInput);
  EXPECT_EQ(past_job("").error().kind, Error::Kind::kBadInput);
}

}  // namespace
}  // namespace amdahl::launch::slurm
