// What a scan keeps: over crashes, ^C and months of scans; and what it says of weeks.
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.
constexpr int kJobs = 10;

// Jobs of an hour each, ten in every hour from midnight on; job i at 10 × i %.
std::string sacct(int hours) {
  std::string text = "JobID|User|State|Start|End|ElapsedRaw|NodeList|AllocTRES|JobName\n";
  for (int hour = 0; hour < hours; ++hour) {
    for (int i = 0; i < kJobs; ++i) {
      text +=
          fmt::format("{}|ada|COMPLETED|{}|{}|3600|n{}|gres/gpu=1|train\n", 100 + hour * kJobs + i,
                      kStart + hour * 3600, kStart + hour * 3600 + 3600, i);
    }
  }
  return text;
}

std::string places(int hours) {
  std::string text = "jobid,host,gpu\n";
  for (int job = 0; job < hours * kJobs; ++job) {
    text += fmt::format("{},n{},0\n", 100 + job, job % kJobs);
  }
  return text;
}

// Minutes [from, to) of each host; `busier` is added to all.
std::string samples(int from, int to, int busier = 0) {
  std::string text = from == 0 ? "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n" : "";
  for (int minute = from; minute < to; ++minute) {
    for (int i = 0; i < kJobs; ++i) {
      text += fmt::format("{},n{},0,{}\n", kStart + minute * 60, i, i * 5 + busier);
    }
  }
  return text;
}

class ScanKeep : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("sacct.txt", sacct(4));
    sandbox_.write("places.csv", places(4));
    sandbox_.write("samples.csv", samples(0, 60));
  }

  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"scan",   "sacct.txt",  "places.csv", "samples.csv",
                                    "--from", "2023-11-15", "--to",       "2023-11-15T04:00:00"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Json scan(std::vector<std::string> more = {}) {
    more.emplace_back("--json");
    const Outcome outcome = sandbox_.amdahl(words(more));
    return json_of(outcome);
  }
  static Json said(Json answer) {
    answer.erase("inputs");
    return answer;
  }
  static std::uint64_t known_bytes(const Json& answer) {
    for (const Json& input : answer.at("inputs")) {
      if (input.at("name") == "samples.csv") return input.at("bytes_known");
    }
    return 0;
  }
  void append(const std::string& text) const {
    std::ofstream(sandbox_.path("samples.csv"), std::ios::app) << text;
  }
  std::vector<std::string> kept(const std::string& ending) const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.path("state/scan"))) {
      if (entry.path().extension() == ending) found.push_back(entry.path());
    }
    return found;
  }

  Sandbox sandbox_;
};

// Killed at every place where something has just been written, while journals are merged, too.
TEST_F(ScanKeep, KilledAnywhereTheNextScanSaysTheSame) {
  const char* points[] = {"scan-kept", "scan-marked", "scan-merged", "scan-merge-marked"};
  int minute = 60;
  scan();
  for (int round = 0; round < 3; ++round) {
    for (const char* point : points) {
      SCOPED_TRACE(fmt::format("{} in round {}", point, round));
      append(samples(minute, minute + 5 + 20 * round));
      minute += 5 + 20 * round;
      const Outcome died =
          sandbox_.amdahl(words({}), {{"AMDAHL_FAULT_AT", "1"}, {"AMDAHL_FAULT_POINT", point}});
      const bool may_live = std::string_view(point).starts_with("scan-merge");  // If it does not.
      EXPECT_TRUE(died.code == 137 || (may_live && died.code == 0)) << died.err;
      const Json after = scan();
      EXPECT_EQ(said(after), said(scan())) << "and once more";
      EXPECT_EQ(said(after), said(scan({"--fresh"})));
      append(samples(minute, minute + 1));  // What --fresh kept is added to.
      ++minute;
      scan();
    }
  }
  EXPECT_EQ(kept(".part"), std::vector<std::string>{});
  EXPECT_LE(kept(".journal").size(), 6U);
}

// What the old mark names must not change under it while all is read anew.
TEST_F(ScanKeep, KilledWhileReadingAnewTheOldMarkStands) {
  scan();
  for (const char* point : {"scan-kept", "scan-marked"}) {
    SCOPED_TRACE(point);
    append(samples(60, 90));
    const Outcome died = sandbox_.amdahl(words({"--fresh"}),
                                         {{"AMDAHL_FAULT_AT", "1"}, {"AMDAHL_FAULT_POINT", point}});
    EXPECT_EQ(died.code, 137);
    const Json after = scan();
    EXPECT_EQ(said(after), said(scan({"--fresh"})));
  }
}

// The signal comes after a given block, so that how much is read after it can be told.
TEST_F(ScanKeep, InterruptedWhileReadingItGoesOnFromThere) {
  std::string many = samples(60, 240);
  while (many.size() < (std::size_t{6} << 20)) many += samples(100'000, 110'000);  // Years away.
  append(many);
  const Json want = said(scan({"--fresh"}));
  for (const int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    fs::remove_all(sandbox_.path("state/scan"));
    const Outcome stopped = sandbox_.amdahl(words({"--threads", "2"}),
                                            {{"AMDAHL_FAULT_POINT", "scan-block"},
                                             {"AMDAHL_FAULT_AT", "5"},
                                             {"AMDAHL_FAULT_SIGNAL", std::to_string(signal)}});
    EXPECT_EQ(stopped.code, 128 + signal);
    EXPECT_EQ(stopped.err, "amdahl: interrupted; run the same command again to resume\n");
    EXPECT_EQ(stopped.out, "");
    EXPECT_EQ(kept(".part"), std::vector<std::string>{});
    const Json answer = scan();
    // Each of the small files is a block, and so is the end of each: three of them are of samples.
    EXPECT_GT(known_bytes(answer), std::uint64_t{1} << 19);
    EXPECT_LT(known_bytes(answer), std::uint64_t{5} << 20) << "it was noticed at once";
    EXPECT_EQ(said(answer), want);
  }
}

// A crash within the first reading of a long file costs one turn, not all.
TEST_F(ScanKeep, KilledInALongFirstReadingItGoesOnFromTheLastMark) {
  std::string many = samples(60, 240);
  const std::string far = samples(100'000, 110'000);  // Years away.
  while (many.size() < (std::size_t{36} << 20)) many += far;
  append(many);
  const Json want = said(scan({"--fresh"}));
  fs::remove_all(sandbox_.path("state/scan"));
  const Outcome died =
      sandbox_.amdahl(words({}), {{"AMDAHL_FAULT_POINT", "scan-block"}, {"AMDAHL_FAULT_AT", "30"}});
  EXPECT_EQ(died.code, 137);
  const Json answer = scan();
  EXPECT_GE(known_bytes(answer), std::uint64_t{15} << 20);
  EXPECT_LT(known_bytes(answer), std::uint64_t{30} << 20);
  EXPECT_EQ(said(answer), want);
  EXPECT_EQ(kept(".part"), std::vector<std::string>{});
}

TEST_F(ScanKeep, InterruptedWhileRankingAllIsKept) {
  const Json want = said(scan({"--fresh"}));
  for (const char* point : {"scan-read", "scan-ranked"}) {
    SCOPED_TRACE(point);
    fs::remove_all(sandbox_.path("state/scan"));
    const Outcome stopped = sandbox_.amdahl(
        words({}),
        {{"AMDAHL_FAULT_POINT", point}, {"AMDAHL_FAULT_AT", "1"}, {"AMDAHL_FAULT_SIGNAL", "15"}});
    EXPECT_EQ(stopped.code, 143);
    EXPECT_EQ(stopped.out, "");
    const Json answer = scan();
    EXPECT_EQ(known_bytes(answer), sandbox_.read("samples.csv").size());
    EXPECT_EQ(said(answer), want);
  }
}

TEST_F(ScanKeep, WhatNoScanUsedForLongGoes) {
  scan();
  const std::string old = sandbox_.path("state/scan/file-0123456789abcdef0123");
  const auto make_old = [&] {
    fs::create_directories(old);
    std::ofstream(old + "/mark.json") << "{}";
    fs::last_write_time(old + "/mark.json",
                        fs::file_time_type::clock::now() - std::chrono::hours(91 * 24));
  };
  make_old();
  sandbox_.write("state/config.toml", "[scan]\nkeep_days = 0\n");
  scan();
  EXPECT_TRUE(fs::exists(old)) << "0 is for ever";
  sandbox_.write("state/config.toml", "[scan]\nkeep_days = 1e300\n");
  scan();
  EXPECT_TRUE(fs::exists(old)) << "and so is this";
  sandbox_.write("state/config.toml", "[scan]\nkeep_days = 92\n");
  scan();
  EXPECT_TRUE(fs::exists(old));
  sandbox_.write("state/config.toml", "");
  const Json answer = scan();
  EXPECT_FALSE(fs::exists(old)) << "90 days is the default";
  EXPECT_EQ(known_bytes(answer), sandbox_.read("samples.csv").size()) << "what is used stays";
}

TEST_F(ScanKeep, TrendInEveryForm) {
  append(samples(60, 120) + samples(120, 240, 50));
  const Json answer = scan({"--trend", "hour"});
  const Json& lines = answer.at("trends");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("of"), "fleet");
  EXPECT_EQ(lines[1].at("family"), "train.ada.x1");
  for (const Json& line : lines) {
    ASSERT_EQ(line.at("windows").size(), 4U);
    EXPECT_TRUE(line.at("windows").at(0).at("change").is_null());
    EXPECT_EQ(line.at("windows").at(1).at("may_be_chance"), true);
    EXPECT_EQ(line.at("windows").at(2).at("may_be_chance"), false) << line.at("windows").at(2);
    EXPECT_NEAR(line.at("windows").at(2).at("change").get<double>(), -0.5, 0.01);
    EXPECT_EQ(line.at("windows").at(2).at("jobs"), kJobs);
    EXPECT_EQ(line.at("windows").at(3).at("may_be_chance"), true);
    EXPECT_EQ(line.at("halves").at("may_be_chance"), false);
  }
  const Outcome text =
      sandbox_.amdahl(words({"--trend", "1h", "--ascii", "--width", "80", "--html", "page.html"}));
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("2023-11-15 02:00"), std::string::npos) << text.out;
  EXPECT_EQ(count_lines(text.out, "may be chance"), 2) << text.out;
  EXPECT_NE(text.out.find("train.ada.x1"), std::string::npos);
  std::istringstream out(text.out);
  for (std::string line; std::getline(out, line);) EXPECT_LE(line.size(), 80U) << line;
  const std::string page = sandbox_.read("page.html");
  EXPECT_NE(page.find("<h2>Waste over time</h2>"), std::string::npos);
  EXPECT_NE(page.find("class=\"whisker\""), std::string::npos);
  const Outcome csv = sandbox_.amdahl(words({"--trend", "hour", "--csv"}));
  EXPECT_EQ(count_lines(csv.out, ","), 1 + 2 * 4) << csv.out;
  EXPECT_TRUE(csv.out.starts_with("of,family,start,end,jobs,")) << csv.out;
  const Outcome many = sandbox_.amdahl(words({"--trend", "1s"}));
  EXPECT_EQ(many.code, 2);
  EXPECT_NE(many.err.find("more than 1000 windows in 4 h"), std::string::npos) << many.err;
  EXPECT_NE(sandbox_.amdahl(words({"--trend", "daily"})).err.find("--trend: expected a duration"),
            std::string::npos);
}

// Tables whose first line is no header, and logs whose rows are known by those before them: what is
// appended to them is read as in the whole file.
TEST(ScanGrows, WhateverTheFirstLineIs) {
  const std::string excel = "sep=,\nTime,n1 GPU 0,n1 GPU 1\n";
  const std::string blank = "\ntimestamp,Hostname,gpu,gpu_util_pct\n";
  const std::string box = "+------+------+-----+----------+\n| time | host | gpu | gpu_util |\n";
  const std::string smi = "timestamp, utilization.gpu [%], memory.used [MiB]\n";
  const auto line = [](int form, int i) {
    const std::int64_t at = kStart + i / 2 * 60;
    const int share = i % 2 == 0 ? 80 : 20;
    const std::string clock = fmt::format("2023/11/15 00:{:02}:00.{:03}", i / 2, i % 2 * 5);
    if (form == 0) return i % 2 == 0 ? fmt::format("{},80%,20%\n", at) : std::string();
    if (form == 1) return fmt::format("{},n1,{},{}\n", at, i % 2, share);
    if (form == 2) return fmt::format("| {} | n1 | {} | {} |\n", at, i % 2, share);
    return fmt::format("{}, {} %, 7 MiB\n", clock, share);
  };
  for (int form = 0; form < 4; ++form) {
    SCOPED_TRACE(form);
    Sandbox sandbox;
    sandbox.write("sacct.txt",
                  fmt::format("JobID|Start|End|NodeList|AllocTRES\n7|{}|{}|n1|gres/gpu=2\n", kStart,
                              kStart + 3600));
    std::string text = std::array{excel, blank, box, smi}[static_cast<std::size_t>(form)];
    const auto scan = [&](std::vector<std::string> more) {
      sandbox.write("n1/gpu_util.csv", text);
      more.insert(more.begin(),
                  {"scan", "sacct.txt", "n1/gpu_util.csv", "--json", "--time-zone", "UTC"});
      const Json answer = json_of(sandbox.amdahl(more));
      EXPECT_GT(answer.at("samples"), 0);
      return Json{{"totals", answer.at("totals")}, {"troubles", answer.at("troubles")}};
    };
    for (int i = 0; i < 61; ++i) text += line(form, i);
    scan({});
    for (int i = 61; i < 120; ++i) text += line(form, i);
    const Json second = scan({});
    EXPECT_EQ(second, scan({"--fresh"}));
    EXPECT_NEAR(second.at("totals").at("split_accelerator_s").at("productive"), 3600, 1e-6);
  }
}

// The answer is whole; that the next scan cannot build on it is said.
TEST_F(ScanKeep, AFullStateFolderIsNamed) {
  sandbox_.write("samples.csv", samples(0, 240));
  const Json kept = scan();
  EXPECT_EQ(kept.at("not_kept"), "");
  sandbox_.write("small/x", "");
  if (::mount("tmpfs", sandbox_.path("small").c_str(), "tmpfs", 0, "size=4k") != 0) {
    GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  }
  const Json full = scan({"--state", sandbox_.path("small/state")});
  const Outcome page = sandbox_.amdahl(words({"--state", sandbox_.path("small/state")}));
  ::umount(sandbox_.path("small").c_str());
  EXPECT_EQ(full.at("totals"), kept.at("totals"));
  const std::string why = full.at("not_kept");
  EXPECT_NE(why.find("o space left"), std::string::npos) << why;
  EXPECT_NE(page.out.find("Not kept for the next scan"), std::string::npos) << page.out;
}

// What is recognised by its content may be named as a source, too.
TEST_F(ScanKeep, AFileIsASource) {
  const Json all = scan();
  const Outcome named = sandbox_.amdahl({"scan", "--source", "sacct.txt", "--source", "places.csv",
                                         "--source", "samples.csv", "--from", "2023-11-15", "--to",
                                         "2023-11-15T04:00:00", "--json"});
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(json_of(named).at("totals"), all.at("totals"));
  const Outcome none = sandbox_.amdahl({"scan", "--source", "nothing.txt"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("no file 'nothing.txt'"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace amdahl::e2e
