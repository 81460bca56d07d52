#include "fleet/slurm/slurm.h"

#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"
#include "fleet/slurm/job.h"
#include "fleet/slurm/live.h"
#include "fleet/slurm/tres.h"

namespace amdahl::fleet::slurm {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::hours;
using std::chrono::seconds;

constexpr std::string_view kHeader =
    "JobID|JobIDRaw|User|State|Submit|Start|End|ElapsedRaw|NodeList|ReqTRES|AllocTRES|JobName\n";

std::string table(std::initializer_list<std::string_view> lines) {
  std::string text(kHeader);
  for (const std::string_view line : lines) text += std::string(line) + "\n";
  return text;
}

void expect_same(const Fed& a, const Fed& b) {
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.told.counts, b.told.counts);
  EXPECT_EQ(a.told.places, b.told.places);
  ASSERT_EQ(a.told.jobs.size(), b.told.jobs.size());
  for (std::size_t i = 0; i < a.told.jobs.size(); ++i) {
    const auto& [x, y] = std::tie(a.told.jobs[i], b.told.jobs[i]);
    EXPECT_EQ(x.id + "|" + x.name + "|" + x.kind + "|" + x.hosts,
              y.id + "|" + y.name + "|" + y.kind + "|" + y.hosts);
    EXPECT_EQ(x.draft.start, y.draft.start);
    EXPECT_EQ(x.draft.accelerators, y.draft.accelerators);
    EXPECT_EQ(x.where.line, y.where.line);
    EXPECT_EQ(x.where.byte, y.where.byte);
  }
  ASSERT_EQ(a.told.complaints.size(), b.told.complaints.size());
  for (std::size_t i = 0; i < a.told.complaints.size(); ++i) {
    EXPECT_EQ(a.told.complaints[i].text, b.told.complaints[i].text);
    EXPECT_EQ(a.told.complaints[i].where.line, b.told.complaints[i].where.line);
    EXPECT_EQ(a.told.complaints[i].where.byte, b.told.complaints[i].where.byte);
  }
}

Fed read(std::string_view bytes, ReaderOptions options = {}) {
  EXPECT_TRUE(claims(bytes.substr(0, 4096)));
  Fed whole = feed(make, bytes, options);
  expect_same(whole, feed(make, bytes, options, 1));  // Must not matter, as must threads.
  options.threads = 3;
  expect_same(whole, feed(make, bytes, options));
  expect_same(whole, feed(make, bytes, options, 1));
  return whole;
}

// Many blocks, with all that a line can be among them.
TEST(Slurm, ThreadsTellTheSameInTheSameOrder) {
  std::string bytes(kHeader);
  for (int i = 0; i < 20'000; ++i) {
    bytes += fmt::format(
        "{0}|{0}|u{1}|{2}|2026-11-15T08:00:00|2026-11-15T09:00:00|2026-11-15T10:00:{3:02}|{4}|"
        "gpu{1}||cpu=4,gres/gpu:a{5}=2,gres/gpu=2,mem=1G|train {0}{6}\n",
        1000 + i, i % 40, i % 97 == 0 ? "ODD" : "COMPLETED", i % 89 == 0 ? 61 : i % 60,
        3600 + i % 60, i % 3, i % 11 == 0 ? "\r" : "");
    if (i % 5 == 0) bytes += fmt::format("{}.batch|||||||||||\n", 1000 + i);
    if (i % 101 == 0) bytes += "half|a line\n\n";
    if (i % 5000 == 0) bytes += kHeader;
  }
  bytes.pop_back();  // The last line has no end.
  ASSERT_GT(bytes.size(), std::size_t{2} << 20);
  const Fed one = feed(make, bytes);
  EXPECT_GT(one.told.jobs.size(), 19'000U);
  EXPECT_GT(one.told.complaints.size(), 400U);
  for (const int threads : {2, 3, 5}) {
    SCOPED_TRACE(threads);
    expect_same(one, feed(make, bytes, {.threads = threads}, 100'000));
  }
}

TEST(Slurm, ReadsAJob) {
  const Fed fed = read(
      table({"1|1|ada|COMPLETED|2025-05-02T14:00:00|2025-05-02T14:10:00|2025-05-02T15:10:00|3600|"
             "gpu[1-2]|cpu=1,gres/gpu=8|billing=8,gres/gpu:a100=8,gres/gpu=8,node=2|train"}));
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 1U);
  const auto& job = fed.told.jobs.front();
  EXPECT_EQ(job.id, "1");
  EXPECT_EQ(job.raw, "");
  EXPECT_EQ(job.user, "ada");
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.hosts, "gpu[1-2]");
  EXPECT_EQ(job.kind, "a100");
  EXPECT_EQ(job.draft.state, JobState::kCompleted);
  EXPECT_EQ(job.draft.accelerators, 8);
  EXPECT_EQ(job.draft.start - job.draft.submit, seconds(600));
  EXPECT_EQ(job.draft.end - job.draft.start, hours(1));
  EXPECT_EQ(job.draft.elapsed, hours(1));
  EXPECT_EQ(job.where.line, 2U);
  EXPECT_EQ(job.where.byte, kHeader.size());
}

// Trap: adding .batch and .extern steps triples the hours.
TEST(Slurm, StepsArePassedOverAndCounted) {
  const Fed fed = read(table({
      "7|7|u|COMPLETED|1700000000|1700000000|1700003600|3600|n1||gres/gpu=1|j",
      "7.batch|7.batch||COMPLETED|1700000000|1700000000|1700003600|3600|n1||gres/gpu=1|batch",
      "7.extern|7.extern||COMPLETED|1700000000|1700000000|1700003600|3600|n1||gres/gpu=1|extern",
      "7.0|7.0||COMPLETED|1700000000|1700000000|1700003600|3600|n1||gres/gpu=1|python",
  }));
  EXPECT_EQ(fed.told.jobs.size(), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kStep), 3U);
}

// Trap: typed plus untyped gres/gpu doubles the hours.
TEST(Slurm, TypedAndUntypedDevicesCountOnce) {
  const struct {
    std::string_view tres;
    double count;
    std::string_view kind;
  } cases[] = {
      {"billing=19,cpu=1,gres/gpu:a100=1,gres/gpu=1,mem=32G,node=1", 1, "a100"},
      {"gres/gpu:a100=4", 4, "a100"},
      {"gres/gpu=4", 4, ""},
      {"gres/gpu:a100=2,gres/gpu:v100=4", 6, "v100"},
      {"gres/gpu:a100=2,gres/gpu:v100=4,gres/gpu=6", 6, "v100"},
      {"gres/gpu:a100=2,gres/gpu=6", 6, "a100"},  // The other type is not accounted.
      {"gres/mps=50", 0.5, ""},
      {"gres/gpumem=1024M,gres/gpuutil=97", 0, ""},
      {"cpu=4,mem=8G", 0, ""},
      {"", 0, ""},
      {"gres/gpu=-1,gres/gpu:x=nan", 0, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.tres);
    const Devices devices = devices_of_tres(c.tres);
    EXPECT_EQ(devices.count, c.count);
    EXPECT_EQ(devices.kind, c.kind);
  }
  EXPECT_EQ(devices_of_tres("gres/shard=3").shards, 3);
}

TEST(Slurm, OldListsOfGres) {
  EXPECT_EQ(devices_of_gres("gpu:2").count, 2);
  EXPECT_EQ(devices_of_gres("gpu").count, 1);
  EXPECT_EQ(devices_of_gres("gres:gpu:tesla:4").count, 4);
  EXPECT_EQ(devices_of_gres("gpu:tesla:4").kind, "tesla");
  EXPECT_EQ(devices_of_gres("gpu:a100:4(S:0-1),gpu:v100:2,craynetwork:4").count, 6);
  EXPECT_EQ(accelerators_of_gres("gpu:a100:3(IDX:0-1,3)").at(0).indices, "0-1,3");
}

TEST(Slurm, DevicesOfOneHostArePlacedByTheirIndex) {
  const Fed fed = read(
      "JobIDRaw|Start|End|AllocGRES|NodeList|State\n"
      "9|1700000000|1700003600|gpu:a100:3(IDX:0-1,3)|n1|COMPLETED\n");
  EXPECT_EQ(join(fed.told.places, ", "), "9 n1 0, 9 n1 1, 9 n1 3");
  EXPECT_EQ(fed.told.jobs.at(0).draft.accelerators, 3);
  EXPECT_EQ(fed.told.jobs.at(0).draft.elapsed, Nanos(-1));
}

TEST(Slurm, ArraysAndHetJobsHaveTheirOwnNumbers) {
  const Fed fed = read(table({
      "90_3|94|u|COMPLETED|1700000000|1700000000|1700003600|3600|n1||gres/gpu=1|a",
      "98+1|99|u|COMPLETED|1700000000|1700000000|1700003600|3600|n1||gres/gpu=1|h",
      "90_[5-9%2]|90|u|PENDING|1700000000|Unknown|Unknown|0|None assigned|gres/gpu=1||a",
  }));
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  EXPECT_EQ(fed.told.jobs[0].id + " " + fed.told.jobs[0].raw, "90_3 94");
  EXPECT_EQ(fed.told.jobs[1].id + " " + fed.told.jobs[1].raw, "98+1 99");
  EXPECT_EQ(fed.told.jobs[2].id + " " + fed.told.jobs[2].raw, "90_[5-9%2] 90");
}

// Traps: End=Unknown, jobs cancelled in the queue, what was asked for but never held.
TEST(Slurm, RunningAndNeverStartedJobs) {
  const Fed fed = read(table({
      "1|1|u|RUNNING|1700000000|1700000010|Unknown|500|n1|gres/gpu=2|gres/gpu=2|run",
      "2|2|u|CANCELLED by 1000|1700000000|None|1700000500|0|None assigned|gres/gpu=4||gone",
      "3|3|u|CANCELLED by 0|1700000000|1700000500|1700000500|0|None assigned|gres/gpu=4||late",
      "4|4|u|PENDING|1700000000|1700009000|Unknown|0|None assigned|gres/gpu=4||wait",
      "5|5|u|COMPLETED|1700000000|1700000010|1700000020|10|n1|gres/gpu=4|cpu=1,node=1|cpu only",
      "6|6|u|FAILED|1700000000|1700000010|1700000010|0|n1|gres/gpu=1|gres/gpu=1|at once",
  }));
  ASSERT_EQ(fed.told.jobs.size(), 6U);
  const auto& jobs = fed.told.jobs;
  EXPECT_EQ(jobs[0].draft.end, Nanos());
  EXPECT_EQ(jobs[0].draft.elapsed, seconds(500));
  for (const std::size_t i : {1U, 2U, 3U}) {
    SCOPED_TRACE(i);
    EXPECT_EQ(jobs[i].draft.start, Nanos());
    EXPECT_EQ(jobs[i].draft.accelerators, 4);
    EXPECT_EQ(jobs[i].hosts, "");
  }
  EXPECT_EQ(jobs[1].draft.state, JobState::kCancelled);
  EXPECT_EQ(jobs[4].draft.accelerators, 0);  // It asked for four, and ran without.
  EXPECT_EQ(jobs[5].draft.start, seconds(1700000010));
}

// Trap: End - Start in local time over a change of daylight saving.
TEST(Slurm, ElapsedTimeSettlesDaylightSaving) {
  const std::string bytes = table({
      // 20 minutes from the first 02:50 to the second 02:10.
      "1|1|u|COMPLETED|2025-10-26T02:00:00|2025-10-26T02:50:00|2025-10-26T02:10:00|1200|n1||"
      "gres/gpu=1|a",
      // From 01:00 to the second 02:30.
      "2|2|u|COMPLETED|2025-10-26T01:00:00|2025-10-26T01:00:00|2025-10-26T02:30:00|9000|n1||"
      "gres/gpu=1|b",
      // Over the change in spring.
      "3|3|u|COMPLETED|2025-03-30T01:00:00|2025-03-30T01:30:00|2025-03-30T03:30:00|3600|n1||"
      "gres/gpu=1|c",
  });
  const Fed known = read(bytes, {.time_zone = "CET-1CEST,M3.5.0,M10.5.0/3"});
  ASSERT_EQ(known.told.jobs.size(), 3U);
  for (const auto& job : known.told.jobs) {
    SCOPED_TRACE(job.id);
    EXPECT_EQ(job.draft.end - job.draft.start, job.draft.elapsed);
  }
  EXPECT_EQ(known.told.jobs[0].draft.start, seconds(1761439800));  // 00:50 UTC.
  EXPECT_EQ(known.told.count(Trouble::kAmbiguousTime), 2U);

  const Fed unknown = read(bytes);  // Taken as UTC: what stays undecidable is reported.
  ASSERT_EQ(unknown.told.jobs.size(), 3U);
  for (const auto& job : unknown.told.jobs) {
    SCOPED_TRACE(job.id);
    EXPECT_EQ(job.draft.end - job.draft.start, job.draft.elapsed);
  }
  EXPECT_EQ(unknown.told.count(Trouble::kAmbiguousTime), 3U);
  EXPECT_EQ(unknown.told.complaints.at(0).trouble, Trouble::kAmbiguousTime);
}

TEST(Slurm, BadTimesArePassedOverWithTheirPlace) {
  const Fed fed = read(table({
      "1|1|u|COMPLETED|1700000000|soon|1700003600|3600|n1||gres/gpu=1|a",
      "2|2|u|COMPLETED|1700000000|1700003600|1700000000|7|n1||gres/gpu=1|a",
      "3|3|u|COMPLETED|1700000000|1700000000|1700000060|60|n1||gres/gpu=1|a",
  }));
  EXPECT_EQ(fed.told.jobs.size(), 1U);
  ASSERT_EQ(fed.told.complaints.size(), 2U);
  EXPECT_EQ(fed.told.complaints[0].text, "Start 'soon' is not a time");
  EXPECT_EQ(fed.told.complaints[0].where.line, 2U);
  EXPECT_EQ(fed.told.complaints[1].text, "End '1700000000' is before Start '1700003600'");
}

TEST(Slurm, AnyOrderAnyDelimiter) {
  for (const std::string_view delimiter : {"|", ",", ";", "\t", "\x1f", "||", "^"}) {
    SCOPED_TRACE(delimiter);
    std::string bytes;
    for (const std::string_view cell : {"AllocTRES", "End", "JobID", "Start", "Extra"}) {
      bytes += std::string(cell) + std::string(cell == "Extra" ? "\r\n" : delimiter);
    }
    for (const std::string_view cell : {"gres/gpu=2", "1700003600", "17", "1700000000", "x"}) {
      bytes += std::string(cell) + std::string(cell == "x" ? "\r\n" : delimiter);
    }
    const Fed fed = read(bytes);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 1U);
    EXPECT_EQ(fed.told.jobs[0].id, "17");
    EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
  }
}

TEST(Slurm, NamesWithTheDelimiterAndClosedLines) {
  const Fed fed = read(table({
      "1|1|u|COMPLETED|1700000000|1700000000|1700000060|60|n1||gres/gpu=1|a|b|c",
      "2|2|u|COMPLETED|1700000000|1700000000|1700000060|60|n1||gres/gpu=1|plain|",
      "3|3|u|COMPLETED|1700000000",
      std::string_view(kHeader).substr(0, kHeader.size() - 1),  // Files joined.
      "",
      "4|4|u|COMPLETED|1700000000|1700000000|1700000060|60|n1||gres/gpu=1|last",
  }));
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  EXPECT_EQ(fed.told.jobs[0].name, "a|b|c");
  EXPECT_EQ(fed.told.jobs[1].name, "plain");
  EXPECT_EQ(fed.told.jobs[2].name, "last");
  ASSERT_EQ(fed.told.complaints.size(), 1U);
  EXPECT_EQ(fed.told.complaints[0].text, "has 5 cells, expected 12");
  EXPECT_EQ(fed.told.complaints[0].where.line, 4U);
}

TEST(Slurm, WithoutAHeaderByItsFields) {
  const std::string_view bytes =
      "17\x1f"
      "1700000000\x1f"
      "1700003600\x1f"
      "gres/gpu=2\n";
  EXPECT_FALSE(claims(bytes));
  const Fed fed = feed(make, bytes, {.fields = "jobid,Start,End%30,AllocTRES"});
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 1U);
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
}

TEST(Slurm, SaysWhatIsWrongWithATable) {
  const std::string again =
      "run: sacct -a -D -P -o JobID,JobIDRaw,JobName,User,Account,Partition,State,ExitCode,"
      "Submit,Start,End,ElapsedRaw,TimelimitRaw,NNodes,NodeList,ReqTRES,AllocTRES";
  const struct {
    std::string bytes;
    std::string fields;
    std::string want;
  } cases[] = {
      {"1|2|3\n", "",
       "the first line is not a header; give the -o list that sacct was run with: "
       "--fields JobID,State,..."},
      {"1|2|3\n", "JobID,Start,End,AllocTRES",
       "--fields names 4 fields, but the first line has 3 cells: 1|2|3"},
      {"1|2|3\n", "JobID,Start,End", "--fields: has no column AllocTRES; " + again},
      {"JobID|Start|End|ReqTRES\n", "", "has no column AllocTRES; " + again},
      {"JobID|State|End|AllocTRES\n", "", "has no column Start; " + again},
      {"JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n", "",
       "is sacct output in fixed-width columns, without the line of dashes under the header; " +
           again},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.bytes);
    EXPECT_EQ(feed(make, c.bytes, {.fields = c.fields}).error, c.want);
  }
  EXPECT_EQ(feed(make, table({}), {.time_zone = "Mars"}).error,
            "time zone 'Mars' is not known here; write it as 'Europe/Oslo' (its rules must be "
            "installed: /usr/share/zoneinfo), '+02:00' or 'CET-1CEST,M3.5.0,M10.5.0/3'");
}

TEST(Slurm, StatesInTheirWords) {
  EXPECT_EQ(state_of("CANCELLED by 1000"), JobState::kCancelled);
  EXPECT_EQ(state_of("OUT_OF_MEMORY"), JobState::kOutOfMemory);
  EXPECT_EQ(state_of("OUT_OF_ME+"), JobState::kOutOfMemory);
  EXPECT_EQ(state_of("REQUEUED"), JobState::kPreempted);
  EXPECT_EQ(state_of("BOOT_FAIL"), JobState::kNodeFail);
  EXPECT_EQ(state_of("TO"), JobState::kTimeout);
  const Fed fed =
      read(table({"1|1|u|DREAMING|1700000000|1700000000|1700000060|60|n1||gres/gpu=1|a"}));
  EXPECT_EQ(fed.told.jobs.size(), 1U);
  EXPECT_EQ(fed.told.complaints.at(0).text,
            "unknown state 'DREAMING'; the job is counted as 'other'");
}

// 22.05 writes numbers and one state; later releases objects and lists.
TEST(Slurm, JsonOfAllReleases) {
  const std::string old = R"({"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [], "jobs": [
    {"account": "lab", "allocation_nodes": 2, "array": {"job_id": 90, "task_id": 3},
     "association": {"user": "ada"}, "het": {"job_id": 0, "job_offset": null}, "job_id": 94,
     "name": "train \"x\", [y]", "nodes": "n[1-2]", "partition": "main",
     "state": {"current": "COMPLETED", "reason": "None"}, "steps": [{"tres": {}}, {}],
     "time": {"elapsed": 3600, "end": 1700003600, "start": 1700000000, "submission": 1699999000},
     "tres": {"allocated": [{"type": "cpu", "name": null, "count": 1},
        {"type": "gres", "name": "gpu", "count": 8}, {"type": "gres", "name": "gpu:a100",
        "count": 8}], "requested": []}, "user": "ada"}]})";
  const std::string now = R"({"jobs": [
    {"account": "lab", "allocation_nodes": 2, "array": {"job_id": 90, "task_id":
       {"set": true, "infinite": false, "number": 3}},
     "association": {"user": "ada"}, "het": {"job_id": 0, "job_offset":
       {"set": false, "infinite": false, "number": 0}}, "job_id": 94,
     "name": "train \"x\", [y]", "nodes": "n[1-2]", "partition": "main",
     "state": {"current": ["COMPLETED"], "reason": "None"}, "steps": [{}, {}],
     "time": {"elapsed": 3600, "end": {"set": true, "infinite": false, "number": 1700003600},
       "start": {"set": true, "infinite": false, "number": 1700000000}, "submission": 1699999000},
     "tres": {"allocated": [{"type": "gres", "name": "gpu", "id": 1001, "count":
       {"set": true, "infinite": false, "number": 8}}, {"type": "gres", "name": "gpu:a100",
       "id": 1002, "count": 8}]}, "user": "ada", "submit_line": "sbatch train.sh"}],
    "meta": {"slurm": {"release": "24.05.1"}}, "errors": [], "warnings": []})";
  for (const std::string& bytes : {old, now}) {
    const Fed fed = read(bytes);
    EXPECT_EQ(fed.error, "");
    ASSERT_EQ(fed.told.jobs.size(), 1U);
    const auto& job = fed.told.jobs.front();
    EXPECT_EQ(job.id + " " + job.raw, "90_3 94");
    EXPECT_EQ(job.name, "train \"x\", [y]");
    EXPECT_EQ(job.user + " " + job.account + " " + job.partition, "ada lab main");
    EXPECT_EQ(job.hosts, "n[1-2]");
    EXPECT_EQ(job.kind, "a100");
    EXPECT_EQ(job.draft.accelerators, 8);
    EXPECT_EQ(job.draft.host_count, 2);
    EXPECT_EQ(job.draft.state, JobState::kCompleted);
    EXPECT_EQ(job.draft.submit, seconds(1699999000));
    EXPECT_EQ(job.draft.start, seconds(1700000000));
    EXPECT_EQ(job.draft.end, seconds(1700003600));
    EXPECT_EQ(job.draft.elapsed, hours(1));
    EXPECT_EQ(fed.told.count(Trouble::kStep), 2U);
  }
}

TEST(Slurm, JsonThatIsDamagedOrComplains) {
  const std::string head = R"({"meta": {"Slurm": {}}, "jobs": [)";
  const Fed cut = read(head + R"({"job_id": 1, "time": {"start": 5}}, {"job_id": 2, )");
  EXPECT_EQ(cut.error, "");
  EXPECT_EQ(cut.told.jobs.size(), 1U);
  EXPECT_EQ(cut.told.count(Trouble::kTruncated), 1U);
  const Fed bad = read(head + R"({"job_id": 1 2}, 7, {"job_id": 3, "state": {"current": []}}],
    "errors": [{"description": "Unable to query jobs", "error_number": 2}]})");
  EXPECT_EQ(bad.told.jobs.size(), 1U);
  EXPECT_EQ(bad.told.count(Trouble::kMissing), 1U);
  EXPECT_EQ(bad.told.complaints.at(0).text, "is not JSON");
  EXPECT_EQ(bad.told.complaints.at(0).where.byte, head.size());
  EXPECT_EQ(read(head + "]} x").error, "byte 36: is not one JSON object");
}

TEST(Slurm, NodesGiveCapacityAndWhatIsDown) {
  const std::string bytes =
      "NodeName=n1 Arch=x86_64 CoresPerSocket=1 \n"
      "   Gres=gpu:a100:4(S:0-1)\n"
      "   State=MIXED ThreadsPerCore=1 TmpDisk=0\n"
      "   Partitions=main,spot \n"
      "   AllocTRES=cpu=3,gres/gpu=4,gres/gpu:a100=4\n\n"
      "NodeName=n2 Arch=x86_64 CoresPerSocket=1 \n"
      "   Gres=gpu:a100:4\n"
      "   State=MIXED+DRAIN ThreadsPerCore=1\n"
      "   Partitions=main \n"
      "   AllocTRES=cpu=2,gres/gpu=1\n"
      "   Reason=bad gpu [root@1700000000]\n\n"
      "NodeName=n3 Arch=x86_64 CoresPerSocket=1 \n"
      "   Gres=(null)\n   State=DOWN\n   Partitions=cpu\n\n"
      "NodeName=n4 Arch=x86_64 CoresPerSocket=1 \n"
      "   Gres=gpu:2\n   State=IDLE+POWERED_DOWN\n   Partitions=main\n\n"
      "NodeName=n5 Arch=x86_64 CoresPerSocket=1 \n"
      "   Gres=gpu:2\n   State=DOWN*+DRAIN\n   Partitions=main\n";
  const Fed fed = read(bytes, {.now = seconds(1700003600)});
  EXPECT_EQ(join(fed.told.capacities, " "), "n1|main|a100|4 n2|main|a100|4 n4|main||2 n5|main||2");
  EXPECT_EQ(join(fed.told.downs, ", "), "n2 1700000000 1700003600 3") << "one is still in use";
  EXPECT_EQ(fed.told.complaints.at(0).text, "n5 is DOWN*+DRAIN, but since when is unknown");
}

TEST(Slurm, RunningJobsSayWhichDevicesTheyHave) {
  const std::string lines =
      "JobId=8 ArrayJobId=2 ArrayTaskId=0 JobName=arr\n"
      "   JobState=RUNNING\n   NodeList=n[1-2]\n   JOB_GRES=gpu:a100:3\n"
      "     Nodes=n1 CPU_IDs=0 Mem=2000 GRES=gpu:a100:2(IDX:0-1)\n"
      "     Nodes=n2 CPU_IDs=0 Mem=2000 GRES=gpu:a100:1(IDX:3)\n\n"
      "JobId=9 JobName=cpu\n     Nodes=n2 CPU_IDs=1 Mem=2000 GRES=\n";
  const std::string line =
      "JobId=8 ArrayJobId=2 JobName=arr JOB_GRES=gpu:a100:3   Nodes=n1 CPU_IDs=0 "
      "GRES=gpu:a100:2(IDX:0-1)   Nodes=n2 CPU_IDs=0 GRES=gpu:a100:1(IDX:3) MinCPUsNode=1\n";
  for (const std::string& bytes : {lines, line}) {
    const Fed fed = read(bytes);
    EXPECT_EQ(join(fed.told.places, ", "), "8 n1 0, 8 n1 1, 8 n2 3");
    EXPECT_TRUE(fed.told.jobs.empty());
  }
}

TEST(Slurm, SinfoAndEvents) {
  const Fed sinfo = read(
      "NODELIST|PARTITION|GRES\nn1|main|gpu:a100:4(S:0)\nn1|spot|gpu:a100:4\nn2|main|(null)\n");
  EXPECT_EQ(join(sinfo.told.capacities, " "), "n1|main|a100|4");
  const Fed events = read(
      "Cluster|NodeName|TimeStart|TimeEnd|State|TRES|Reason\n"
      "c||1700000000|Unknown||gres/gpu=8|Cluster Registered TRES\n"
      "c|n1|1700000000|1700003600|DOWN*|cpu=4,gres/gpu:a100=4,gres/gpu=4|Not responding\n"
      "c|n2|1700000000|Unknown|DRAIN|cpu=4,gres/gpu=2|fan | noise\n"
      "c|n3|1700000000|1600000000|DOWN|gres/gpu=2|clock\n",
      {.now = seconds(1700007200)});
  EXPECT_EQ(join(events.told.downs, ", "),
            "n1 1700000000 1700003600 4, n2 1700000000 1700007200 2");
  EXPECT_EQ(events.told.count(Trouble::kBadTime), 1U);
}

TEST(Slurm, SinfoInColumnsOfSpaces) {
  const Fed by_list = read(
      "NODELIST             GRES\nn[1-2]               gpu:a100:4(S:0-1)\n"
      "c[1-9]               (null)\n");
  EXPECT_EQ(join(by_list.told.capacities, " "), "n1||a100|4 n2||a100|4");
  const Fed by_host = read(
      "HOSTNAMES GRES STATE PARTITION\nn1 gpu:a100:4(S:0-1) mixed gpu*\n"
      "n2 gpu:h100:8 idle gpu*\n");
  EXPECT_EQ(join(by_host.told.capacities, " "), "n1|gpu|a100|4 n2|gpu|h100|8");
  EXPECT_FALSE(claims("NODELIST   NODES PARTITION  STATE\nn1  1  gpu*  idle\n"));
  EXPECT_FALSE(claims("NODELIST|GRES\nn1|gpu:4\n"));
}

TEST(Slurm, SinfoMaySayWhatIsDown) {
  const Fed fed = read(
      "NODELIST|PARTITION|GRES|STATE|TIMESTAMP\n"
      "n1|main|gpu:4|idle|Unknown\n"
      "n2|main|gpu:4|drained|1700000000\nn2|spot|gpu:4|drained|1700000000\n"
      "n3|main|gpu:4|down*|Unknown\n",
      {.now = seconds(1700003600)});
  EXPECT_EQ(join(fed.told.capacities, " "), "n1|main||4 n2|main||4 n3|main||4");
  EXPECT_EQ(join(fed.told.downs, ", "), "n2 1700000000 1700003600 4");
  EXPECT_EQ(fed.told.complaints.at(0).text, "n3 is down*, but since when is unknown");
}

TEST(Slurm, LiveCommandsAskForUnixTime) {
  const auto all =
      commands({.from = seconds(1700000000), .to = seconds(1700086400), .cluster = ""});
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(shell_quote(all[0].argv),
            "sacct -a -D -X -P '--delimiter=\x1f' -S 2023-11-14T22:13:20 -E 2023-11-15T22:13:20 "
            "-o " +
                std::string(sacct_fields()));
  EXPECT_EQ(all[0].env.at("SLURM_TIME_FORMAT"), "%s");
  EXPECT_EQ(all[0].env.at("TZ"), "UTC");
  EXPECT_TRUE(all[0].required);
  EXPECT_FALSE(all[1].required);
}

}  // namespace
}  // namespace amdahl::fleet::slurm
