// What the report of a scan says, and that nothing is left out of it without a word.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

namespace amdahl::e2e {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.

constexpr std::string_view kHeader =
    "JobID|User|State|Submit|Start|End|ElapsedRaw|NodeList|AllocTRES|JobName\n";

std::string job(int id, int from_h, int to_h, const std::string& host, int gpus) {
  return fmt::format("{}|ada|COMPLETED|{}|{}|{}|{}|{}|gres/gpu={}|train\n", id, kStart,
                     kStart + from_h * 3600, kStart + to_h * 3600, (to_h - from_h) * 3600, host,
                     gpus);
}

// Every minute of the hours [from, to) of one accelerator.
std::string samples(const std::string& host, int gpu, int from_h, int to_h,
                    const std::string& value) {
  std::string text;
  for (int minute = from_h * 60; minute < to_h * 60; ++minute) {
    text += fmt::format("{},{},{},{}\n", kStart + minute * 60, host, gpu, value);
  }
  return text;
}

std::string table(std::string_view metric) {
  return fmt::format("timestamp,Hostname,gpu,{}\n", metric);
}

// Hours 0 to 3 are observed. Job 1 has half of n1 all the time, job 2 one of n2 to hour 4, job 3
// all of n3 without a sample, to hour 4.
class ScanReport : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("sacct.txt", std::string(kHeader) + job(1, 0, 3, "n1", 1) +
                                    job(2, 0, 4, "n2", 1) + job(3, 0, 4, "n3", 2));
    sandbox_.write("places.csv", "jobid,host,gpu\n1,n1,0\n2,n2,0\n3,n3,0\n3,n3,1\n");
    sandbox_.write("dcgm.csv", table("DCGM_FI_DEV_GPU_UTIL") + samples("n1", 0, 0, 3, "40") +
                                   samples("n1", 1, 0, 3, "0") + samples("n2", 0, 0, 2, "60"));
  }

  Outcome scan(std::vector<std::string> more) const {
    std::vector<std::string> words = {"scan", "sacct.txt", "places.csv", "dcgm.csv"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.amdahl(words);
  }
  Json json(std::vector<std::string> more) const {
    more.emplace_back("--json");
    const Outcome outcome = scan(more);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out) : Json();
  }
  // On one line, so that where words were wrapped does not matter.
  static std::string one_line(std::string text) {
    std::string flat;
    for (const char c : text) {
      const bool blank = c == '\n' || c == ' ';
      if (!blank || (!flat.empty() && flat.back() != ' ')) flat += blank ? ' ' : c;
    }
    return flat;
  }

  Sandbox sandbox_;
};

TEST_F(ScanReport, UnobservedJobsAndGapsAreToldApart) {
  const Json answer = json({});
  const Json& totals = answer["totals"];
  EXPECT_EQ(totals["unobserved_jobs"], 1);
  EXPECT_NEAR(totals["unobserved_jobs_accelerator_s"], 6 * 3600, 60);
  EXPECT_NEAR(totals["split_accelerator_s"]["unobserved"], 7 * 3600, 200);
  const std::string text = one_line(scan({"--ascii"}).out);
  EXPECT_NE(text.find("1 of 3 jobs had no valid sample (6"), std::string::npos) << text;
  EXPECT_NE(text.find("h more are gaps in the samples of others."), std::string::npos) << text;
}

// Accelerators that accounting names are there, whether or not anybody observed them.
TEST_F(ScanReport, CapacityCountsWhatJobsHeld) {
  const Json answer = json({});
  const Json& capacity = answer["capacity"];
  const double hours = 3 * 3600;
  EXPECT_NEAR(capacity["total_accelerator_s"], 5 * hours, 120);
  EXPECT_NEAR(capacity["unallocated_accelerator_s"], hours, 120) << "the other one of n1";
  const std::string text = one_line(scan({"--ascii"}).out);
  EXPECT_NE(
      text.find("by accelerators that had telemetry or a job, of which down not known unallocated "
                "3"),
      std::string::npos)
      << text;
  // Without places nobody knows how many n3 has: its job counts on neither side.
  const Outcome less = sandbox_.amdahl({"scan", "sacct.txt", "dcgm.csv", "--json"});
  ASSERT_EQ(less.code, 0) << less.err;
  const Json fewer = Json::parse(less.out)["capacity"];
  EXPECT_NEAR(fewer["total_accelerator_s"], 3 * hours, 120);
  EXPECT_NEAR(fewer["elsewhere_accelerator_s"], 2 * hours, 120);
  EXPECT_NEAR(fewer["unallocated_accelerator_s"], hours, 120);
}

TEST_F(ScanReport, WhatNobodyObservedIsNotZero) {
  const Outcome outcome = sandbox_.amdahl({"scan", "sacct.txt", "--by", "job", "--ascii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string text = one_line(outcome.out);
  EXPECT_NE(text.find("wasted not known because nothing was observed: add samples"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("capacity not known so unallocated time is not known"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("0.0 %"), std::string::npos) << text;
}

TEST_F(ScanReport, TheWindowOfSamplesIsSaid) {
  EXPECT_NEAR(json({})["totals"]["outside_window_accelerator_s"], 3 * 3600, 120);
  const std::string text = one_line(scan({"--ascii"}).out);
  EXPECT_NE(text.find("accelerator-hours of the jobs lie outside the window, which is that of the "
                      "samples; --from and --to set it."),
            std::string::npos)
      << text;
  // One end alone leaves the other where the data end.
  const Json late = json({"--from", "2023-11-15T02:00"});
  EXPECT_EQ(late["window"]["start_s"], kStart + 7200);
  EXPECT_EQ(late["window"]["end_s"], kStart + 3 * 3600);
  const Json early = json({"--to", "2023-11-15T02:00"});
  EXPECT_EQ(early["window"]["start_s"], kStart);
  EXPECT_EQ(early["window"]["end_s"], kStart + 7200);
}

TEST_F(ScanReport, AnEmptyWindowSaysWhereTheJobsAre) {
  const Outcome outcome = scan({"--from", "2024-01-01", "--to", "2024-01-02"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("No job held an accelerator from 2024-01-01 00:00:00 to 2024-01-02 "
                             "00:00:00 UTC; those that were read did from 2023-11-15 00:00:00 to "
                             "2023-11-15 04:00:00: --from 2023-11-15 --to 2023-11-16"),
            std::string::npos)
      << outcome.out;
}

// A metric that tells less, and the same metric in another file.
TEST_F(ScanReport, SamplesThatAreNotUsedAreCountedByName) {
  sandbox_.write("sm.csv", table("DCGM_FI_PROF_SM_ACTIVE") + samples("n1", 0, 0, 2, "0.3"));
  sandbox_.write("again.csv", table("DCGM_FI_DEV_GPU_UTIL") + samples("n2", 0, 0, 1, "60"));
  const Json answer = json({"sm.csv", "again.csv"});
  ASSERT_EQ(answer["samples_passed_over"].size(), 1U) << answer["samples_passed_over"];
  const Json& row = answer["samples_passed_over"][0];
  EXPECT_EQ(row["why"], "better");
  EXPECT_EQ(row["metric"], "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(row["input"], "dcgm.csv");
  EXPECT_EQ(row["better"], "DCGM_FI_PROF_SM_ACTIVE");
  EXPECT_EQ(row["better_from"], "sm.csv");
  EXPECT_EQ(row["samples"], 180);
  std::uint64_t troubles = 0;
  for (const Json& trouble : answer["troubles"]) {
    const std::string name = trouble["name"];
    if (name == "duplicate sample" || name == "sample without a job") {
      troubles += trouble["count"].get<std::uint64_t>();
    }
  }
  EXPECT_EQ(answer["samples"], answer["samples_attributed"].get<std::uint64_t>() + 180 + troubles)
      << "all are accounted for";
  const bool dcgm_first = answer["inputs"][0]["name"] == "dcgm.csv";
  EXPECT_FALSE(dcgm_first && answer["inputs"][0]["troubles"].contains("duplicate sample"));
  const Outcome text = scan({"sm.csv", "again.csv", "--explain-input"});
  EXPECT_EQ(count_lines(text.out,
                        "180 samples of DCGM_FI_DEV_GPU_UTIL in dcgm.csv: not used, superseded by "
                        "DCGM_FI_PROF_SM_ACTIVE in sm.csv"),
            1)
      << text.out;
  EXPECT_EQ(count_lines(text.out, "    counted: 60 × duplicate sample"), 1) << text.out;
}

// A second source that looked for an hour does not take the rest of the day away.
TEST_F(ScanReport, ASourceThatSawLittleDoesNotReplaceAnother) {
  const Json before = json({});
  sandbox_.write("sm.csv", table("DCGM_FI_PROF_SM_ACTIVE") + samples("n1", 0, 0, 1, "0.3"));
  sandbox_.write("other.csv", table("gpu_util") + samples("n1", 0, 0, 2, "10"));
  EXPECT_EQ(json({"sm.csv", "other.csv"})["totals"]["split_accelerator_s"],
            before["totals"]["split_accelerator_s"]);
  sandbox_.write("sm.csv", table("DCGM_FI_PROF_SM_ACTIVE") + samples("n1", 0, 0, 2, "0.3"));
  int used = 0;
  const Json after = json({"sm.csv"});
  for (const Json& metric : after["totals"]["metrics"]) {
    used += metric["name"] == "DCGM_FI_PROF_SM_ACTIVE" ? 1 : 0;
  }
  EXPECT_EQ(used, 1) << "the better one saw most of it";
}

// Of a job that is known by its mean alone there is nothing to draw.
TEST_F(ScanReport, JobsKnownBySumsAreNotDrawn) {
  sandbox_.write("means.csv", fmt::format("job_id,user,start,end,gpus,gpu_util_percent\n"
                                          "7,ada,{},{},2,30\n8,ada,{},{},4,70\n",
                                          kStart, kStart + 7200, kStart, kStart + 7200));
  const Outcome outcome = sandbox_.amdahl({"scan", "means.csv", "--ascii"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("????"), std::string::npos) << outcome.out;
  EXPECT_NE(
      one_line(outcome.out).find("only its mean over the whole job is known: no timeline to draw"),
      std::string::npos)
      << outcome.out;
  const Outcome one = sandbox_.amdahl({"scan", "means.csv", "--ascii", "--job", "7"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out.find("????"), std::string::npos) << one.out;
  EXPECT_NE(one_line(one.out).find("only its mean"), std::string::npos) << one.out;
  const Outcome page = sandbox_.amdahl({"scan", "means.csv", "--html", "page.html"});
  ASSERT_EQ(page.code, 0) << page.err;
  EXPECT_NE(sandbox_.read("page.html").find("only its mean"), std::string::npos);
}

TEST_F(ScanReport, NumbersThatCannotBeAreRefused) {
  struct Case {
    std::vector<std::string> words;
    const char* says;
  };
  const Case cases[] = {
      {{"--threads", "100000"}, "--threads must be from 1 to 256, not 100000"},
      {{"--threads", "0"}, "--threads must be from 1 to 256, not 0"},
      {{"--price", "inf"}, "--price must be USD of at least 0, not inf"},
      {{"--price", "nan"}, "--price must be USD of at least 0, not nan"},
      {{"--price=-3"}, "--price must be USD of at least 0, not -3"},
      {{"--idle=-1"}, "--idle must be a utilisation from 0 to 1, not -1"},
      {{"--idle", "nan"}, "--idle must be a utilisation from 0 to 1, not nan"},
      {{"--csv", "--json"}, "--csv or --json: choose one of them"},
      {{"--html", "--by", "job"}, "--html needs a value (FILE), not the option --by"},
      {{"--source", "prometheus=foo:9090"}, "prometheus=http://foo:9090"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    const Outcome outcome = scan(c.words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find(c.says), std::string::npos) << outcome.err;
  }
  EXPECT_FALSE(sandbox_.has("--by"));
}

// What has a name but can be read once is read as standard input is.
TEST_F(ScanReport, PipesWithNames) {
  Json want = json({});
  // Commands name the inputs.
  for (const char* names : {"inputs", "actions"}) want.erase(names);
  const std::string fifo = sandbox_.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string state = " --state " + sandbox_.path("state") + " --json";
  const std::string commands[] = {
      "cat dcgm.csv > fifo & exec \"$AMDAHL\" scan sacct.txt places.csv fifo" + state,
      "exec \"$AMDAHL\" scan sacct.txt places.csv <(cat dcgm.csv)" + state,
      "cat dcgm.csv | \"$AMDAHL\" scan sacct.txt places.csv /dev/stdin" + state,
  };
  for (const std::string& command : commands) {
    SCOPED_TRACE(command);
    const Outcome outcome =
        run({"timeout", "60", "bash", "-c", command}, {{"AMDAHL", program()}}, sandbox_.path());
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    Json answer = Json::parse(outcome.out);
    for (const char* names : {"inputs", "actions"}) answer.erase(names);
    EXPECT_EQ(answer, want);
  }
}

// Nobody writes: one signal must be enough.
TEST_F(ScanReport, ASignalEndsTheWaitForAPipe) {
  const std::string fifo = sandbox_.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Outcome outcome = run({"timeout", "--kill-after", "30", "1", program(), "scan", "sacct.txt",
                               "fifo", "--state", sandbox_.path("state")},
                              {}, sandbox_.path());
  EXPECT_EQ(outcome.code, 124) << "that of timeout, which did not have to kill it";
}

// Occupancy alone says where the capacity went.
TEST_F(ScanReport, CapacityWithoutJobs) {
  std::string text = "timestamp,held_s,total,allocated,partition\n";
  for (int hour = 0; hour < 4; ++hour) {
    text += fmt::format("{},3600,10,4,a\n{},3600,20,20,b\n", kStart + hour * 3600,
                        kStart + hour * 3600);
  }
  sandbox_.write("room.csv", text);
  sandbox_.write("room.toml",
                 "row = \"occupancy\"\n[columns]\ntime = \"timestamp\"\n"
                 "held = { column = \"held_s\", unit = \"seconds\" }\ntotal = \"total\"\n"
                 "allocated = \"allocated\"\npartition = \"partition\"\n");
  const Outcome outcome = sandbox_.amdahl({"scan", "room.csv", "--map", "room.toml", "--ascii"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(one_line(outcome.out).find("all 120 0 24.0 96.0 a 40.0 0 24.0 16.0 b 80.0 0 0 80.0"),
            std::string::npos)
      << outcome.out;
}

TEST_F(ScanReport, ManyForeignFilesAreNamedInPart) {
  for (int i = 0; i < 20; ++i) sandbox_.write(fmt::format("all/{}.log", i), "# words\n");
  sandbox_.write("all/sacct.txt", sandbox_.read("sacct.txt"));
  const Outcome outcome = sandbox_.amdahl({"scan", "all"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(count_lines(outcome.err, "left out"), 6) << outcome.err;
  EXPECT_EQ(count_lines(outcome.err, "left out 15 more; see --explain-input"), 1) << outcome.err;
}

TEST_F(ScanReport, TheColumnThatRanksIsShown) {
  EXPECT_NE(scan({"--order", "queue", "--width", "80"}).out.find("  queue"), std::string::npos);
  EXPECT_NE(scan({"--order", "lost", "--width", "80"}).out.find("  lost"), std::string::npos);
}

// What may not be read is named, and what comes after it is read.
TEST_F(ScanReport, FoldersThatNobodyMayOpenAreNamed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  sandbox_.write("all/a/secret.csv", "x");
  sandbox_.write("all/sacct.txt", sandbox_.read("sacct.txt"));
  fs::permissions(sandbox_.path("all/a"), fs::perms::none);
  fs::permissions(sandbox_.path(),
                  fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const auto as_nobody = [&](const std::string& what) {
    return run({"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program(), "scan",
                sandbox_.path(what), "--state", sandbox_.path("none"), "--ascii"},
               {}, "/");
  };
  const Outcome folder = as_nobody("all");
  const Outcome file = as_nobody("all/a/secret.csv");
  fs::permissions(sandbox_.path("all/a"), fs::perms::owner_all);
  EXPECT_EQ(folder.code, 0) << folder.err;
  EXPECT_NE(folder.err.find("all/a: Permission denied"), std::string::npos) << folder.err;
  EXPECT_NE(folder.out.find("3 jobs"), std::string::npos) << folder.out;
  EXPECT_EQ(file.code, 3);
  EXPECT_NE(file.err.find("secret.csv: permission denied"), std::string::npos) << file.err;
}

TEST_F(ScanReport, OptionsForAllFilesAreRefusedOnce) {
  const Outcome zone = sandbox_.amdahl({"scan", sandbox_.path(), "--time-zone", "Mars/Olympus"});
  EXPECT_EQ(zone.code, 2);
  EXPECT_EQ(count_lines(zone.err, "expected a zone like Europe/Oslo or +02:00, not 'Mars/Olympus'"),
            1)
      << zone.err;
  sandbox_.write("void/.hidden", "x");
  const Outcome empty = sandbox_.amdahl({"scan", "void"});
  EXPECT_EQ(empty.code, 1);
  EXPECT_NE(empty.err.find("void: the folder has no files"), std::string::npos) << empty.err;
}

// Columns give way, words are wrapped, names are clipped; in pipes nothing is coloured.
TEST_F(ScanReport, NoLineIsWiderThanAsked) {
  const std::string name(120, 'n');
  std::string sacct = sandbox_.read("sacct.txt");
  sandbox_.write("sacct.txt",
                 sacct + fmt::format("4|ada|FAILED|{0}|{0}|{1}|10800|n4|gres/gpu=1|{2}\n", kStart,
                                     kStart + 10800, name));
  sandbox_.write("dcgm.csv", sandbox_.read("dcgm.csv") + samples("n4", 0, 0, 3, "10"));
  sandbox_.write("places.csv", sandbox_.read("places.csv") + "4,n4,0\n");
  for (const int width : {48, 60, 80, 100, 160}) {
    for (const char* by : {"family", "job", "user", "node"}) {
      SCOPED_TRACE(fmt::format("--width {} --by {}", width, by));
      const Outcome outcome =
          scan({"--ascii", "--price", "2", "--by", by, "--width", std::to_string(width)});
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
      std::istringstream lines(outcome.out);
      for (std::string line; std::getline(lines, line);) {
        const bool is_one_word = line.find(' ', line.find_first_not_of(' ')) == line.npos;
        EXPECT_TRUE(is_one_word || line.size() <= static_cast<std::size_t>(width)) << line;
      }
    }
  }
}

// A number alone tells nobody whose job it was.
TEST_F(ScanReport, RowsSayWhatIsBehindThem) {
  const std::string jobs = scan({"--by", "job", "--ascii", "--width", "100"}).out;
  EXPECT_NE(jobs.find("train, ada, 1 x accelerator, COMPLETED"), std::string::npos) << jobs;
  const std::string families = one_line(scan({"--ascii"}).out);
  EXPECT_NE(families.find("(jobs named train, user ada"), std::string::npos) << families;
}

TEST_F(ScanReport, EmptyFilesAreLeftOut) {
  Json want = json({});
  sandbox_.write("empty.csv", "");
  const Outcome outcome = scan({"empty.csv", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["unreadable"], Json::array({"empty.csv: is empty"}));
  EXPECT_EQ(answer["totals"], want["totals"]);
  const Outcome alone = sandbox_.amdahl({"scan", "empty.csv"});
  EXPECT_NE(alone.code, 0);
  EXPECT_NE(alone.err.find("empty.csv: is empty"), std::string::npos) << alone.err;
}

// Keys of JSON objects are columns, and a mapping says what they mean.
TEST_F(ScanReport, JsonTablesTakeAMapping) {
  sandbox_.write("jobs.json",
                 fmt::format("[{{\"n\": 1, \"when\": {{\"a\": {}, \"b\": {}}}, \"g\": 2}}]", kStart,
                             kStart + 3600));
  sandbox_.write("map.toml",
                 "row = \"job\"\n[columns]\nid = \"n\"\nstart = \"when.a\"\nend = \"when.b\"\n"
                 "accelerators = \"g\"\n");
  const Outcome without = sandbox_.amdahl({"scan", "jobs.json"});
  EXPECT_NE(without.code, 0);
  EXPECT_NE(without.err.find("--map FILE.toml"), std::string::npos) << without.err;
  const Outcome outcome = sandbox_.amdahl({"scan", "jobs.json", "--map", "map.toml", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["totals"]["split_accelerator_s"]["allocated"], 7200);
  EXPECT_TRUE(answer["inputs"][0]["read_as"].get<std::string>().starts_with("json-table"));
}

// A job that works for an hour and then holds its accelerator for eight, and what is done about it.
TEST(ScanActions, AnIdleSessionIsFoundReplayedBilledMailedAndAlertedOn) {
  Sandbox sandbox;
  sandbox.write("sacct.txt", std::string(kHeader) + job(7, 0, 9, "n1", 1) + job(8, 0, 9, "n2", 1));
  sandbox.write("places.csv", "jobid,host,gpu\n7,n1,0\n8,n2,0\n");
  sandbox.write("dcgm.csv", table("DCGM_FI_DEV_GPU_UTIL") + samples("n1", 0, 0, 1, "90") +
                                samples("n1", 0, 1, 9, "0") + samples("n2", 0, 0, 9, "90"));
  const auto scan = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"scan", "sacct.txt", "places.csv", "dcgm.csv"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox.amdahl(words);
  };
  const Json got =
      Json::parse(scan({"--price", "2", "--policy", "idle-timeout=90m", "--json"}).out);
  const Json& first = got.at("actions").at(0);
  EXPECT_EQ(first.at("id"), "end-idle-sessions");
  EXPECT_EQ(first.at("confirmed"), true);
  EXPECT_DOUBLE_EQ(first.at("recovered_accelerator_s").get<double>(), 6.5 * 3600);
  EXPECT_EQ(first.at("users"), 1);
  EXPECT_DOUBLE_EQ(got.at("policies").at("idle_timeout_s").get<double>(), 90 * 60);
  EXPECT_EQ(got.at("chargeback").at("user").at(0).at("name"), "ada");
  EXPECT_DOUBLE_EQ(got.at("chargeback").at("total").at("allocated_usd").get<double>(), 36);
  const Outcome text =
      scan({"--policy", "idle-timeout=90m", "--mail", "mails", "--alerts", "r.yml"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("> idle-timeout=90m"), std::string::npos) << text.out;
  EXPECT_NE(sandbox.read("mails/ada.txt").find("--job 7"), std::string::npos);
  EXPECT_NE(sandbox.read("r.yml").find("[90m]"), std::string::npos);
  const std::string bills = scan({"--chargeback"}).out;
  EXPECT_NE(bills.find("\nuser,total,2,18.000000,"), std::string::npos) << bills;
  EXPECT_NE(bills.find("\npartition,total,2,18.000000,"), std::string::npos) << bills;
  const Outcome wrong = scan({"--policy", "idle-timeout=1m"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("--policy must be idle-timeout=60m"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace amdahl::e2e
