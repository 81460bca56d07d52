// Whole fleets from files, through the real program.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.

std::string sacct(int jobs) {
  std::string text =
      "JobID|JobIDRaw|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|NNodes|NodeList|"
      "AllocTRES|JobName\n";
  for (int i = 0; i < jobs; ++i) {
    text += fmt::format(
        "{0}|{0}|u{1}|lab|gpu|COMPLETED|2023-11-15T00:00:00Z|2023-11-15T00:00:00Z|"
        "2023-11-15T02:00:00Z|7200|1|n{0}|billing=1,gres/gpu=1|train\n",
        100 + i, i % 3);
  }
  return text;
}

std::string places(int jobs) {
  std::string text = "jobid,host,gpu\n";
  for (int i = 0; i < jobs; ++i) text += fmt::format("{0},n{0},0\n", 100 + i);
  return text;
}

// Minutes [from, to) of each job's accelerator; job i is at 10 × i %.
std::string samples(int jobs, int from, int to, bool header) {
  std::string text = header ? "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n" : "";
  for (int minute = from; minute < to; ++minute) {
    for (int i = 0; i < jobs; ++i) {
      text += fmt::format("{},n{},0,{}\n", kStart + minute * 60, 100 + i, i * 10);
    }
  }
  return text;
}

class Scan : public testing::Test {
 protected:
  static constexpr int kJobs = 10;

  void SetUp() override {
    sandbox_.write("sacct.txt", sacct(kJobs));
    sandbox_.write("places.csv", places(kJobs));
    sandbox_.write("samples.csv", samples(kJobs, 0, 60, true));
  }

  Json scan(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"scan",        "sacct.txt", "places.csv",
                                      "samples.csv", "--json",    "--from",
                                      "2023-11-15",  "--to",      "2023-11-15T02:00:00"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = sandbox_.amdahl(words);
    return json_of(outcome);
  }

  // What the scan says, without how it came by it.
  static Json said(Json answer) {
    answer.erase("inputs");
    return answer;
  }

  static std::uint64_t new_bytes(const Json& answer, const std::string& file) {
    for (const Json& input : answer.at("inputs")) {
      if (input.at("name") == file) {
        return input.at("bytes").get<std::uint64_t>() -
               input.at("bytes_known").get<std::uint64_t>();
      }
    }
    return 999'999'999;
  }

  void append(const std::string& file, const std::string& text) const {
    std::ofstream(sandbox_.path(file), std::ios::app) << text;
  }

  Sandbox sandbox_;
};

TEST_F(Scan, JoinsFilesOfAnyKindWithoutConfiguration) {
  const Json answer = scan({"--by", "job", "--idle", "0", "--order", "wasted"});
  EXPECT_EQ(answer.at("totals").at("jobs"), kJobs);
  EXPECT_NEAR(answer.at("totals").at("split_accelerator_s").at("allocated"), kJobs * 7200.0, 1e-6);
  EXPECT_NEAR(answer.at("totals").at("split_accelerator_s").at("unobserved"), kJobs * 3600.0, 600);
  EXPECT_EQ(answer.at("samples"), kJobs * 60);
  EXPECT_EQ(answer.at("samples_attributed"), kJobs * 60);
  EXPECT_EQ(answer.at("totals").at("metrics").at(0).at("name"), "DCGM_FI_DEV_GPU_UTIL");
  EXPECT_EQ(answer.at("rows").at(0).at("name"), "100") << "the idle one wasted most";
}

TEST_F(Scan, ASecondScanReadsOnlyWhatIsNew) {
  const Json first = scan();
  EXPECT_EQ(new_bytes(first, "samples.csv"), sandbox_.read("samples.csv").size());
  const Json again = scan();
  EXPECT_EQ(new_bytes(again, "samples.csv"), 0U);
  EXPECT_EQ(said(again), said(first));

  const std::string more = samples(kJobs, 60, 90, false);
  append("samples.csv", more);
  const Json grown = scan();
  EXPECT_EQ(new_bytes(grown, "samples.csv"), more.size());
  EXPECT_EQ(grown.at("samples"), kJobs * 90);
  EXPECT_EQ(said(grown), said(scan({"--fresh"})));
  EXPECT_EQ(said(scan({"--threads", "1"})), said(scan({"--threads", "3", "--fresh"})));
}

TEST_F(Scan, AHalfWrittenLineCountsOnceWhenItIsWhole) {
  scan();
  append("samples.csv", fmt::format("{},n100,0,5", kStart + 3600));
  EXPECT_EQ(scan().at("samples"), kJobs * 60 + 1);
  append("samples.csv", fmt::format("5\n{},n100,0,7\n", kStart + 3660));
  const Json whole = scan();
  EXPECT_EQ(whole.at("samples"), kJobs * 60 + 2);
  EXPECT_EQ(said(whole), said(scan({"--fresh"})));
}

TEST_F(Scan, LateAndDuplicateSamplesAreCounted) {
  scan();
  append("samples.csv", samples(kJobs, 58, 60, false));
  const Json answer = scan();
  std::uint64_t counted = 0;
  for (const Json& trouble : answer.at("troubles")) {
    if (trouble.at("name") == "duplicate sample" || trouble.at("name") == "late sample") {
      counted += trouble.at("count").get<std::uint64_t>();
    }
  }
  EXPECT_EQ(counted, 2U * kJobs) << answer.at("troubles");
  EXPECT_EQ(said(answer), said(scan({"--fresh"})));
}

TEST_F(Scan, AFileThatWasCutRotatedOrRewrittenIsReadAnew) {
  const auto notes = [](const Json& answer) {
    for (const Json& input : answer.at("inputs")) {
      if (input.at("name") == "samples.csv") return input.at("notes").get<std::string>();
    }
    return std::string("?");
  };
  scan();
  sandbox_.write("samples.csv", samples(kJobs, 0, 50, true));
  Json answer = scan();
  EXPECT_EQ(notes(answer), "is shorter than before, so it was read again");
  EXPECT_EQ(answer.at("samples"), kJobs * 50);

  fs::rename(sandbox_.path("samples.csv"), sandbox_.path("samples.csv.1"));
  sandbox_.write("samples.csv", samples(kJobs, 50, 110, true));
  answer = scan();
  EXPECT_EQ(notes(answer), "is a different file than before, so it was read again");
  EXPECT_EQ(answer.at("samples"), kJobs * 60);

  std::string other = sandbox_.read("samples.csv");
  other[other.size() - 2] = '9';
  std::ofstream(sandbox_.path("samples.csv")) << other;
  EXPECT_EQ(notes(scan()), "was rewritten, so it was read again");
}

// Wherever it dies, the next scan says the same.
TEST_F(Scan, ACrashCostsOnlyReadingAgain) {
  const Json want = said(scan({"--fresh"}));
  for (int at = 1; at <= 4; ++at) {
    SCOPED_TRACE(at);
    fs::remove_all(sandbox_.path("state/scan"));
    const Outcome died = sandbox_.amdahl(
        {"scan", "sacct.txt", "places.csv", "samples.csv", "--from", "2023-11-15", "--to",
         "2023-11-15T02:00:00"},
        {{"AMDAHL_FAULT_AT", std::to_string(at)}, {"AMDAHL_FAULT_POINT", "scan-kept"}});
    if (died.code == 0) break;
    EXPECT_EQ(died.code, 137);
    EXPECT_EQ(said(scan()), want);
    EXPECT_EQ(said(scan()), want);
  }
}

TEST_F(Scan, GzipMembersMayBeAppended) {
  const auto gzip = [&](const std::string& text, const char* how) {
    sandbox_.write("part", text);
    run({"sh", "-c", fmt::format("gzip -c part {} samples.csv.gz", how)}, {}, sandbox_.path());
  };
  // Above the size from which files are kept.
  gzip(samples(kJobs, 0, 60, true) + samples(900, 60, 75, false), ">");
  const std::vector<std::string> words = {"scan",           "sacct.txt", "places.csv",
                                          "samples.csv.gz", "--json",    "--from",
                                          "2023-11-15",     "--to",      "2023-11-15T02:00:00"};
  const Json first = json_of(sandbox_.amdahl(words));
  EXPECT_EQ(first.at("samples"), kJobs * 60 + 900 * 15);
  gzip(samples(kJobs, 75, 90, false), ">>");
  const Json grown = json_of(sandbox_.amdahl(words));
  EXPECT_EQ(grown.at("samples"), kJobs * 75 + 900 * 15);
  EXPECT_LT(new_bytes(grown, "samples.csv.gz"), 3000U);
}

TEST_F(Scan, ReadsFoldersAndPatternsAndStandardInput) {
  fs::create_directories(sandbox_.path("all/deep"));
  fs::copy(sandbox_.path("sacct.txt"), sandbox_.path("all/sacct.txt"));
  fs::copy(sandbox_.path("places.csv"), sandbox_.path("all/deep/places.csv"));
  fs::copy(sandbox_.path("samples.csv"), sandbox_.path("all/deep/samples.csv"));
  sandbox_.write("all/notes.md", "# Not an input\n");
  const Outcome folder = sandbox_.amdahl({"scan", "all"});
  EXPECT_EQ(folder.code, 0) << folder.err;
  EXPECT_NE(
      folder.err.find("left out all/notes.md: format not recognised, begins with '# Not an input"),
      std::string::npos)
      << folder.err;
  const Outcome named = sandbox_.amdahl({"scan", "all/notes.md"});
  EXPECT_EQ(named.code, 3) << named.err;
  EXPECT_EQ(sandbox_.amdahl({"scan", "all/*.txt", "all/deep/*.csv"}).out, folder.out);
  const Outcome piped =
      run({"sh", "-c",
           fmt::format("'{}' scan --state state all/sacct.txt all/deep/places.csv - < samples.csv",
                       program())},
          {}, sandbox_.path());
  EXPECT_EQ(piped.out, folder.out) << piped.err;
}

TEST_F(Scan, TablesAreKnownByTheirColumnsOrSayWhatTheyNeed) {
  sandbox_.write("fleet/util.csv",
                 "time,machineId,gpu0_util,gpu1_util\n"
                 "2023-11-15 00:00:00 UTC,m1,50,0,\n"
                 "2023-11-15 00:30:00 UTC,m1,NA,100,\n");
  sandbox_.write("fleet/who.csv", "Job ID,Node,GPU Index\n7,m1,0\n7,m1,1\n");
  sandbox_.write("fleet/work.csv",
                 "Job ID,Owner,Begin Time,Finish Time,GPU Count,Machine,Room\n"
                 "7,ada,2023-11-15 00:00:00Z,2023-11-15 01:00:00Z,2,m1,west\n");
  const Json answer = json_of(sandbox_.amdahl({"scan", "fleet", "--json"}));
  ASSERT_EQ(answer.at("inputs").size(), 3U);
  EXPECT_EQ(answer.at("inputs").at(2).at("samples"), 3);
  EXPECT_EQ(answer.at("totals").at("jobs"), 1);
  EXPECT_EQ(answer.at("totals").at("unobserved_jobs"), 0);
  const std::string told = sandbox_.amdahl({"scan", "fleet", "--explain-input"}).out;
  for (const char* want :
       {"start = \"Begin Time\"", "not used: Room", "2 columns \"gpu*_util\", percent: there"}) {
    EXPECT_NE(told.find(want), std::string::npos) << want << "\n" << told;
  }

  sandbox_.write("none/odd.csv", "a,b,c\n1,2,3\n");
  const Outcome none = sandbox_.amdahl({"scan", "none"});
  EXPECT_NE(none.err.find("nothing could be read:\n  none/odd.csv: is a table without"),
            std::string::npos)
      << none.err;
  sandbox_.write("odd.csv", "jid,launched,gone,n\n1,1700006400,1700010000,2\n");
  const Outcome odd = sandbox_.amdahl({"scan", "odd.csv"});
  EXPECT_EQ(odd.code, 3);
  ASSERT_NE(odd.err.find("row = \"job\""), std::string::npos) << odd.err;
  std::string mapping = odd.err.substr(odd.err.find("row = \"job\""));
  mapping.insert(mapping.find("# start"),
                 "start = \"launched\"\nend = \"gone\"\naccelerators = \"n\"\n");
  sandbox_.write("odd.toml", mapping);
  const Outcome mapped = sandbox_.amdahl({"scan", "odd.csv", "--map", "odd.toml", "--json"});
  ASSERT_EQ(mapped.code, 0) << mapped.err << mapping;
  EXPECT_EQ(json_of(mapped).at("totals").at("jobs"), 1);
}

// A line for each accelerator that a job held, and what there is without anything else.
TEST_F(Scan, PlacementsAndInventories) {
  sandbox_.write("held.csv",
                 "jobid,host,gpu,start,end\n7,m1,0,2023-11-15T00:00:00Z,2023-11-15T01:00:00Z\n"
                 "7,m1,1,2023-11-15T00:00:00Z,2023-11-15T01:00:00Z\n"
                 "8,m2,0,2023-11-15T00:00:00Z,2023-11-15T00:30:00Z\n");
  std::string used = "timestamp,host,gpu,util\n";
  for (int minute = 0; minute < 60; minute += 5) {
    used += fmt::format("{0},m1,0,100\n{0},m1,1,0\n{0},m2,0,50\n", kStart + minute * 60);
  }
  sandbox_.write("used.csv", used);
  const Json answer =
      json_of(sandbox_.amdahl({"scan", "held.csv", "used.csv", "--json", "--idle", "0"}));
  EXPECT_EQ(answer.at("totals").at("jobs"), 2);
  EXPECT_NEAR(answer.at("totals").at("split_accelerator_s").at("allocated"), 2.5 * 3600, 1);
  EXPECT_NEAR(answer.at("totals").at("split_accelerator_s").at("idle"), 3600, 1);
  EXPECT_EQ(answer.at("totals").at("unobserved_jobs"), 0);

  sandbox_.write("inventory.csv", "hostname,gpu_model,gpus\nm1,A100,8\nm2,V100,4\n");
  const Outcome alone = sandbox_.amdahl({"scan", "inventory.csv"});
  EXPECT_EQ(alone.code, 1);
  EXPECT_NE(alone.out.find("12 accelerators on 2 hosts (8 A100, 4 V100)"), std::string::npos)
      << alone.out;
  // What it says to add is read with it: samples, and jobs as sacct prints those columns.
  EXPECT_EQ(sandbox_.amdahl({"scan", "inventory.csv", "used.csv"}).code, 0);
  const std::size_t columns = alone.out.find("-o ") + 3;
  std::string header = alone.out.substr(columns, alone.out.find(' ', columns) - columns);
  std::ranges::replace(header, ',', '|');
  sandbox_.write("jobs.txt", header +
                                 "\n9|train|ada|lab|gpu|COMPLETED|0:0|2023-11-15T00:00:00|"
                                 "2023-11-15T00:00:00|2023-11-15T01:00:00|3600|gres/gpu=8|m1\n");
  const Json both = json_of(sandbox_.amdahl({"scan", "inventory.csv", "jobs.txt", "--json"}));
  EXPECT_EQ(both.at("totals").at("jobs"), 1);
}

TEST_F(Scan, FitsTheTerminalAndSaysItPlainly) {
  for (const int width : {60, 80, 120}) {
    const Outcome outcome = sandbox_.amdahl({"scan", "sacct.txt", "places.csv", "samples.csv",
                                             "--from", "2023-11-15", "--to", "2023-11-15T02:00:00",
                                             "--width", std::to_string(width), "--ascii"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "no colours off a terminal";
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), static_cast<std::size_t>(std::max(width, 78))) << line;
    }
    EXPECT_NE(outcome.out.find("20.0 accelerator-hours allocated"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("DCGM_FI_DEV_GPU_UTIL"), std::string::npos);
    EXPECT_NE(outcome.out.find("9.83 h (49 %)"), std::string::npos) << outcome.out;
  }
  const Outcome csv =
      sandbox_.amdahl({"scan", "sacct.txt", "places.csv", "samples.csv", "--by", "user", "--csv"});
  EXPECT_EQ(count_lines(csv.out, ","), 4) << csv.out;
  EXPECT_TRUE(csv.out.starts_with("user,jobs,unobserved_jobs,failed_jobs,allocated_h,")) << csv.out;
}

TEST_F(Scan, WrongUseSaysWhatToType) {
  const struct {
    std::vector<std::string> words;
    int code;
    const char* says;
  } cases[] = {
      {{"scan", "none.csv"},
       1,
       "none.csv: no such file or folder; scan takes files or folders of usage records, "
       "accounting and telemetry, and --source: amdahl scan --help"},
      {{"scan", "--by", "colour"}, 2, "--by must be one of job, family, user"},
      {{"scan", "--from", "yesterday-ish"}, 2, "--from: expected a time like 2026-11-15"},
      {{"scan", "--window", "7"},
       2,
       "--window: expected a duration like 7d, 36h or 90min, not '7'"},
      {{"scan", "--from", "2023-11-16", "--to", "2023-11-15"}, 2, "--from must be before --to"},
      {{"scan", "--source", "promethus=http://x"}, 2, "did you mean 'prometheus'?"},
      {{"scan", "--source", "prometheus=x:9090"}, 2, "x:9090: there is no such file; an address"},
      {{"scan", "--source", "prometheus=http://u:p@x"}, 2, "do not put a password in the URL"},
      {{"scan", "--idle", "5"}, 2, "--idle must be a utilisation from 0 to 1, not 5"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.says);
    const Outcome outcome = sandbox_.amdahl(c.words);
    EXPECT_EQ(outcome.code, c.code) << outcome.err;
    EXPECT_NE(outcome.err.find(c.says), std::string::npos) << outcome.err;
  }
}

TEST_F(Scan, ReadsWhatTheConfigurationNames) {
  sandbox_.write(
      "state/config.toml",
      fmt::format("[price.by_kind]\na100 = 2.5\n[[scan.source]]\nread = \"{0}/sacct.txt\"\n"
                  "[[scan.source]]\nread = \"{0}/places.csv\"\n[[scan.source]]\n"
                  "read = \"{0}/samples.csv\"\n[[scan.family]]\npattern = \"^train\"\n"
                  "family = \"all-training\"\n",
                  sandbox_.path()));
  const Outcome outcome = sandbox_.amdahl({"scan", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json answer = json_of(outcome);
  ASSERT_EQ(answer.at("families").size(), 1U);
  EXPECT_EQ(answer.at("families").at(0).at("family"), "all-training");
  sandbox_.write("state/config.toml",
                 "[[scan.source]]\nread = \"prometheus=http://x\"\ntoken = \"t\"\n");
  EXPECT_NE(sandbox_.amdahl({"scan"}).err.find("line 3: a scan.source has no 'token'"),
            std::string::npos);
}

TEST_F(Scan, TheLoopTakesUpWhatTheFleetWastes) {
  sandbox_.add_nap_job();
  const std::string sources = fmt::format(
      "[[scan.source]]\nread = \"{0}/sacct.txt\"\n[[scan.source]]\nread = \"{0}/places.csv\"\n"
      "[[scan.source]]\nread = \"{0}/samples.csv\"\n[[scan.family]]\npattern = \"^train\"\n"
      "family = \"nap\"\n",
      sandbox_.path());
  sandbox_.write("config.toml", sandbox_.read("config.toml") + "\n" + sources);
  // Nothing can be tried yet: the choice says what is missing.
  ASSERT_EQ(sandbox_.amdahl({"cycle"}).code, 0);
  const Json before = json_of(sandbox_.amdahl({"status", "--json"})).at("next");
  EXPECT_EQ(before.at("family"), "nap");
  EXPECT_EQ(before.at("has_spec"), false);
  EXPECT_NE(
      std::string(before.at("why")).find("no spec to experiment with: amdahl adopt --spec FILE"),
      std::string::npos)
      << before;
  ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
  const Outcome cycle = sandbox_.amdahl({"cycle"});
  ASSERT_EQ(cycle.code, 0) << cycle.err;
  EXPECT_NE(cycle.err.find("next: nap: "), std::string::npos) << cycle.err;
  EXPECT_EQ(sandbox_.amdahl({"cycle"}).err.find("next: "), std::string::npos) << "nothing changed";
  EXPECT_NE(sandbox_.amdahl({"status"}).out.find("\nNext      nap: "), std::string::npos);
  std::string words = sandbox_.amdahl({"scan"}).out;
  for (std::size_t at = 0; (at = words.find("\n  ")) != words.npos;) words.replace(at, 3, " ");
  EXPECT_NE(words.find("; no such lever was tried yet: chance 43 %"), std::string::npos) << words;
  EXPECT_NE(words.find("The loop works next on nap: "), std::string::npos) << words;
  const Json lever = json_of(sandbox_.amdahl({"scan", "--json"})).at("families").at(0).at("lever");
  EXPECT_EQ(lever.at("such_tried"), 0) << lever;
  const Outcome log = sandbox_.amdahl({"ledger", "log", "nap"});
  EXPECT_EQ(count_lines(log.out, " accelerator-hours recoverable: "), 2) << log.out;
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
  ASSERT_EQ(sandbox_.amdahl({"ledger", "export", "--output", "ledger.jsonl"}).code, 0);
  const std::string ledger = sandbox_.read("ledger.jsonl");
  EXPECT_EQ(count_lines(ledger, "\"scan.chose\""), 2) << ledger;
  const auto picked = ledger.find("\"scan.picked\"");
  ASSERT_NE(picked, std::string::npos) << ledger;
  EXPECT_NE(ledger.find("wasted in 10 jobs; lever: "), std::string::npos) << ledger;
  // When all that was known has its verdict or is parked, the choice is another one, and nothing is
  // tried again.
  ASSERT_EQ(sandbox_.amdahl({"propose", "nap", "--env", "COLOUR=red", "--gain", "60"}).code, 0);
  const Outcome rest = sandbox_.amdahl({"cycle", "--watch"});
  ASSERT_EQ(rest.code, 0) << rest.err;
  const std::string after = json_of(sandbox_.amdahl({"status", "--json"})).at("next").at("why");
  EXPECT_TRUE(after.starts_with("no family with recoverable time can be worked on; nap has "))
      << after << rest.err;
  const Json idea = json_of(sandbox_.amdahl({"ledger", "list", "--json"})).at("hypotheses").at(0);
  EXPECT_NE(idea.at("state"), "live") << "it has its verdict, or is parked: " << after;
  const std::string runs = sandbox_.read("runs.log");
  ASSERT_EQ(sandbox_.amdahl({"cycle", "--watch"}).code, 0);
  EXPECT_EQ(sandbox_.read("runs.log"), runs) << "what was refuted is not picked again";
}

// A page that a real browser draws, without a network.
TEST_F(Scan, ThePageStandsInABrowser) {
  const Outcome outcome = sandbox_.amdahl({"scan", "sacct.txt", "places.csv", "samples.csv",
                                           "--html", "page.html", "--by", "job", "--price", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  if (!fs::exists(source_path("/web/node_modules/playwright-core")) ||
      run({"sh", "-c", "command -v chromium && command -v node"}, {}, sandbox_.path()).code != 0) {
    GTEST_SKIP() << "needs Chromium and web/node_modules: ./script/bootstrap --tests";
  }
  const Json seen = json_of(run({"timeout", "120", "node", source_path("/tests/e2e/report.mjs"),
                                 source_path("/web"), sandbox_.path("page.html")},
                                {}, sandbox_.path()));
  ASSERT_FALSE(seen.is_null());
  Json names = Json::array();
  for (int i = 0; i < kJobs; ++i) names.push_back(std::to_string(100 + i));
  EXPECT_NE(seen.at("before"), names);
  EXPECT_EQ(seen.at("after"), names) << "sorted by name";
  EXPECT_GE(seen.at("drawn"), 2);
  EXPECT_EQ(seen.at("hacked"), 0);
  EXPECT_EQ(seen.at("same_without_scripts"), true);
  // One refusal by the policy: that of the script from elsewhere.
  ASSERT_EQ(seen.at("errors").size(), 1U) << seen.at("errors").dump(1);
  EXPECT_NE(seen.at("errors").at(0).get<std::string>().find("script-src"), std::string::npos);
}

TEST(ScanCorpus, ThePhillyWeekComesOutAsItsTruth) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  const std::string folder = std::string(corpus ? corpus : "") + "/fleet/philly_synth_week/";
  if (!corpus || !fs::exists(folder)) GTEST_SKIP() << "AMDAHL_CORPUS names no corpus";
  Sandbox sandbox;
  std::ifstream in(std::string(corpus) + "/expected/fleet/philly_synth_week.json");
  const Json truth = Json::parse(in);
  const std::vector<std::string> words = {"scan",
                                          folder + "sacct.txt.gz",
                                          folder + "gpu_alloc.csv.gz",
                                          folder + "dcgm_long.csv.gz",
                                          "--from",
                                          "2017-10-09",
                                          "--to",
                                          "2017-10-16",
                                          "--idle",
                                          "0",
                                          "--by",
                                          "job",
                                          "--json",
                                          "--order",
                                          "wasted"};
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again ? "from what was kept" : "fresh");
    const Outcome outcome = sandbox.amdahl(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Json answer = json_of(outcome);
    const Json& split = answer.at("totals").at("split_accelerator_s");
    const auto near = [&](const char* part, const Json& want) {
      EXPECT_NEAR(split[part].get<double>() / 3600, want.get<double>(), 1e-4) << part;
    };
    near("allocated", truth.at("gpu_hours"));
    near("unobserved", truth.at("unobserved_gpu_hours"));
    near("idle", truth.at("split_idle_eq_0").at("idle"));
    near("low", truth.at("split_idle_eq_0").at("low_util_loss"));
    near("productive", truth.at("split_idle_eq_0").at("productive"));
    EXPECT_EQ(answer.at("samples_attributed"), truth.at("samples_attributed"));
    for (std::size_t i = 0; i < truth.at("top20_jobs_by_waste").size(); ++i) {
      EXPECT_EQ(answer.at("rows").at(i).at("name"),
                std::to_string(truth.at("top20_jobs_by_waste").at(i).at(0).get<int>()));
    }
    EXPECT_NEAR(answer.at("pareto_wasted_by_job").at("top_1pct").get<double>(),
                truth.at("pareto_waste_by_job").at("top_1pct").get<double>(), 1e-6);
  }
}

}  // namespace
}  // namespace amdahl::e2e
