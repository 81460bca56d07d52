#include "fleet/table/mapping.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"
#include "fleet/table/layouts.h"
#include "fleet/table/states.h"
#include "fleet/table/table.h"

namespace amdahl::fleet::table {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::minutes;
using std::chrono::seconds;

Fed read_mapped(std::string_view bytes, std::string_view mapping, ReaderOptions options = {}) {
  options.mapping = mapping;
  Fed whole = feed(make_lines, bytes, options);
  const Fed single = feed(make_lines, bytes, options, 1);
  EXPECT_EQ(whole.error, single.error);
  EXPECT_EQ(whole.told.counts, single.told.counts);
  EXPECT_EQ(whole.told.series_names, single.told.series_names);
  EXPECT_EQ(whole.told.jobs.size(), single.told.jobs.size());
  return whole;
}

TEST(CsvMapping, JobsWithTheirOwnWordsAndUnits) {
  const Fed fed = read_mapped(
      "Job;Who;Begin;Minutes;GPUs;Result;Busy;Nodes\n"
      "17;ada;11/10/2017 02:00:00;90;4;ok;25;\"n1:2 n2:2\"\n"
      "18;bob;11/10/2017 02:00:00;;4;running;;n3:4\n"
      "19;bob;soon;1;4;ok;5;n3:4\n"
      "20;bob;11/10/2017 02:00:00;1;many;ok;5;n3:4\n"
      "21;eve;11/10/2017 02:00:00;1;1;ok;105;n3:4\n"
      "test;eve;11/10/2017 02:00:00;1;1;skip;5;n3:4\n",
      R"(
row = "job"
delimiter = ";"
time = "%d/%m/%Y %H:%M:%S"
time_zone = "+02:00"
[columns]
id = "Job"
user = "Who"
partition = { constant = "gpu" }
start = "Begin"
elapsed = { column = "Minutes", unit = "minutes" }
accelerators = "GPUs"
state = { column = "Result", words = { ok = "COMPLETED" } }
utilisation = { column = "Busy", unit = "percent", metric = "gpu_util" }
hosts = { column = "Nodes", separator = " ", cut = ":" }
[[where]]
column = "Result"
is_not = ["skip"]
)");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  const auto& job = fed.told.jobs[0];
  EXPECT_EQ(job.id + " " + job.user + " " + job.partition + " " + job.hosts, "17 ada gpu n1,n2");
  EXPECT_EQ(job.draft.start, seconds(1507680000));
  EXPECT_EQ(job.draft.elapsed, minutes(90));
  EXPECT_EQ(job.draft.end - job.draft.start, minutes(90));
  EXPECT_EQ(job.draft.accelerators, 4);
  EXPECT_EQ(job.draft.state, JobState::kCompleted);
  EXPECT_DOUBLE_EQ(job.draft.mean_utilisation, 0.25);
  EXPECT_EQ(job.metric, "gpu_util");
  EXPECT_EQ(fed.told.jobs[1].draft.end, Nanos());
  EXPECT_EQ(fed.told.jobs[1].draft.state, JobState::kRunning);
  EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kOutOfRange), 1U);
  EXPECT_EQ(fed.told.complaints[0].text, "start 'soon'");
  EXPECT_EQ(fed.told.complaints[0].where.line, 4U);
}

TEST(CsvMapping, LongSamples) {
  const Fed fed = read_mapped(
      "t\tnode\tdev\tmetric\tv\n"
      "1507680000\tn1.example\t0\tDCGM_FI_PROF_SM_ACTIVE\t0.5\n"
      "1507680000\tn1\t1\tDCGM_FI_PROF_SM_ACTIVE\t9223372036854775794\n"
      "1507680060\tn1\t0\tDCGM_FI_PROF_SM_ACTIVE\tNaN\n"
      "1507680060\tn1\t0\tDCGM_FI_DEV_GPU_UTIL\t2147483632\n"
      "1507680120\tn1\t0\tDCGM_FI_PROF_SM_ACTIVE\t0.25\n"
      "1507680120\tn1\t0\n",
      R"(
row = "sample"
[columns]
time = "t"
host = "node"
accelerator = "dev"
metric = "metric"
value = "v"
)");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "), "n1/0 DCGM_FI_PROF_SM_ACTIVE");
  ASSERT_EQ(fed.told.samples_of.at(0).size(), 2U);
  EXPECT_EQ(fed.told.samples_of[0][1].at, seconds(1507680120));
  EXPECT_EQ(fed.told.samples_of[0][1].value, 0.25F);
  EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 2U);
  EXPECT_EQ(fed.told.count(Trouble::kNotFinite), 1U);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
}

TEST(CsvMapping, WideSamplesOneColumnAnAccelerator) {
  const Fed fed = read_mapped(
      "time_ms,gpu0_util,gpu1_util,mem\n"
      "1507680000000,0.5,1,7\n"
      "1507680060000,,0,7\n",
      R"(
row = "sample"
time = "epoch_ms"
[columns]
time = "time_ms"
job = { constant = "42" }
[[value]]
column = "gpu*_util"
metric = "DCGM_FI_DEV_GPU_UTIL"
unit = "fraction"
)",
      {.host = "n9"});
  EXPECT_EQ(join(fed.told.series_names, ", "),
            "n9/0 DCGM_FI_DEV_GPU_UTIL job=42, n9/1 DCGM_FI_DEV_GPU_UTIL job=42");
  ASSERT_EQ(fed.told.samples_of.at(0).size(), 1U);
  EXPECT_EQ(fed.told.samples_of[0][0].value, 50);  // In the metric's own unit.
  EXPECT_EQ(fed.told.samples_of.at(1)[0].value, 100);
  EXPECT_EQ(fed.told.count(Trouble::kBlankValue), 1U);
}

TEST(CsvMapping, WideSamplesOneColumnAMetric) {
  const Fed fed = read_mapped("# made by hand\n1507680000,n1,0,40,0.3\n",
                              R"(
row = "sample"
header = false
comment = "#"
[columns]
time = "1"
host = "2"
accelerator = "3"
[[value]]
column = "4"
metric = "DCGM_FI_DEV_GPU_UTIL"
[[value]]
column = "5"
metric = "DCGM_FI_PROF_SM_ACTIVE"
)");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, ", "),
            "n1/0 DCGM_FI_DEV_GPU_UTIL, n1/0 DCGM_FI_PROF_SM_ACTIVE");
}

TEST(CsvMapping, QuotedCellsMayHoldAnything) {
  const Fed fed = read_mapped(
      "id,name,start,end,gpus\n"
      "1,\"a \"\"b\"\", c\nd\",1507680000,1507680060,1\n"
      "2,plain,1507680000,1507680060,1\n"
      "3,\"open,1507680000,1507680060,1\n",
      R"(
row = "job"
[columns]
id = "id"
name = "name"
start = "start"
end = "end"
accelerators = "gpus"
)");
  ASSERT_EQ(fed.told.jobs.size(), 2U);
  EXPECT_EQ(fed.told.jobs[0].name, "a \"b\", c\nd");
  EXPECT_EQ(fed.told.count(Trouble::kTruncated), 1U);
}

TEST(CsvMapping, OccupancyFromWhatIsIdle) {
  const Fed fed = read_mapped("at,all,free,broken\n1507680000,64,10,4\n",
                              R"(
row = "occupancy"
[columns]
time = "at"
partition = { from = "file" }
total = "all"
idle = "free"
down = "broken"
held = { constant = 5, unit = "minutes" }
)",
                              {.path = "x/vc1.csv.gz"});
  ASSERT_EQ(fed.told.occupancies.size(), 1U);
  EXPECT_EQ(fed.told.occupancies[0].partition, "vc1");
  EXPECT_EQ(fed.told.occupancies[0].occupancy.allocated, 50);
  EXPECT_EQ(fed.told.occupancies[0].occupancy.held, minutes(5));
}

TEST(CsvMapping, NamesOfAccelerators) {
  const std::string bytes = "host,gpu,uuid\nn1.cluster,0,GPU-a\nn1,1,\n";
  EXPECT_TRUE(claims_layout(bytes));
  EXPECT_EQ(explain_lines(bytes, {}).gives, Gives::kJobs);
  const Fed fed = feed(make_lines, bytes);
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(fed.told.devices, std::vector<std::string>{"n1/0 uuid=GPU-a"});
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 1U);
}

// What a table gives decides when it is read.
// A mapping is for the tables that it fits; what a table gives decides when it is read.
TEST(CsvMapping, SamplesAndJobsAreToldApart) {
  const std::string samples =
      "row = \"sample\"\n[columns]\ntime = \"t\"\n"
      "value = { column = \"v\", metric = \"gpu_util\" }\n";
  EXPECT_EQ(explain_lines("t,v\n", {.mapping = samples}).gives, Gives::kSamples);
  EXPECT_EQ(explain_lines("jobid,host,gpu\n1,n1,0\n", {}).gives, Gives::kJobs);
  EXPECT_EQ(explain_lines("t,v\n", {.mapping = "row ="}).gives, Gives::kBoth)
      << "its reader says why";
  EXPECT_EQ(fit_lines("v,t\n", samples), Fit::kWhole);
  EXPECT_EQ(fit_lines("jobid,host,gpu\n", samples), Fit::kSome);
  EXPECT_EQ(fit_lines("jobid,host,gpu\n", "row ="), Fit::kWhole) << "its reader says why";
}

TEST(CsvMapping, SaysWhatIsWrong) {
  const std::string job = "row = \"job\"\n[columns]\nid = \"id\"\nstart = \"s\"\nend = \"e\"\n";
  const struct {
    std::string mapping;
    std::string_view want;
  } cases[] = {
      {"row = \"jib\"",
       "mapping: row must say what a line is about: job, sample, place, capacity or occupancy; it "
       "is 'jib'"},
      {"row = ", "mapping: line 1: Error while parsing key-value pair: encountered end-of-file"},
      {"row = \"job\"\nrows = 1",
       "mapping: line 2: a mapping has no key 'rows'; did you mean 'row'?"},
      {"row = \"job\"", "mapping: [columns] is missing"},
      {job, "mapping: a job needs [columns] accelerators"},
      {job + "acelerators = \"n\"",
       "mapping: line 6: a job has no key 'acelerators'; did you mean 'accelerators'?"},
      {job + "accelerators = \"num\"", "mapping: no column 'num'; did you mean 'nums'?"},
      {job + "accelerators = { column = \"nums\", from = \"line\" }",
       "mapping: line 6: accelerators needs one of column, constant and from"},
      {job + "accelerators = \"nums\"\nutilisation = \"u\"",
       "mapping: line 7: utilisation must say its unit: percent or fraction"},
      {job + "accelerators = \"nums\"\nelapsed = { column = \"e\", unit = \"weeks\" }",
       "mapping: line 7: unit 'weeks' is none of ns, us, ms, seconds, minutes, hours, days"},
      {"row = \"job\"\ntime_zone = \"Europe/Oslo\"\n[columns]\n",
       "mapping: line 2: the rules of 'Europe/Oslo' are in a file: give it as --time-zone "
       "Europe/Oslo, or write '+02:00' or 'CET-1CEST,M3.5.0,M10.5.0/3' here"},
      {"row = \"sample\"\n[columns]\ntime = \"s\"\n",
       "mapping: a sample needs either [columns] value or [[value]]"},
      {job + "accelerators = { column = \"nums\", and = \"u\" }",
       "mapping: line 6: and is for ids, and for the time of day beside a date"},
      {"decimal = \";\"\n" + job, "mapping: line 1: decimal must be '.' or ','"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.mapping);
    EXPECT_EQ(read_mapped("id,s,e,nums,u\n1,2,3,4,5\n", c.mapping).error, c.want);
  }
  EXPECT_TRUE(read_mapped("id,s,e,nums,u\n",
                          "row = \"sample\"\n[columns]\ntime = \"s\"\nvalue = { column "
                          "= \"u\", metric = \"heat\" }")
                  .error.starts_with("mapping: line 4: metric 'heat' does not measure how busy an "
                                     "accelerator is: DCGM_FI_PROF_SM_ACTIVE, "));
}

TEST(CsvMapping, KnownLayoutsHaveGoodMappings) {
  for (const Layout& layout : layouts()) {
    SCOPED_TRACE(layout.name);
    const auto mapping = parse_mapping(layout.mapping);
    EXPECT_TRUE(mapping) << mapping.error().text;
    const std::string head = std::string(layout.columns) + "\n";
    EXPECT_TRUE(claims_layout(head));
    EXPECT_EQ(sources().claiming(head)->name, "csv");
  }
  for (const Layout& shape : shapes()) {
    SCOPED_TRACE(shape.name);
    const auto mapping = parse_mapping(shape.mapping);
    EXPECT_TRUE(mapping) << mapping.error().text;
  }
  EXPECT_FALSE(claims_layout("timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n"));
  EXPECT_FALSE(claims_layout("jobid,host,gpu,user\n"));
}

TEST(CsvMapping, KnownLayoutsSayWhatTheirColumnsMean) {
  EXPECT_EQ(explain_lines("jobid,host,gpu\n7,n1,0\n", {}).text,
            "known by its columns: accelerators of jobs\n"
            "  job = \"jobid\"\n  host = \"host\"\n  accelerator = \"gpu\"");
}

TEST(CsvMapping, StatesOfOtherSchedulers) {
  EXPECT_EQ(state_of_word("Succeeded"), JobState::kCompleted);
  EXPECT_EQ(state_of_word("completed"), JobState::kCompleted);
  EXPECT_EQ(state_of_word("OOMKilled"), JobState::kOutOfMemory);
  EXPECT_EQ(state_of_word("Pending"), JobState::kPending);
  EXPECT_EQ(state_of_word("Killed"), JobState::kCancelled);
  EXPECT_EQ(state_of_word("odd"), JobState::kOther);
}

TEST(Csv, AMappingWithoutAHeaderFitsByNumbersAndTimes) {
  const std::string mapping =
      "row = \"sample\"\ndelimiter = \",\"\nheader = false\n[columns]\ntime = \"1\"\n"
      "accelerator = \"2\"\nvalue = { column = \"3\", metric = \"gpu_util\" }\n";
  EXPECT_EQ(fit_lines("2024/03/01 00:00:00.000, 0, 100 %\n", mapping), Fit::kWhole);
  EXPECT_EQ(fit_lines("JobID|State|Start|End|ElapsedRaw|AllocTRES\n", mapping), Fit::kSome);
  EXPECT_EQ(fit_lines("JobID,State,Start,End,ElapsedRaw,AllocTRES\n", mapping), Fit::kSome);
  EXPECT_EQ(fit_lines("2024/03/01 00:00:00.000, 0\n", mapping), Fit::kSome);
}

TEST(Csv, SacctWithoutAHeaderSaysWhatItNeeds) {
  const std::string row =
      "1|a|u|COMPLETED|2024-03-01T00:00:00|2024-03-01T01:00:00|2024-03-02T03:00:00|93600|"
      "gres/gpu=2|n1\n";
  const auto guessed = guesses_lines(row + row, {});
  ASSERT_FALSE(guessed);
  EXPECT_NE(guessed.error().text.find(
                "--fields 'JobID,?,?,State,Submit,Start,End,ElapsedRaw,AllocTRES,NodeList' "),
            std::string::npos)
      << guessed.error().text;
  // As XDMoD asks for it: few jobs have accelerators, and small numbers are no elapsed times.
  const std::string cpu =
      "7|7|c1|gpu|chaff|u2|2016-12-22T07:15:12|2016-12-22T07:15:12|2016-12-22T07:15:13|"
      "2016-12-22T08:15:13|01:00:00|0:0|COMPLETED|1|12|12|cpu=12,node=1|billing=12,cpu=12,node=1|"
      "37-14:00:00|cpn-f11-[30-31]|job1\n";
  std::string gpu = cpu;
  gpu.replace(gpu.find("billing=12"), 10, "gres/gpu=1");
  const auto other = guesses_lines(cpu + cpu + gpu + cpu, {});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().text.find("--fields 'JobID,?,?,?,?,?,Submit,?,Start,End,Elapsed,?,State,?"
                                    ",?,?,?,AllocTRES,?,NodeList,?'"),
            std::string::npos)
      << other.error().text;
}

// sonar asks for Submit behind End, and for the layout of steps, which is "Unknown" as an end is.
TEST(Csv, SacctWithoutAHeaderIsToldByItsValuesNotByTheirOrder) {
  const auto line = [](std::string_view id, std::string_view state, std::string_view start,
                       std::string_view end, int elapsed, std::string_view submit) {
    return fmt::format(
        "{0}|{0}|u1|a1|{1}|{2}|{3}||||||{4}|0:0|||||4|8G|1||{5}|00:00:00|00:00:00|2879|00:00:00|"
        "gpu-2|accel|billing=4,cpu=4,gres/gpu=2,node=1|11|train\n"
        "{0}.batch|{0}.batch||a1|{1}|{2}|{3}||||||{4}|0:0|Unknown||||4||1||{2}|00:00:00|00:00:00||"
        "00:00:00|gpu-2||cpu=4,gres/gpu=2,node=1||batch\n",
        id, state, start, end, elapsed, submit);
  };
  const std::string sonar =
      "--fields 'JobID,JobIDRaw,User,Account,State,Start,End,AveCPU,AveDiskRead,AveDiskWrite,"
      "AveRSS,AveVMSize,ElapsedRaw,";
  const std::string ended = line("7", "COMPLETED", "2025-09-12T14:00:00", "2025-09-12T16:00:00",
                                 7200, "2025-09-12T10:00:00") +
                            line("8", "FAILED", "2025-09-13T14:00:00", "2025-09-13T14:30:00", 1800,
                                 "2025-09-12T10:00:00");
  // Nothing has ended: what was counted of each leads to the moment of asking.
  const std::string running =
      line("7", "RUNNING", "2025-09-12T14:00:00", "Unknown", 172800, "2025-09-12T10:00:00") +
      line("8", "RUNNING", "2025-09-13T14:00:00", "Unknown", 86400, "2025-09-12T10:00:00");
  for (const std::string& file : {ended, running}) {
    const auto guessed = guesses_lines(file, {});
    ASSERT_FALSE(guessed);
    EXPECT_NE(guessed.error().text.find(sonar), std::string::npos) << guessed.error().text;
  }
  // The same in an order that nobody is known to ask for.
  std::string other;
  for (const std::string_view one : split(ended, '\n')) {
    if (!one.empty()) other += fmt::format("{}|x\n", one);
  }
  const auto guessed = guesses_lines(other, {});
  ASSERT_FALSE(guessed);
  EXPECT_NE(guessed.error().text.find("--fields 'JobID,?,?,?,State,Start,End,?,?,?,?,?,"
                                      "ElapsedRaw,?,?,?,?,?,?,?,?,?,Submit,?,?,?,?,?,?,"
                                      "AllocTRES,?,?,?'"),
            std::string::npos)
      << guessed.error().text;
}

}  // namespace
}  // namespace amdahl::fleet::table
