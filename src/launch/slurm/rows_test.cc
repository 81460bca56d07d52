#include "launch/slurm/rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace amdahl::launch::slurm {
namespace {

using namespace std::chrono_literals;

// As Slurm prints them: fields end in the separator.
std::string cells(std::string text) {
  std::ranges::replace(text, '|', kSeparator);
  return text;
}

Row row(const std::string& state, const std::string& reason = "None") {
  Row made;
  made.id = "7";
  made.state = state;
  made.reason = reason;
  made.name = "amdahl-r-1.t";
  const bool started = state != "PENDING";
  if (started) made.start = 1000;
  if (started && state != "RUNNING") made.end = 1012;
  made.tres = "cpu=2,mem=200M,node=1,billing=2,gres/gpu=4,gres/gpu:a100=4";
  return made;
}

TEST(Rows, ReadsWhatTheProgramsPrint) {
  const auto rows =
      parse_rows(cells("1|COMPLETED|None|1794958535|1794958536|cpu=2,gres/gpu=2|n1|amdahl-x|\n"
                       "someone's job\nwith a newline in its name|\n"
                       "2|CANCELLED by 0|0:0|None|Unknown||None assigned|amdahl-y\n"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].id, "1");
  EXPECT_EQ(rows[0].end, 1794958536);
  EXPECT_EQ(rows[0].name, "amdahl-x");
  EXPECT_EQ(rows[1].state, "CANCELLED");
  EXPECT_FALSE(rows[1].start || rows[1].end);
}

TEST(Rows, NamesAndIds) {
  EXPECT_EQ(job_name({"r-x-1", "0123abcd"}), "amdahl-r-x-1.0123abcd");
  EXPECT_EQ(job_name({"r'; touch x\n|\x1f", "t"}), "amdahl-r___touch_x___.t");
  EXPECT_LE(job_name({std::string(5000, 'x'), "0123456789abcdef"}).size(), 120U);
  EXPECT_EQ(parse_id("12\n"), "12");
  EXPECT_EQ(parse_id("12;cluster\n"), "12");
  EXPECT_FALSE(parse_id("Submitted batch job 12"));
}

TEST(Rows, OnlyWhatProvesThatNothingWasSubmittedIsARefusal) {
  const std::string failed = "sbatch: exit 1: sbatch: error: Batch job submission failed: ";
  for (const char* words :
       {"Unable to contact slurm controller (connect failure)", "Protocol authentication error",
        "Invalid partition name specified", "Requested node configuration is not available",
        "Invalid generic resource (gres) specification",
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"}) {
    EXPECT_TRUE(is_refusal(external(failed + words))) << words;
  }
  EXPECT_FALSE(is_refusal(external(failed + "Socket timed out on send/recv operation")));
  EXPECT_FALSE(is_refusal(external("sbatch: timeout after 75 s")));
  EXPECT_FALSE(is_refusal(external("sbatch: signal 9")));
  EXPECT_FALSE(is_refusal(external(failed + "Zero Bytes were transmitted or received")));
}

// Facts of a run that was submitted, with letters: s started, b before we asked, d done, c
// cancelled, a long absent.
FolderFacts facts(const std::string& letters) {
  const auto has = [&](char c) { return letters.find(c) != std::string::npos; };
  return {!has('-'), has('s'), has('d'), has('c'), has('b'), has('a'), "7"};
}

TEST(Decide, StatesByWhatSlurmAndTheFolderSay) {
  struct Case {
    std::vector<Row> queue;
    std::vector<Row> accounting;
    std::string problem;
    std::string folder;
    RunState state;
  };
  Row unwritten = row("COMPLETED");
  unwritten.end.reset();
  const std::vector<Case> cases{
      {{}, {}, "", "-", RunState::kAbsent},
      {{}, {}, "squeue: exit 1", "-", RunState::kAbsent},
      {{}, {}, "", "-c", RunState::kLost},
      {{}, {}, "", "", RunState::kUnknown},
      {{}, {}, "squeue: exit 1", "a", RunState::kUnknown},
      {{}, {}, "", "a", RunState::kAbsent},
      {{}, {}, "", "sa", RunState::kLost},
      {{}, {}, "", "sda", RunState::kFinished},
      {{row("PENDING", "JobHeldUser")}, {}, "", "", RunState::kHeld},
      {{row("PENDING", "launch failed requeued held")}, {}, "", "", RunState::kHeld},
      {{row("PENDING", "QOSGrpGRES")}, {}, "", "", RunState::kQueued},
      {{row("PENDING", "QOSMaxWallDurationPerJobLimit")}, {}, "", "", RunState::kRequeued},
      {{row("PENDING", "DependencyNeverSatisfied")}, {}, "", "", RunState::kRequeued},
      {{row("PENDING", "Priority")}, {}, "", "", RunState::kQueued},
      {{row("PENDING", "BeginTime")}, {row("NODE_FAIL")}, "", "sb", RunState::kRequeued},
      {{row("PENDING", "Priority")}, {}, "", "s", RunState::kQueued},
      {{}, {}, "", "c", RunState::kLost},
      {{row("RUNNING")}, {}, "", "s", RunState::kRunning},
      {{row("RUNNING")}, {}, "", "sd", RunState::kRunning},
      {{row("COMPLETING")}, {}, "", "sd", RunState::kRunning},
      {{row("COMPLETED")}, {}, "", "sd", RunState::kFinished},
      {{row("FAILED", "NonZeroExitCode")}, {}, "", "sd", RunState::kFinished},
      {{row("FAILED", "NonZeroExitCode")}, {}, "", "s", RunState::kLost},
      {{row("CANCELLED", "JobHeldUser")}, {}, "", "c", RunState::kLost},
      {{row("TIMEOUT")}, {}, "", "s", RunState::kTimedOut},
      {{row("OUT_OF_MEMORY")}, {}, "", "s", RunState::kOutOfMemory},
      {{row("PREEMPTED")}, {}, "", "s", RunState::kPreempted},
      {{row("NODE_FAIL")}, {}, "", "s", RunState::kNodeFailed},
      {{}, {row("NODE_FAIL")}, "", "s", RunState::kNodeFailed},
      {{row("NODE_FAIL")}, {}, "", "sd", RunState::kNodeFailed},
      {{}, {row("COMPLETED")}, "", "sd", RunState::kFinished},
      {{}, {unwritten}, "", "sd", RunState::kUnknown},
  };
  for (const Case& c : cases) {
    const RunStatus status = decide({c.queue, c.accounting, c.problem}, facts(c.folder), 1);
    EXPECT_EQ(name(status.state), name(c.state))
        << (c.queue.empty() ? "" : c.queue[0].state) << " " << c.folder << " " << c.problem;
  }
}

TEST(Decide, TheAllocationIsCharged) {
  const RunStatus status = decide({{row("COMPLETED")}, {}, ""}, facts("sd"), 1);
  ASSERT_TRUE(status.charge);
  EXPECT_EQ(status.charge->wall, 12s);
  EXPECT_EQ(status.charge->accelerators, 4);
  EXPECT_EQ(status.charge->cpus, 2);
  EXPECT_EQ(status.worker, "slurm:7:amdahl-r-1.t");
  Row plain = row("COMPLETED");
  plain.tres = "cpu=2";
  EXPECT_EQ(decide({{plain}, {}, ""}, facts("sd"), 2).charge->accelerators, 2) << "CPU slots";
}

TEST(Decide, OneOfSeveralJobsWithTheNameIsKept) {
  Row ghost = row("PENDING", "JobHeldUser");
  ghost.id = "6";
  EXPECT_EQ(chosen({ghost, row("PENDING", "JobHeldUser")}, "7")->id, "7");
  EXPECT_EQ(chosen({ghost, row("PENDING", "JobHeldUser")}, "")->id, "6");
  EXPECT_EQ(chosen({row("PENDING", "JobHeldUser"), row("RUNNING")}, "")->state, "RUNNING");
  Row cancelled = row("CANCELLED");
  cancelled.id = "6";
  cancelled.start.reset();
  EXPECT_EQ(decide({{cancelled, row("COMPLETED")}, {}, ""}, facts("sd"), 1).worker,
            "slurm:7:amdahl-r-1.t");
}

TEST(Capacity, CountsWhatFitsOnEachNode) {
  const std::string text = cells(
      "n1|mixed|2/6/0/8|gpu:a100:4(S:0-1)|gpu:a100:3(IDX:0,1-2)|\n"
      "n2|idle|0/8/0/8|gpu:a100:4|gpu:a100:0(IDX:N/A)|\n"
      "n2|idle|0/8/0/8|gpu:a100:4|gpu:a100:0(IDX:N/A)|\n"
      "n3|down*|0/0/16/16|gpu:h100:8|gpu:h100:0|\n");
  const auto nodes = parse_nodes(text, "gpu");
  ASSERT_EQ(nodes.size(), 3U) << "a node is in two partitions";
  EXPECT_EQ(nodes[0].accelerators_free, 1);
  EXPECT_EQ(room_on(nodes, {1, 1}, false).room, 5);
  EXPECT_EQ(room_on(nodes, {2, 4}, false).room, 2);
  EXPECT_EQ(room_on(nodes, {2, 4}, true).room, 1);
  EXPECT_EQ(room_on(nodes, {8, 1}, false).room, 0) << "its node is down now";
  EXPECT_EQ(room_on(nodes, {8, 1}, false).never, "");
  EXPECT_EQ(room_on(nodes, {9, 1}, false).never,
            "it needs a node with 1 CPUs and 9 accelerators; the largest has 16 and 8");
  const auto limited = parse_nodes(
      cells("n1|idle|0/8/0/8|gpu:4|gpu:0|30:00|\nn1|idle|0/8/0/8|gpu:4|gpu:0|1-02:00:00|\n"
            "n2|idle|0/8/0/8|gpu:4|gpu:0|1:00:00|\nn3|idle|0/8/0/8|gpu:1|gpu:0|infinite|\n"),
      "gpu");
  EXPECT_EQ(room_on(limited, {.accelerators = 4, .minutes = 60}, false).room, 2);
  EXPECT_EQ(room_on(limited, {.accelerators = 4, .minutes = 26 * 60}, false).room, 1);
  EXPECT_EQ(room_on(limited, {.accelerators = 1, .minutes = 5000}, false).room, 1);
  EXPECT_EQ(room_on(limited, {.accelerators = 4, .minutes = 5000}, false).never,
            "its pairs may take 5000 min by the time limits of its spec, and the partition ends "
            "jobs after 1560 min: lower time_limit_s, or name another partition");
  EXPECT_EQ(parse_nodes(text, "gpu:h100")[0].accelerators, 0);
  EXPECT_EQ(room_on(parse_nodes(text, ""), {0, 3}, false).room, 4);
}

TEST(SubmitWords, OurOptionsComeAfterTheSites) {
  PairRequest request;
  request.reservation = "r-1";
  request.ticket = "t";
  request.spec.time_limit = 10min;
  request.a.accelerators = 4;
  request.b.accelerators = 2;
  request.a.cpus = 8;
  Settings settings;
  settings.gres = "gpu:a100";
  settings.options = {"--requeue", "--container-image=x"};
  settings.modules = {"cuda/12"};
  settings.partition = "main";
  const auto words = submit_words(request, settings, "/s/job.sh", "/s/100%/x.log", {"w", "$(x)"});
  const auto at = [&](const std::string& word) {
    const auto found = std::ranges::find(words, word);
    EXPECT_NE(found, words.end()) << word;
    return found - words.begin();
  };
  EXPECT_LT(at("--requeue"), at("--no-requeue"));
  EXPECT_GT(at("--gres=gpu:a100:4"), 0) << "what the larger arm needs";
  EXPECT_GT(at("--cpus-per-task=8"), 0);
  EXPECT_GT(at("--partition=main"), 0);
  EXPECT_GT(at("--time=23"), 0) << "two arms with their grace";
  EXPECT_GT(at("--output=/s/100%%/x.log"), 0);
  EXPECT_GT(at("--nice=1000"), 0);
  EXPECT_EQ(at("/s/job.sh") + 1, at("cuda/12"));
  EXPECT_EQ(at("--") + 1, at("w"));
  EXPECT_EQ(words.back(), "$(x)");
}

TEST(SubmitWords, AJobOfSeveralNodesAsksForItsShareOnEach) {
  PairRequest request;
  request.spec.layout = {2, 3};
  request.a.accelerators = request.b.accelerators = 4;
  request.a.cpus = request.b.cpus = 8;
  const auto words = submit_words(request, Settings{}, "/s/job.sh", "/s/x.log", {"w"});
  for (const char* word :
       {"--nodes=2", "--ntasks-per-node=3", "--gres=gpu:2", "--cpus-per-task=2"}) {
    EXPECT_NE(std::ranges::find(words, word), words.end()) << word;
  }
  const Need need = need_of(request, Settings{});
  EXPECT_EQ(need.cpus, 6) << "whole CPUs for each task";
  const auto nodes =
      parse_nodes(cells("n1|mixed|2/6/0/8|gpu:4|gpu:1|\nn2|idle|0/8/0/8|gpu:4|gpu:0|\n"
                        "n3|idle|0/8/0/8|gpu:1|gpu:0|\n"),
                  "gpu");
  EXPECT_EQ(room_on(nodes, need, false).room, 1) << "one part on each node";
  Need more = need;
  more.nodes = 3;
  EXPECT_EQ(room_on(nodes, more, false).never,
            "it needs 3 nodes with 6 CPUs and 2 accelerators each (there are 2); the "
            "largest has 8 and 4");
}

TEST(Rows, AJobThatHasEndedNeedsNoCancelling) {
  EXPECT_TRUE(says_ended("scancel: exit 1: Kill job error on job id 7: Invalid job id specified"));
  EXPECT_TRUE(says_ended("scancel: exit 229"));
  EXPECT_FALSE(says_ended("scancel: exit 8: Unable to contact slurm controller"));
  EXPECT_FALSE(says_ended("scancel: exit 22"));
}

}  // namespace
}  // namespace amdahl::launch::slurm
