#include "fleet/table/guess.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/text.h"
#include "fleet/feed.h"
#include "fleet/source.h"
#include "fleet/table/table.h"

namespace amdahl::fleet::table {
namespace {

using model::JobState;
using model::Trouble;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Reads as a scan does: recognised by content, whole and byte by byte, from its own head or one
// that was given.
Fed read_guessed(std::string_view bytes, ReaderOptions options = {}) {
  const auto source = sources().claiming(bytes, options);
  if (!source) return {{}, source.error().text};
  EXPECT_EQ(source->name, "csv");
  Fed whole = feed(make_lines, bytes, options);
  const Fed single = feed(make_lines, bytes, options, 1);
  options.head = bytes.substr(0, 5000);
  const Fed looked = feed(make_lines, bytes, options, 7);
  for (const Fed* other : {&single, &looked}) {
    EXPECT_EQ(whole.error, other->error);
    EXPECT_EQ(whole.told.counts, other->told.counts);
    EXPECT_EQ(whole.told.series_names, other->told.series_names);
    EXPECT_EQ(whole.told.jobs.size(), other->told.jobs.size());
    const bool whole_table = whole.error.empty();  // What came before an error may come in part.
    EXPECT_TRUE(!whole_table || whole.told.sample_count() == other->told.sample_count());
  }
  return whole;
}

std::string shown(const Recorder::Job& job) {
  const auto unix_time = [](Nanos time) { return std::to_string(time / seconds{1}); };
  return join(std::vector<std::string>{job.id, job.user, job.account, job.partition, job.kind,
                                       job.hosts, std::string(model::name(job.draft.state)),
                                       unix_time(job.draft.submit), unix_time(job.draft.start),
                                       unix_time(job.draft.end),
                                       std::to_string(static_cast<int>(job.draft.accelerators))},
              "|");
}

struct JobCase {
  const char* name;
  std::string_view table;
  std::string_view first;  // As shown() writes the first job.
};
constexpr JobCase kJobTables[] = {
    {"Helios",
     "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
     "queue\n"
     "7,u1,vcA,8,64,1,COMPLETED,2020-06-09 18:41:00,2020-06-09 18:42:00,2020-06-09 "
     "19:42:00,3600,60\n"
     "8,u2,vcA,1,4,1,CANCELLED,2020-06-09 18:41:00,,2020-06-09 19:42:00,0,0\n",
     "7|u1||vcA|||COMPLETED|1591728060|1591728120|1591731720|8"},
    {"Acme: its duration counts the queue",
     "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
     "queue,gpu_time\n"
     "dlc1,u9,8,64,960,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
     "2023-05-17 11:01:16+00:00,18,10.0,1152.0\n",
     "dlc1|u9|||||FAILED|1684321258|1684321268|1684321276|64"},
    {"MIT Supercloud",
     "id_job,id_array_job,id_user,kill_requid,nodes_alloc,nodelist,cpus_req,gres_used,partition,"
     "state,timelimit,time_submit,time_eligible,time_start,time_end,tres_alloc,tres_req\n"
     "517,0,99,-1,2,\"['r1-n2', 'r3-n4']\",80,gpu:tesla:4,gaia,3,1440,1611000000,1611000000,"
     "1611000060,1611003660,\"1=80,2=340000,4=2,5=80,1001=4,1002=4\",\"1=80,1002=4\"\n",
     "517|99||gaia||r1-n2,r3-n4|COMPLETED|1611000000|1611000060|1611003660|4"},
    {"a simulator's trace: no start, a clock from 0",
     "job_id;num_gpu;submit_time;duration_min\n"
     "a1;4;0;90\n"
     "a2;2;120;1,5\n",
     "a1||||||OTHER|0|946684800|946690200|4"},
    {"a trace whose GPUs are of each worker",
     "job_name,organization,gpu_model,gpu_request,worker_num,submit_time,duration,job_type\n"
     "437260,57,A100-SXM4-80GB,2,16,9589663,41060,Spot\n",
     "437260||57||A100-SXM4-80GB||OTHER|0|956274463|956315523|32"},
    {"HTCondor",
     "ClusterId,ProcId,Owner,JobStatus,QDate,JobStartDate,CompletionDate,RequestGpus,"
     "LastRemoteHost\n"
     "31,2,ada,4,1614556700,1614556800,1614560400,2,slot1_3@n1.example.org\n",
     "31/2|ada||||n1.example.org|COMPLETED|1614556700|1614556800|1614560400|2"},
    {"LSF",
     "JOBID|STAT|USER|QUEUE|PROJ_NAME|EXEC_HOST|START_TIME|RUN_TIME|GPU_NUM\n"
     "9|DONE|ada|gpu|bio|32*n1:32*n2|Mar 01 00:00:00 2021|3600 second(s)|8\n",
     "9|ada|bio|gpu||n1,n2|COMPLETED|0|1614556800|1614560400|8"},
    {"XDMoD",
     "\"Local Job ID\",\"System Username\",\"PI\",\"Queue\",\"GPU Count\",\"Wall Time (hours)\","
     "\"Start Time\",\"Job State\"\n"
     "\"901\",\"ada\",\"grace\",\"gpu\",\"2\",\"1.5\",\"2021-03-01T00:00:00Z\",\"COMPLETED\"\n",
     "901|ada|grace|gpu|||COMPLETED|0|1614556800|1614562200|2"},
    {"tabs, names of its own, months first, thousands",
     "Job Number\tOwner\tStart Date\tFinish Time\tGPU Count\tMachine\tResult\n"
     "1,234\tada\t10/13/2017 2:00:00 PM\t10/13/2017 3:00:00 PM\t1,024\tn1\tSucceeded\n",
     "1,234|ada||||n1|COMPLETED|0|1507903200|1507906800|1024"},
    {"resources as Slurm writes them",
     "id|user|start|elapsed|tres|nodes\n"
     "5|eve|2021-03-01T00:00:00|1-00:00:30|billing=8,cpu=6,gres/gpu:a100=2,gres/gpu=2|gpu[1-2]\n",
     "5|eve|||a100|gpu[1-2]|OTHER|0|1614556800|1614643230|2"},
    {"PBS hosts, GPUs for each node",
     "jobid,user,qtime,start,end,nodect,gpus_per_node,exec_host\n"
     "9.pbs,eve,1614556700,1614556800,1614560400,2,4,n1/0*8+n2/0*8\n",
     "9.pbs|eve||||n1,n2|OTHER|1614556700|1614556800|1614560400|8"},
    {"Google: microseconds from 0",
     "collection_id,user,submit_time_us,start_time_us,end_time_us,requested_gpus,status\n"
     "381,abc,600000000,610000000,4210000000,4,FINISH\n",
     "381|abc|||||COMPLETED|946685400|946685410|946689010|4"},
    {"Azure", "vmid,subscriptionid,vmcreated,vmdeleted,maxcpu,gpu_count\nx1,s1,300,7500,90,1\n",
     "x1|s1|||||OTHER|0|946685100|946692300|1"},
    {"LSF",
     "JOBID,USER,STAT,QUEUE,EXEC_HOST,SUBMIT_TIME,START_TIME,FINISH_TIME,NGPUS\n"
     "77,ada,EXIT,gpu,n1:n1:n2,May  1 10:00 2024,May  1 10:01 2024,May 13 11:01 2024,4\n",
     "77|ada||gpu||n1,n2|FAILED|1714557600|1714557660|1715598060|4"},
    {"jobstats, parted as sacct does",
     "JobID|User|Account|Partition|Nodes|GPUs|Elapsed|Start|GPU-Eff (%)|State\n"
     "1234|ada|chem|gpu|1|2|1-02:00:00|2024-05-01T10:00:00|35.5|COMPLETED\n",
     "1234|ada|chem|gpu|||COMPLETED|0|1714557600|1714651200|2"},
    {"days as Python writes them, milliseconds",
     "run_id,created_at,started_at,runtime,gpus\n"
     "r1,1614556700000,1614556800000,1 day 0:00:30,1\n",
     "r1||||||OTHER|1614556700|1614556800|1614643230|1"},
};

TEST(CsvGuess, JobsOfManyFleets) {
  for (const JobCase& c : kJobTables) {
    SCOPED_TRACE(c.name);
    const Fed fed = read_guessed(c.table);
    EXPECT_EQ(fed.error, "");
    ASSERT_FALSE(fed.told.jobs.empty());
    EXPECT_EQ(shown(fed.told.jobs[0]), c.first);
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 0U);
  }
}

TEST(CsvGuess, AMeanUtilisationInEitherUnit) {
  const struct {
    std::string_view table;
    double want;
  } cases[] = {
      {"jobid,start,end,gpus,gpu_util\n1,1614556800,1614560400,1,0.25\n", 0.25},
      {"jobid,start,end,gpus,gpu_util\n1,1614556800,1614560400,1,25\n", 0.25},
      {"jobid,start,end,gpus,gpu_util_pct\n1,1614556800,1614560400,1,1\n", 0.01},
      {"jobid;start;end;gpus;GPU Efficiency (%)\n1;1614556800;1614560400;1;0,5\n", 0.005},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.table);
    const Fed fed = read_guessed(c.table);
    ASSERT_EQ(fed.told.jobs.size(), 1U) << fed.error;
    EXPECT_DOUBLE_EQ(fed.told.jobs[0].draft.mean_utilisation, c.want);
  }
  // 1 may be all of it, or a hundredth.
  const Fed open = read_guessed("jobid,start,end,gpus,gpu_util\n1,1614556800,1614560400,1,1\n");
  ASSERT_EQ(open.told.jobs.size(), 1U) << open.error;
  EXPECT_TRUE(std::isnan(open.told.jobs[0].draft.mean_utilisation));
}

struct SampleCase {
  const char* name;
  std::string_view path;
  std::string_view table;
  std::string_view series;
  float value;  // Of the first sample, in the metric's unit.
};
constexpr SampleCase kSampleTables[] = {
    {"Philly: a column an accelerator, zones by name, lines that end in a comma", "",
     "time,machineId,gpu0_util,gpu1_util\n"
     "2017-10-03 00:08:00 PDT,m29,60.5,99.366666667,\n"
     "2017-10-03 00:09:00 PDT,m29,NA,0.0,\n",
     "m29/0 gpu_util, m29/1 gpu_util", 60.5F},
    {"Acme: a column a host and accelerator, the metric in the file's name", "kalos/SM_ACTIVE.csv",
     "Time,10.140.1.10-0,10.140.1.10-1\n"
     "2023-07-01 08:00:00+08:00,8.5,0.0\n",
     "10.140.1.10/0 DCGM_FI_PROF_SM_ACTIVE, 10.140.1.10/1 DCGM_FI_PROF_SM_ACTIVE", 0.085F},
    {"MIT Supercloud: job and host in the file's name", "gpu/0001/5174220-r9189566-n911952.csv",
     "timestamp,gpu_index,utilization_gpu_pct,utilization_memory_pct,memory_free_MiB\n"
     "1611000060.5,0,35.0,10.0,100\n",
     "r9189566-n911952/0 gpu_util job=5174220", 35},
    {"from 0 to 1 under a name that is mostly in percent", "",
     "timestamp,node,gpu,gpu_util\n1611000060,n1,0,0.35\n1611000060,n1,1,1\n",
     "n1/0 gpu_util, n1/1 gpu_util", 35},
    {"percent under a name that is mostly from 0 to 1", "",
     "timestamp,node,gpu,utilization\n1611000060,n1,0,35\n1611000060,n1,1,1\n",
     "n1/0 utilization, n1/1 utilization", 0.35F},
    {"days first, a decimal comma", "",
     "When;Server;Card;GPU load (%)\n31.12.2021 23:59;n1;0;12,5\n", "n1/0 gpu_util", 12.5F},
    {"the host in the file's name", "logs/gpu017.csv", "ts,gpu,util\n1611000060,3,50\n",
     "gpu017/3 gpu_util", 50},
    {"AMD", "", "timestamp,host,gpu,gfx,mem\n1611000060,n1,2,88,12\n", "n1/2 gpu_gfx_activity", 88},
    {"nanoseconds, UUIDs", "", "time_ns,gpu_uuid,sm_active\n1611000060000000000,GPU-1,0.5\n",
     "/ DCGM_FI_PROF_SM_ACTIVE uuid=GPU-1", 0.5F},
    {"Weights & Biases", "runs/node17/system.csv",
     "_timestamp,system.gpu.0.gpu,system.gpu.1.gpu,system.gpu.0.memory\n"
     "1714557600.5,88.5,90.1,12\n",
     "node17/0 gpu_util, node17/1 gpu_util", 88.5F},
    {"blanks between", "", "time node gpu util\n1611000060 n1   0  50\n1611000070 n1   0  60\n",
     "n1/0 gpu_util", 50},
};

TEST(CsvGuess, SamplesOfManyFleets) {
  for (const SampleCase& c : kSampleTables) {
    SCOPED_TRACE(c.name);
    const Fed fed = read_guessed(c.table, {.path = std::string(c.path)});
    EXPECT_EQ(fed.error, "");
    EXPECT_EQ(join(fed.told.series_names, ", "), c.series);
    ASSERT_GT(fed.told.sample_count(), 0U);
    EXPECT_FLOAT_EQ(fed.told.samples_of[0][0].value, c.value);
    EXPECT_EQ(fed.told.count(Trouble::kBadLine), 0U);
  }
  const Fed pacific = read_guessed(kSampleTables[0].table);
  EXPECT_EQ(pacific.told.samples_of[0][0].at, seconds(1507014480));
  EXPECT_EQ(pacific.told.count(Trouble::kBlankValue), 1U);
}

TEST(CsvGuess, PlacesAndHosts) {
  EXPECT_EQ(read_guessed("JobID;Node;GPU Index\n7;n1;gpu0\n7;n1;/dev/nvidia1\n").told.places,
            (std::vector<std::string>{"7 n1 0", "7 n1 1"}));
  EXPECT_EQ(read_guessed("machineId,number of GPUs,single GPU mem\nm31,8, 24GB\nm32,2, 12GB\n")
                .told.capacities,
            (std::vector<std::string>{"m31|||8", "m32|||2"}));
}

// Lines of one job may be apart; a repeated line counts once; an attempt has its own times.
TEST(CsvGuess, ALineForEachAcceleratorOfAJob) {
  const Fed fed = read_guessed(
      "jobid,host,gpu,start,end\n"
      "7,n1,0,1614556800,1614560400\n8,n2.example,3,1614556800,1614557100\n"
      "7,n1,1,1614556800,1614560400\n7,n3,0,1614556800,1614560400\n"
      "7,n1,1,1614556800,1614560400\n7,n1,0,1614570000,1614573600\n");
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 3U);
  EXPECT_EQ(shown(fed.told.jobs[0]), "7|||||n1,n3|OTHER|0|1614556800|1614560400|3");
  EXPECT_EQ(shown(fed.told.jobs[1]), "7|||||n1|OTHER|0|1614570000|1614573600|1");
  EXPECT_EQ(shown(fed.told.jobs[2]), "8|||||n2|OTHER|0|1614556800|1614557100|1");
  EXPECT_EQ(fed.told.places,
            (std::vector<std::string>{"7 n1 0", "7 n1 1", "7 n3 0", "7 n1 0", "8 n2 3"}));
  const Fed named = read_guessed("job,node,gpu index,begin,finish\n7,n1,4,1614556800,1614560400\n");
  ASSERT_EQ(named.told.jobs.size(), 1U) << named.error;
  EXPECT_EQ(named.told.jobs[0].draft.accelerators, 1);
  EXPECT_EQ(named.told.places, (std::vector<std::string>{"7 n1 4"}));
}

TEST(CsvGuess, ListsOfAccelerators) {
  const Fed fed = read_guessed(
      "job,host,gpus,start,end\n7,n1,3,1614556800,1614560400\n"
      "8,n1,\"0,1\",1614556800,1614560400\n");
  ASSERT_EQ(fed.told.jobs.size(), 2U) << fed.error;
  EXPECT_EQ(fed.told.jobs[1].draft.accelerators, 2);
  EXPECT_EQ(fed.told.places, (std::vector<std::string>{"7 n1 3", "8 n1 0", "8 n1 1"}));
}

TEST(CsvGuess, ClustersNumberTheirJobsOnTheirOwn) {
  const Fed fed = read_guessed(
      "cluster,jobid,start,end,gpus\nalpha,1,1614556800,1614560400,2\n"
      "beta,1,1614556800,1614560400,4\n");
  ASSERT_EQ(fed.told.jobs.size(), 2U) << fed.error;
  EXPECT_EQ(fed.told.jobs[0].id, "1/alpha");
  EXPECT_EQ(fed.told.jobs[1].id, "1/beta");
  EXPECT_EQ(read_guessed("cluster,jobid,start,end,gpus\nalpha,1,1614556800,1614560400,2\n")
                .told.jobs.at(0)
                .id,
            "1");
}

TEST(CsvGuess, AValueAndATimeOfAnyNameAreSamples) {
  const Fed fed = read_guessed(
      "value,timestamp_anon,container_ip\n0.0,1662858720.0,23b8\n55.0,1662858780.0,23b8\n");
  EXPECT_NE(fed.error.find("row = \"sample\""), std::string::npos) << fed.error;
}

TEST(CsvGuess, AlibabaPaiWithoutAHeader) {
  const Fed tasks = read_guessed(
      "4f057009a5d481acec67b088,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.29,50.0,"
      "MISC\n"
      "4f057009a5d481acec67b089,worker,4.0,Failed,1739162.0,1739200.0,600.0,29.29,100.0,V100\n"
      "4f057009a5d481acec67b090,ps,4.0,Waiting,,,600.0,29.29,,\n");
  ASSERT_EQ(tasks.told.jobs.size(), 3U) << tasks.error;
  EXPECT_EQ(tasks.told.jobs[0].id, "4f057009a5d481acec67b088/tensorflow");
  EXPECT_EQ(tasks.told.jobs[0].draft.accelerators, 0.5);
  EXPECT_EQ(tasks.told.jobs[1].draft.accelerators, 4);
  EXPECT_EQ(tasks.told.jobs[1].kind, "V100");
  EXPECT_EQ(tasks.told.jobs[2].draft.start, Nanos{});
}

TEST(CsvGuess, WhatCannotBeDecidedGetsAMappingToComplete) {
  const std::string error =
      read_guessed("jid2,who,begin\n1,ada,2021-03-01\n2,bob,2021-03-02\n").error;
  EXPECT_EQ(error,
            "is a table without required columns (end: when it ended; or "
            "elapsed, how long it ran; accelerators: how many accelerators it held)\n"
            "Complete this mapping, save it as FILE.toml, and add: --map FILE.toml "
            "(docs/format/csv-mapping.md)\n"
            "\n"
            "row = \"job\"\n"
            "delimiter = \",\"\n"
            "[columns]\n"
            "id = { from = \"line\" }\n"
            "start = \"begin\"\n"
            "user = \"who\"\n"
            "# end = \"COLUMN\"   # must be given: when it ended; or elapsed, how long it ran\n"
            "# accelerators = \"COLUMN\"   # must be given: how many accelerators it held\n"
            "# columns without a meaning, with their first value:\n"
            "#   \"jid2\"   1\n");
  EXPECT_NE(read_guessed("jobid,start,end,gpus\n1,03/04/2020 10:00,03/04/2020 11:00,2\n")
                .error.find("'03/04/2020 10:00' may have the day first (%d/%m/%Y %H:%M) or the "
                            "month (%m/%d/%Y %H:%M)"),
            std::string::npos);
  EXPECT_NE(read_guessed("device,GPU use (%)\ncard0,35\ncard1,0\n")
                .error.find("time: when it was measured"),
            std::string::npos);
  EXPECT_NE(read_guessed("timestamp,gpu,util\n1611000060,0,50\n").error.find("or add: --host NAME"),
            std::string::npos);
}

// A mapping that was proposed works once its gaps are filled.
TEST(CsvGuess, AProposalCanBeCompleted) {
  const std::string_view table =
      "jobid,launched,gone,cards used by it\n1,1614556800,1614560400,2\n";
  std::string error = read_guessed(table).error;
  std::string mapping = error.substr(error.find("row ="));
  mapping.insert(mapping.find("# start"),
                 "start = \"launched\"\nend = \"gone\"\naccelerators = \"cards used by it\"\n");
  const Fed fed = feed(make_lines, table, {.mapping = mapping});
  EXPECT_EQ(fed.error, "");
  ASSERT_EQ(fed.told.jobs.size(), 1U);
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 2);
}

TEST(CsvGuess, WhatIsNoTableIsLeftAlone) {
  for (const std::string_view text :
       {"hello\nworld\n", "Dear all,\nthis is a letter, with commas, of course.\nBye\n",
        "#!/bin/bash\nset -e\necho a, b\n", "a\n", "what is this",
        "one two three\nfour five six\n"}) {
    SCOPED_TRACE(text);
    const auto source = sources().claiming(text);
    EXPECT_FALSE(source);
  }
}

TEST(CsvGuess, DirtyLinesAreCountedWithTheirPlace) {
  std::string table =
      "\xEF\xBB\xBFjobid,name,start,end,gpus\r\n"
      "1,\"two\nlines\",1614556800,1614560400,\"1,024\"\r\n"
      "jobid,name,start,end,gpus\r\n"  // Files put one behind the other.
      "2,b,1614556800,1614560400\r\n"
      "3,c,1614556800,1614560400,2,,\r\n"
      "4,d,1614556800,1614560400,2,more\r\n"
      "5,e,soon,1614560400,2\r\n"
      "6,f,1614556800,1614560400,\"0,5\"\r\n";
  table += std::string("7,g\0,1614556800,1614560400,2\r\n", 30);
  const Fed fed = read_guessed(table);
  ASSERT_EQ(fed.told.jobs.size(), 2U) << fed.error;
  EXPECT_EQ(fed.told.jobs[0].name, "two\nlines");
  EXPECT_EQ(fed.told.jobs[0].draft.accelerators, 1024);
  EXPECT_EQ(fed.told.jobs[1].id, "3");
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 4U);
  EXPECT_EQ(fed.told.count(Trouble::kBadTime), 1U);
}

// The first lines are all that a guess is made from; it is not kept against all that follow.
TEST(CsvGuess, AUnitThatLaterLinesContradictIsAnError) {
  const auto table = [](std::string_view first, std::string_view later) {
    std::string text = "timestamp,node,card,gpu_util\n";
    for (int i = 0; i < 400; ++i) {
      text +=
          std::to_string(1611000000 + i) + ",n1,0," + std::string(i < 300 ? first : later) + "\n";
    }
    return text;
  };
  const std::string percent = read_guessed(table("0.3", "85")).error;
  EXPECT_TRUE(percent.starts_with("line 322: ")) << percent;
  EXPECT_NE(percent.find("21 of 321 values"), std::string::npos) << percent;
  EXPECT_NE(percent.find("unit = \"fraction\"\n"), std::string::npos) << percent;
  const std::string fraction = read_guessed(table("0", "0.5")).error;
  EXPECT_NE(fraction.find("of 400 values none is above 1 and 100 are not whole"), std::string::npos)
      << fraction;
  EXPECT_EQ(read_guessed(table("0", "85.5")).error, "");
  EXPECT_EQ(read_guessed(table("0", "1")).error, "");
  EXPECT_EQ(read_guessed("timestamp,node,card,gpu_util_pct\n1611000000,n1,0,0.3\n").error, "");
}

TEST(CsvGuess, ExplainsWhatMeansWhat) {
  const auto source = sources().claiming(kJobTables[1].table);
  ASSERT_TRUE(source);
  const Explained said = fleet::explain(*source, kJobTables[1].table, {});
  EXPECT_EQ(said.gives, Gives::kJobs);
  EXPECT_EQ(said.text,
            "a table of jobs, known by its 13 columns (between ,) and its first 1 lines\n"
            "  id = \"job_id\"\n"
            "  submit = \"submit_time\"\n"
            "  start = \"start_time\"\n"
            "  end = \"end_time\"\n"
            "  state = \"state\"\n"
            "  user = \"user\"\n"
            "  host_count = \"node_num\"\n"
            "  accelerators = \"gpu_num\"\n"
            "  not used: cpu_num, type, duration, queue, gpu_time\n"
            "  to change this, pass a mapping: --map FILE (docs/format/csv-mapping.md)");
  const auto samples = sources().claiming(kSampleTables[0].table);
  ASSERT_TRUE(samples);
  EXPECT_EQ(fleet::explain(*samples, kSampleTables[0].table, {}).gives, Gives::kSamples);
}

// nvidia-smi with noheader,nounits: the cells must tell.
TEST(Guess, SamplesWithoutAHeader) {
  std::string rows;
  for (int i = 0; i < 8; ++i) {
    rows += "2026/11/02 00:0" + std::to_string(i / 2) + ":00.000, " + std::to_string(i % 2) + ", " +
            std::to_string(i * 10) + "\n";
  }
  const Fed fed = read_guessed(rows, {.path = "n1.csv"});
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(fed.told.series_names, (std::vector<std::string>{"n1/0 gpu_util", "n1/1 gpu_util"}));
  EXPECT_EQ(fed.told.sample_count(), 8U);
  // Which of several numbers it is somebody must say; what is printed works when it is completed.
  std::string more;
  for (const std::string_view line : split(rows, '\n')) {
    if (!line.empty()) more += std::string(line) + ", 3, 45\n";
  }
  const Fed open = read_guessed(more, {.path = "n1.csv"});
  const std::size_t begin = open.error.find("row = ");
  ASSERT_NE(begin, std::string::npos) << open.error;
  std::string mapping = open.error.substr(begin);
  const std::size_t line = mapping.find("# value = ");
  ASSERT_NE(line, std::string::npos) << mapping;
  mapping.erase(line, 2);
  mapping.replace(mapping.find("COLUMN"), 6, "3");
  const Fed mapped = feed(make_lines, more, {.path = "n1.csv", .mapping = mapping});
  EXPECT_EQ(mapped.error, "") << mapping;
  EXPECT_EQ(mapped.told.series_names, fed.told.series_names);
}

TEST(Guess, HostsOfACapacityTableMayBeNumbers) {
  const Fed fed =
      read_guessed("gpu_model,gpu_capacity_num,cpu_num,node_name\nA10,4,192,0\nA10,8,192,1\n");
  EXPECT_EQ(join(fed.told.capacities, " "), "0||A10|4 1||A10|8");
}

// A date alone would put all of a day at midnight.
TEST(Guess, DatesWithTheirTimesBesideThem) {
  for (const std::string_view rows :
       {"date,clock,host,gpu,gpu_util\n2026-11-02,00:01:00,n1,0,45\n2026-11-02,00:02:00,n1,0,5\n",
        "Date,Time,host,gpu,gpu_util\n2026-11-02,00:01:00,n1,0,45\n2026-11-02,00:02:00,n1,0,5\n",
        "date;time;host;gpu;gpu_util\n20261102;00:01;n1;0;45\n20261102;00:02;n1;0;5\n",
        "date;time;host;gpu;gpu_util\n02.11.2026;00:01:00.000;n1;0;45\n"
        "02.11.2026;00:02:00.000;n1;0;5\n"}) {
    const Fed fed = read_guessed(rows);
    EXPECT_EQ(fed.error, "") << rows;
    ASSERT_EQ(fed.told.sample_count(), 2U) << rows;
    EXPECT_EQ(fed.told.samples_of[0][1].at, seconds(1793577720)) << rows;
  }
  const Fed jobs = read_guessed(
      "id,start_date,start_time,end_date,end_time,gpus\n7,2026-11-02,01:00:00,2026-11-03,"
      "03:00:00,2\n");
  ASSERT_EQ(jobs.told.jobs.size(), 1U) << jobs.error;
  EXPECT_EQ(jobs.told.jobs[0].draft.end - jobs.told.jobs[0].draft.start, hours(26));
}

TEST(Guess, FilesOfOneAccelerator) {
  for (const std::string path : {"logs/n1/gpu3.csv", "n1_gpu3.csv", "logs/n1-gpu-3.csv"}) {
    const Fed fed = read_guessed("time,util\n1793577600,45\n1793577660,5\n", {.path = path});
    EXPECT_EQ(fed.error, "");
    EXPECT_EQ(join(fed.told.series_names, " "), "n1/3 gpu_util") << path;
  }
  EXPECT_NE(read_guessed("time,util\n1793577600,45\n", {.path = "n1.csv"})
                .error.find("accelerator: which"),
            std::string::npos);
}

// As mysql draws it.
TEST(Guess, TablesInBoxes) {
  const Fed fed = read_guessed(
      "+---------------------+------+-----+--------------+\n"
      "| time                | host | gpu | avg_gpu_util |\n"
      "+---------------------+------+-----+--------------+\n"
      "| 2026-11-02 00:00:00 | n1   |   0 |           45 |\n"
      "| 2026-11-02 00:01:00 | n1   |   0 |            5 |\n"
      "+---------------------+------+-----+--------------+\n");
  EXPECT_EQ(fed.error, "");
  EXPECT_EQ(join(fed.told.series_names, " "), "n1/0 gpu_util");
  EXPECT_EQ(fed.told.sample_count(), 2U);
  EXPECT_EQ(fed.told.count(Trouble::kBadLine), 0U);
}

}  // namespace
}  // namespace amdahl::fleet::table
