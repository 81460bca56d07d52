#include "fleet/source.h"

#include <chrono>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "fleet/local/local.h"
#include "fleet/testing.h"
#include "model/codec.h"

namespace amdahl::fleet {
namespace {

using std::chrono::seconds;

model::Usage example() {
  model::Usage usage;
  usage.job = "r-17/run";
  usage.family = "vit-eval";
  usage.user = "ada";
  usage.command = {"python3", "evaluate.py", "--batch", "8"};
  usage.accelerators = 2;
  usage.accelerator_kind = "cpu slot";
  usage.start = seconds(1'700'000'000);
  usage.end = usage.start + seconds(2);
  usage.utilisation = {.interval = seconds(1), .metric = "CPU slot", .accelerators = {}};
  usage.utilisation.accelerators = {{0.5F, 1}, {std::numeric_limits<float>::quiet_NaN(), 0}};
  usage.phases = {{"startup", seconds(0), seconds(1)}};
  return usage;
}

Result<std::vector<model::Usage>> read_any(std::string_view bytes) {
  const Source source = TRY(sources().claiming(bytes));
  return local::read(bytes).in(source.name);
}

TEST(Local, ReadsWhatARunLeft) {
  for (const std::string& text :
       {dump_json(model::encode(example())), pretty_json(model::encode(example()))}) {
    const auto jobs = read_any(text);
    ASSERT_TRUE(jobs) << jobs.error().text;
    ASSERT_EQ(jobs->size(), 1U);
    const model::Usage& usage = jobs->front();
    EXPECT_EQ(usage.job, "r-17/run");
    EXPECT_EQ(usage.end - usage.start, seconds(2));
    ASSERT_EQ(usage.utilisation.accelerators.size(), 2U);
    EXPECT_EQ(usage.utilisation.accelerators[0][1], 1);
    EXPECT_TRUE(std::isnan(usage.utilisation.accelerators[1][0]));
    EXPECT_EQ(usage.phases.at(0).name, "startup");
  }
}

TEST(Local, ReadsARecordWithALongCommand) {
  model::Usage usage = example();
  usage.command.assign(2000, "--flag");
  EXPECT_TRUE(read_any(dump_json(model::encode(usage))));
}

TEST(Local, SaysWhatIsWrongWithARecord) {
  const auto with = [](const char* key, Json value) {
    Json json = model::encode(example());
    json[Json::json_pointer(key)] = std::move(value);
    return dump_json(json);
  };
  const struct {
    std::string bytes;
    const char* want;
  } cases[] = {
      {"", "is empty"},
      {"JobID\n1\n", "format not recognised, begins with 'JobID 1 '; sources: "},
      {R"({"argv":[],"accelerators":1,"job":"j"})",
       R"(format not recognised, begins with '{"argv":[],"accelerators":1,"jo…'; sources: )"},
      {with("/accelerators", 0), "local: /accelerators: must be 1 to 1000000, but is 0"},
      {with("/end_ns", 0), "local: /end_ns: is 19675.9 days before /start_ns"},
      {with("/schema", 7), "local: /schema: is 7, but this program reads 1"},
      {with("/job", ""), "local: /job: is empty"},
      {with("/family", ""), "local: /family: is empty"},
      {with("/utilisation/interval_ns", 0),
       "local: /utilisation: has samples, but its interval is not above 0"},
      {with("/accelerators", "two"), "local: /accelerators: type must be integer, but is string"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.want);
    const auto got = read_any(c.bytes);
    const std::string text = got ? "no error" : got.error().text;
    // The list of sources at the end grows.
    EXPECT_EQ(std::string_view(c.want).ends_with("sources: ")
                  ? text.substr(0, text.find("sources: ") + 9)
                  : text,
              c.want);
  }
}

// Every prefix of a record, and the record with each byte damaged, is read or refused in words.
TEST(Local, DamagedRecordsAreRefusedNotObeyed) {
  const std::string whole = dump_json(model::encode(example()));
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const auto cut = local::read(std::string_view(whole).substr(0, i));
    ASSERT_FALSE(cut);
    ASSERT_TRUE(cut.error().text.starts_with("byte ")) << cut.error().text;
    for (const char damage : {'\0', '"', '9', '-', '}', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = damage;
      const auto got = local::read(damaged);
      if (got) continue;
      ASSERT_TRUE(got.error().text.starts_with("byte ") || got.error().text.starts_with("/"))
          << got.error().text;
    }
  }
}

TEST(Local, GivesAJobItsPlacesAndSeries) {
  const std::string text = dump_json(model::encode(example()));
  Recorder recorder;
  const auto reader = local::make(recorder, {});
  for (const char& c : text) ASSERT_TRUE(reader->feed({&c, 1}));
  const auto finished = reader->finish();
  ASSERT_TRUE(finished) << finished.error().text;
  ASSERT_EQ(recorder.jobs.size(), 1U);
  EXPECT_EQ(recorder.jobs[0].id, "r-17/run");
  EXPECT_EQ(recorder.jobs[0].name, "vit-eval");
  EXPECT_EQ(recorder.jobs[0].script, "python3 evaluate.py --batch 8");
  EXPECT_EQ(recorder.jobs[0].draft.state, model::JobState::kCompleted);
  EXPECT_EQ(recorder.jobs[0].draft.accelerators, 2);
  EXPECT_EQ(recorder.places,
            (std::vector<std::string>{"r-17/run localhost 0", "r-17/run localhost 1"}));
  ASSERT_EQ(recorder.series_names.size(), 2U);
  EXPECT_EQ(recorder.series_names[0], "localhost/0 CPU slot job=r-17/run kind=cpu slot");
  ASSERT_EQ(recorder.samples_of[0].size(), 2U);
  EXPECT_EQ(recorder.samples_of[0][1].at, seconds(1'700'000'001));
  EXPECT_EQ(recorder.samples_of[0][1].value, 1);
  ASSERT_EQ(recorder.samples_of[1].size(), 1U);  // The gap is no sample.
  EXPECT_EQ(recorder.samples_of[1][0].value, 0);
}

TEST(Sources, ANearMissGetsASuggestion) {
  EXPECT_EQ(sources().named("local")->reads, "the usage records that `amdahl run` leaves");
  const auto missing = sources().named("locl");
  ASSERT_FALSE(missing);
  EXPECT_TRUE(missing.error().text.starts_with(
      "unknown source 'locl', did you mean 'local'?; sources: local, prometheus"))
      << missing.error().text;
}

TEST(Sources, EachHasANameAndSaysWhatItReads) {
  for (const Source& source : sources().rows()) {
    EXPECT_FALSE(source.name.empty());
    EXPECT_FALSE(source.reads.empty());
  }
}

TEST(Sources, WhatIsNoTextIsCalledByItsName) {
  const struct {
    std::string bytes;
    const char* want;
  } cases[] = {
      {"PK\x03\x04....", "is a zip archive (or a spreadsheet); unpack it first"},
      {"PAR1....", "is a Parquet file; write it as CSV first"},
      {std::string("\x7F"
                   "ELF\2\1\1\0\0\0\0\0|\3\0>\0|\1\0\0\n\0\1|\0|\0",
                   28),
       "is binary; write what it holds as CSV or JSON first"},
      {"BZh91AY", "is bzip2; unpack it, or pack it with gzip or zstd"},
      {"#Entity   GPUTL  SMACT\nID\nGPU 0     45     0.3\n",
       "is output of dcgmi dmon, which has no times; log it: nvidia-smi "
       "--query-gpu=timestamp,index,utilization.gpu --format=csv -l 10"},
      {"Cluster|Login|Proper Name|Account|TRES Name|Used\nc1|u|U|a|gres/gpu|12345\n",
       "is a summary by sreport; ask for the jobs: sacct -a -D -P -S now-7days -o ALL"},
  };
  for (const auto& c : cases) EXPECT_EQ(sources().claiming(c.bytes).error().text, c.want);
  std::string wide;
  for (const char c : std::string(64, 'a') + ",b\n") wide += std::string(1, c) + '\0';
  EXPECT_EQ(sources().claiming(wide).error().text,
            "is UTF-16 without its mark; convert it: iconv -f UTF-16LE -t UTF-8");
}

TEST(Sources, ATraceOfOneJobIsForProfile) {
  const auto claimed = sources().claiming(
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A100"}], "traceEvents": [)");
  ASSERT_FALSE(claimed);
  EXPECT_NE(claimed.error().text.find("amdahl profile"), std::string::npos) << claimed.error().text;
}

// What is suggested for a table without times is recognised once it was followed.
TEST(Sources, TablesForPeopleAreRefusedWithASuggestionThatWorks) {
  const struct {
    std::string_view table;
    std::string_view suggested;
    std::string_view prints;
    std::string_view source;
  } kCases[] = {
      {"PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\ngpu*  up 1-00:00:00  4   idle n[1-4]\n",
       "sinfo -N -o '%N|%R|%G|%T|%H'",
       "NODELIST|PARTITION|GRES|STATE|TIMESTAMP\nn1|gpu|gpu:a100:8|idle|Unknown\n", "slurm"},
      {"JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n12 a "
       "RUN\n",
       "bhist -a -l -u all", "Job <12>, User <ada>, Command <x>\n", "lsf"},
      {"job-ID     prior   name       user         state submit/start at\n-----\n 12 0.5 a u r\n",
       "qacct -j",
       "==============================================================\nqname        gpu.q\n",
       "sge"},
      {"Accounting information about jobs that are: \n  - submitted by all users.\n\nSUMMARY:\n",
       "bacct -l -u all",
       "Accounting information about jobs that are:\n----\n\nJob <12>, User <a>\n", "lsf"},
      {"n1   Tue Sep 16 00:00:00 2025  550.54\n[0] NVIDIA A100 | 33'C,  37 % | 20480 / 40960 MB "
       "|\n",
       "nvidia-smi --query-gpu=timestamp,index,utilization.gpu --format=csv",
       "timestamp, index, utilization.gpu [%]\n2025/09/16 00:00:00.000, 0, 37 %\n", "nvidia-smi"},
      {"NAMESPACE   NAME     READY   STATUS    RESTARTS   AGE\nml   train-0   1/1   Running   0  "
       "3d\n",
       "kubectl get pods -A -o json",
       R"({"items": [{"kind": "Pod", "metadata": {"name": "a", "namespace": "b"}, "spec": )"
       R"({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]}, "status": )"
       R"({"phase": "Succeeded", "startTime": "2023-11-14T22:13:20Z", "containerStatuses": )"
       R"([{"state": {"terminated": {"finishedAt": "2023-11-14T23:13:20Z"}}}]}}]})",
       "json-table"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.suggested);
    const auto refused = sources().claiming(c.table);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find(c.suggested), std::string::npos) << refused.error().text;
    const auto followed = sources().claiming(c.prints);
    ASSERT_TRUE(followed) << followed.error().text;
    EXPECT_EQ(followed->name, c.source);
  }
}

TEST(Sources, Utf16IsUndone) {
  const std::string plain = "timestamp,Hostname,gpu,gpu_util\r\n1507680000,n1,0,50\r\n";
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char c : plain) {
    little += std::string(1, c) + '\0';
    big += std::string(1, '\0') + c;
  }
  for (const std::string& bytes : {little, big}) {
    const auto source = sources().claiming(bytes);
    ASSERT_TRUE(source) << source.error().text;
    EXPECT_EQ(source->name, "csv-long");
    for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, bytes.size()}) {
      Recorder told;
      const auto reader = make_reader(*source, told, {.head = bytes});
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        ASSERT_TRUE(reader->feed(std::string_view(bytes).substr(at, piece)));
      }
      ASSERT_TRUE(reader->finish());
      ASSERT_EQ(told.sample_count(), 1U);
      EXPECT_EQ(told.samples_of[0][0].value, 50);
    }
    EXPECT_TRUE(explain(*source, bytes, {}).text.starts_with("UTF-16; known by its columns: time"));
  }
}

}  // namespace
}  // namespace amdahl::fleet
