// Inputs whose answer once looked right and was not, and what holds of every fleet.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.
constexpr std::int64_t kHour = 3600;

std::string iso(std::int64_t at) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(at)));
}

// A fleet of hosts with one accelerator each: jobs with pauses between, sampled every minute.
struct MadeFleet {
  std::string sacct;
  std::string samples;
  double hours = 0;  // Allocated.
};
struct Making {
  std::int64_t jobs_late = 0;     // What is added to the times of the jobs, as a zone does.
  std::int64_t samples_late = 0;  // And of the samples.
  bool samples_as_text = false;   // Without a zone; else since 1970.
  bool jobs_as_number = false;
  bool always_busy = false;
  unsigned seed = 7;
};
MadeFleet make_fleet(const Making& making) {
  std::mt19937 luck(making.seed);
  const auto upto = [&](unsigned most) { return static_cast<std::int64_t>(luck() % most); };
  const auto job_time = [&](std::int64_t at) {
    return making.jobs_as_number ? fmt::format("{}", at) : iso(at + making.jobs_late);
  };
  MadeFleet fleet;
  fleet.sacct = "JobID|User|State|Submit|Start|End|ElapsedRaw|NNodes|NodeList|AllocTRES|JobName\n";
  fleet.samples = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";
  for (int host = 0; host < 12; ++host) {
    std::int64_t at = kStart + upto(3600);
    for (int i = 0; i < 6; ++i) {
      const std::int64_t length = 1800 + upto(9000);
      const std::int64_t pause = 900 + upto(4000);
      fleet.sacct +=
          fmt::format("{0}|u{1}|COMPLETED|{2}|{2}|{3}|{4}|1|n{5}|billing=1,gres/gpu=1|train{1}\n",
                      host * 100 + i, i % 3, job_time(at), job_time(at + length), length, host);
      fleet.hours += static_cast<double>(length) / kHour;
      for (std::int64_t t = 0; t < length + pause; t += 60) {
        const std::int64_t stamp = at + t + making.samples_late;
        const bool is_busy = t < length || making.always_busy;
        fleet.samples += fmt::format("{},n{},0,{}\n",
                                     making.samples_as_text ? iso(stamp) : fmt::format("{}", stamp),
                                     host, is_busy ? 30 + upto(60) : 0);
      }
      at += length + pause;
    }
  }
  return fleet;
}

double hours_of(const Json& answer, const char* part = "allocated") {
  return answer.at("totals").at("split_accelerator_s").at(part).get<double>() / kHour;
}

const Json* assumption(const Json& answer, const std::string& about) {
  for (const Json& one : answer.at("assumptions")) {
    if (one.at("about") == about) return &one;
  }
  return nullptr;
}

// As one line, whatever it is wrapped at.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == '\n' || c == ' ';
    if (!is_blank || out.empty() || out.back() != ' ') out += is_blank ? ' ' : c;
  }
  return out;
}

// ---- What holds of every fleet ------------------------------------------------------------------

void expect_sound_split(const Json& split) {
  double sum = 0;
  for (const char* part : {"unobserved", "idle", "low", "productive"}) {
    ASSERT_TRUE(split.at(part).is_number()) << part << ": " << split;
    EXPECT_GE(split.at(part).get<double>(), 0) << part;
    sum += split.at(part).get<double>();
  }
  const double whole = split.at("allocated").get<double>();
  EXPECT_TRUE(std::isfinite(whole));
  EXPECT_NEAR(sum, whole, 1e-6 * std::max(whole, 1.0)) << split;
}

// No number below 0 but a change, which has a sign; none that is not finite is written at all.
void expect_no_negative(const Json& json, const std::string& where) {
  if (json.is_number()) {
    EXPECT_GE(json.get<double>(), 0) << where;
  }
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      const bool has_sign = key == "change" || key == "lower" || key == "upper" || key == "trends";
      if (!has_sign) expect_no_negative(value, where + "/" + key);
    }
  }
  if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i) {
      expect_no_negative(json.at(i), fmt::format("{}/{}", where, i));
    }
  }
}

void expect_sound(const Json& answer, const std::string& text) {
  const Json& totals = answer.at("totals").at("split_accelerator_s");
  expect_sound_split(totals);
  double rows = 0;
  for (const Json& row : answer.at("rows")) {
    expect_sound_split(row.at("split_accelerator_s"));
    rows += row.at("split_accelerator_s").at("allocated").get<double>();
    const bool is_seen = !row.at("utilisation").is_null();
    EXPECT_EQ(row.at("wasted_accelerator_s").is_null(), !is_seen);
    if (is_seen) {
      EXPECT_LE(row.at("utilisation").get<double>(), 1 + 1e-9);
    }
  }
  const double whole = totals.at("allocated").get<double>();
  EXPECT_NEAR(rows, whole, 1e-6 * std::max(whole, 1.0)) << "all rows are shown";
  const Json& capacity = answer.at("capacity");
  if (!capacity.at("unallocated_accelerator_s").is_null()) {
    const Json& down = capacity.at("down_accelerator_s");
    const double parts = capacity.at("unallocated_accelerator_s").get<double>() +
                         capacity.at("allocated_accelerator_s").get<double>() -
                         capacity.at("elsewhere_accelerator_s").get<double>() +
                         (down.is_null() ? 0 : down.get<double>());
    EXPECT_NEAR(parts, capacity.at("total_accelerator_s").get<double>(), 1e-6 * parts + 1);
  }
  expect_no_negative(answer, "");
  for (const char* odd : {"nan", "inf ", "-inf", "NaN", "$-"}) {
    EXPECT_EQ(text.find(odd), std::string::npos) << odd << " in:\n" << text;
  }
  // What the totals depend on stands before them.
  const std::size_t figures = std::min(text.find("accelerator-hours allocated"),
                                       text.find("accelerator-seconds allocated"));
  const std::string first = flat(text.substr(0, figures));
  for (const Json& one : answer.at("assumptions")) {
    const std::string says = one.at("says");
    EXPECT_NE(first.find(says.substr(0, 60)), std::string::npos) << says << "\n" << text;
    EXPECT_GT(one.at("share").get<double>(), 0) << one;
  }
}

class Truth : public testing::Test {
 protected:
  Json scan(std::vector<std::string> words) {
    words.insert(words.begin(), "scan");
    words.insert(words.end(), {"--top", "0"});
    const Outcome text = sandbox_.amdahl(words);
    words.emplace_back("--json");
    const Json answer = json_of(sandbox_.amdahl(words));
    if (!answer.is_null() && answer.contains("totals") && answer.at("jobs") > 0) {
      expect_sound(answer, text.out);
    }
    text_ = text.out;
    return answer;
  }

  Sandbox sandbox_;
  std::string text_;
};

// ---- The zone of local times --------------------------------------------------------------------

TEST_F(Truth, TheZoneOfLocalTimesIsFoundFromTheData) {
  for (const int minutes : {0, 60, 120, -300, 330}) {
    SCOPED_TRACE(minutes);
    const MadeFleet fleet = make_fleet({.jobs_late = minutes * 60});
    sandbox_.write("sacct.txt", fleet.sacct);
    sandbox_.write("samples.csv", fleet.samples);
    const Json found = scan({"sacct.txt", "samples.csv", "--fresh"});
    const std::string zone = fmt::format("{}{:02}:{:02}", minutes < 0 ? '-' : '+',
                                         std::abs(minutes) / 60, std::abs(minutes) % 60);
    const Json told = scan({"sacct.txt", "samples.csv", "--time-zone", zone});
    for (const char* part : {"allocated", "unobserved", "idle", "low", "productive"}) {
      EXPECT_NEAR(hours_of(found, part), hours_of(told, part), 1e-9) << part;
    }
    EXPECT_NEAR(hours_of(found), fleet.hours, 0.01);
    EXPECT_LT(hours_of(found, "unobserved"), 0.01 * fleet.hours);
    EXPECT_EQ(assumption(told, "time zone"), nullptr);
    const Json* said = assumption(found, "time zone");
    ASSERT_NE(said, nullptr);
    EXPECT_NE(said->at("says").get<std::string>().find(
                  fmt::format("assumed {}, since", minutes == 0 ? "UTC" : zone)),
              std::string::npos)
        << *said;
  }
}

TEST_F(Truth, SamplesInLocalTimeAreJoinedWithJobsThatAreNot) {
  const MadeFleet fleet =
      make_fleet({.samples_late = 2 * kHour, .samples_as_text = true, .jobs_as_number = true});
  sandbox_.write("sacct.txt", fleet.sacct);
  sandbox_.write("samples.csv", fleet.samples);
  const Json found = scan({"sacct.txt", "samples.csv"});
  EXPECT_NEAR(hours_of(found), fleet.hours, 0.01);
  EXPECT_LT(hours_of(found, "unobserved"), 0.01 * fleet.hours);
  ASSERT_NE(assumption(found, "time zone"), nullptr);
}

TEST_F(Truth, AZoneThatTheDataDoNotTellIsAskedFor) {
  const MadeFleet fleet = make_fleet({.jobs_late = kHour, .always_busy = true});
  sandbox_.write("sacct.txt", fleet.sacct);
  sandbox_.write("samples.csv", fleet.samples);
  const Outcome refused = sandbox_.amdahl({"scan", "sacct.txt", "samples.csv"});
  EXPECT_EQ(refused.code, 2) << refused.out;
  EXPECT_NE(refused.err.find("times of sacct.txt have no time zone"), std::string::npos)
      << refused.err;
  EXPECT_NE(refused.err.find("--time-zone +02:00 or --time-zone UTC"), std::string::npos);
  EXPECT_NEAR(hours_of(scan({"sacct.txt", "samples.csv", "--time-zone", "+01:00"})), fleet.hours,
              0.1);
}

// Two inputs in local time are of one clock; nothing is to be found out.
TEST_F(Truth, LocalTimesAloneAreOfOneClock) {
  const MadeFleet fleet = make_fleet(
      {.jobs_late = kHour, .samples_late = kHour, .samples_as_text = true, .always_busy = true});
  sandbox_.write("sacct.txt", fleet.sacct);
  sandbox_.write("samples.csv", fleet.samples);
  EXPECT_NEAR(hours_of(scan({"sacct.txt", "samples.csv"})), fleet.hours, 0.1);
}

// ---- Records whose times are not all there ------------------------------------------------------

constexpr const char* kHeader =
    "JobID|User|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|NNodes|NodeList|AllocTRES|JobName\n";

TEST_F(Truth, ARunningRecordOfAnOldFileEndsWithIt) {
  sandbox_.write("march.txt",
                 std::string(kHeader) +
                     "1|u|RUNNING|2023-03-01T00:00:00|2023-03-01T00:00:00|Unknown|86400|"
                     "2880|1|n1|gres/gpu=8|a\n");
  sandbox_.write("december.txt", std::string(kHeader) +
                                     "2|u|COMPLETED|2023-12-01T00:00:00|2023-12-01T00:00:00|"
                                     "2023-12-01T01:00:00|3600|2880|1|n1|gres/gpu=1|a\n"
                                     // Its end was lost in June.
                                     "3|u|RUNNING|2023-06-01T00:00:00|2023-06-01T00:00:00|Unknown|"
                                     "15814800|1440|1|n1|gres/gpu=2|a\n");
  const Json answer = scan({"march.txt", "december.txt"});
  EXPECT_NEAR(hours_of(answer), 8 * 24 + 1 + 2 * 24, 1e-6);
  EXPECT_NE(assumption(answer, "runaway record"), nullptr);
  EXPECT_NE(assumption(answer, "running job"), nullptr);
}

TEST_F(Truth, AJobWithoutAStartIsCountedOrNamed) {
  sandbox_.write(
      "jobs.csv",
      "job_id,user,state,submit_time,start_time,end_time,duration,gpu_num\n"
      "1,a,COMPLETED,2023-11-15 00:00:00,2023-11-15 01:00:00,2023-11-15 02:00:00,3600,1\n"
      "2,a,COMPLETED,2023-11-15 00:00:00,,2023-11-15 12:00:00,36000,8\n"
      "3,a,COMPLETED,2023-11-15 00:00:00,,2023-11-15 02:00:00,,4\n"
      "4,a,FAILED,2023-11-15 00:00:00,,2023-11-15 02:00:00,,4\n"
      "5,a,CANCELLED,2023-11-15 00:00:00,,2023-11-15 02:00:00,,4\n");
  const Json answer = scan({"jobs.csv"});
  EXPECT_NEAR(hours_of(answer), 1 + 80 + 8, 1e-6);
  EXPECT_EQ(answer.at("jobs"), 3);
  ASSERT_NE(assumption(answer, "start worked out"), nullptr);
  EXPECT_NEAR(assumption(answer, "start worked out")->at("share").get<double>(), 88.0 / 89, 1e-9);
  ASSERT_NE(assumption(answer, "unknown start"), nullptr);
  EXPECT_EQ(assumption(answer, "unknown start")->at("records"), 1);
}

TEST_F(Truth, SamplesOfAClockThatWasNotSetMakeNoJobLonger) {
  std::string values;
  for (int i = 0; i < 60; ++i) {
    values += fmt::format("{}[{},\"50\"]", i > 0 ? "," : "", kStart + i * 60);
  }
  const std::string answer = fmt::format(
      R"({{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":)"
      R"({{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"n1","gpu":"0","hpc_job":"77"}},)"
      R"("values":[[60,"50"],{}]}}]}}}})",
      values);
  sandbox_.write("prom.json", answer);
  const Json found = scan({"prom.json"});
  EXPECT_NEAR(hours_of(found), 1, 1e-6);
  ASSERT_NE(assumption(found, "broken clock"), nullptr);
  EXPECT_EQ(assumption(found, "broken clock")->at("records"), 1);
}

// ---- What is not known
// ----------------------------------------------------------------------------

TEST_F(Truth, TelemetryAloneDoesNotSayWhatWasAllocated) {
  sandbox_.write("samples.csv", make_fleet({.always_busy = true}).samples);
  const Outcome text = sandbox_.amdahl({"scan", "samples.csv"});
  EXPECT_NE(flat(text.out).find("has no jobs, so how much was allocated"), std::string::npos)
      << text.out;
  EXPECT_NE(flat(text.out).find(" 0 were idle and 110 productive"), std::string::npos) << text.out;
  EXPECT_NE(flat(text.out).find("(mean utilisation 60 %"), std::string::npos) << text.out;
  const Json answer = json_of(sandbox_.amdahl({"scan", "samples.csv", "--json"}));
  EXPECT_TRUE(answer.at("capacity").at("unallocated_accelerator_s").is_null());
  EXPECT_TRUE(answer.at("capacity").at("allocated_accelerator_s").is_null());
  EXPECT_GT(answer.at("capacity").at("without_job_productive_accelerator_s").get<double>(), 0);
}

TEST_F(Truth, WasteThatNobodySawHasNoPrice) {
  std::string sacct = make_fleet({}).sacct;  // All failed: that lost is known.
  for (std::size_t at = 0; (at = sacct.find("COMPLETED", at)) != sacct.npos;) {
    sacct.replace(at, 9, "FAILED");
  }
  sandbox_.write("sacct.txt", sacct);
  const Json answer = scan({"sacct.txt", "--price", "2"});
  EXPECT_EQ(text_.find("$0.00"), std::string::npos) << text_;
  EXPECT_TRUE(answer.at("totals").at("usd").at("wasted").is_null());
  EXPECT_TRUE(answer.at("totals").at("usd").at("recoverable").is_null());
  EXPECT_TRUE(answer.at("totals").at("wasted_accelerator_s").is_null());
  EXPECT_GT(answer.at("totals").at("usd").at("allocated").get<double>(), 0);
  for (const Json& row : answer.at("rows")) EXPECT_TRUE(row.at("usd").at("wasted").is_null());
  const Outcome csv = sandbox_.amdahl({"scan", "sacct.txt", "--price", "2", "--csv"});
  EXPECT_EQ(csv.out.find(",0.00,"), std::string::npos) << csv.out;
  const Outcome page = sandbox_.amdahl({"scan", "sacct.txt", "--price", "2", "--html", "a.html"});
  EXPECT_EQ(page.code, 0) << page.err;
  EXPECT_EQ(sandbox_.read("a.html").find("$0.00"), std::string::npos);
}

TEST_F(Truth, AcceleratorsOfPbsCountByTheNameThatTheSiteGaveThem) {
  sandbox_.write("20260211",
                 "02/11/2026 20:13:00;E;7.pbs1;user=b group=g queue=q qtime=1770840012 "
                 "start=1770840020 exec_host=n1/0*8 Resource_List.ncpus=8 Resource_List.gpu=4 "
                 "Resource_List.select=1:ncpus=8:gpu=4 end=1770847220 Exit_status=0\n");
  EXPECT_NEAR(hours_of(scan({"20260211"})), 8, 1e-6);
}

// sonar keeps what sacct printed for it; the list of fields that is suggested must be the right
// one.
TEST_F(Truth, TheFieldsThatAreSuggestedCanBeUsed) {
  const auto record = [](int id, const char* state, const char* start, const char* end,
                         int elapsed) {
    return fmt::format(
        "{0}|{0}|u1|a1|{1}|{2}|{3}||||||{4}|0:0|||||4|8G|1||2025-09-12T10:00:00|00:00:00|00:00:00|"
        "2879|00:00:00|gpu-2|accel|billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,node=1|11|train\n"
        "{0}.batch|{0}.batch||a1|{1}|{2}|{3}||||||{4}|0:0|Unknown||||4||1||{2}|00:00:00|00:00:00||"
        "00:00:00|gpu-2||cpu=4,gres/gpu:a100=2,gres/gpu=2,node=1||batch\n",
        id, state, start, end, elapsed);
  };
  sandbox_.write("sacct_output.txt",
                 record(7, "RUNNING", "2025-09-12T14:00:00", "Unknown", 86'400) +
                     record(8, "COMPLETED", "2025-09-13T08:00:00", "2025-09-13T11:00:00", 10'800) +
                     record(9, "RUNNING", "2025-09-13T08:00:00", "Unknown", 21'600));
  const Outcome refused = sandbox_.amdahl({"scan", "sacct_output.txt"});
  EXPECT_NE(refused.code, 0);
  const std::size_t from = refused.err.find("--fields '");
  ASSERT_NE(from, std::string::npos) << refused.err;
  const std::string rest = refused.err.substr(from + 10);
  const Json answer = scan({"sacct_output.txt", "--fields", rest.substr(0, rest.find('\''))});
  EXPECT_NEAR(hours_of(answer), 2 * (24 + 3 + 6), 1e-6);
  EXPECT_EQ(answer.at("jobs"), 3);
  EXPECT_EQ(answer.at("totals").at("users"), 1) << "the user's column is known, too";
}

// ---- All fleets
// -------------------------------------------------------------------------------------

TEST_F(Truth, FiguresOfMadeFleetsAddUp) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    const MadeFleet fleet = make_fleet({.jobs_late = kHour, .seed = seed});
    sandbox_.write("sacct.txt", fleet.sacct);
    sandbox_.write("samples.csv", fleet.samples);
    scan({"sacct.txt", "samples.csv", "--by", "user", "--fresh"});
    scan({"sacct.txt", "samples.csv", "--price", "2.5", "--from", "2023-11-15T03:00", "--to",
          "2023-11-15T07:00"});
  }
}

TEST_F(Truth, FiguresOfTheCorpusAddUp) {
  const char* corpus = std::getenv("AMDAHL_CORPUS");
  const std::string folder = std::string(corpus ? corpus : "") + "/fleet/";
  if (!corpus || !fs::exists(folder)) GTEST_SKIP() << "AMDAHL_CORPUS names no corpus";
  const std::vector<std::vector<std::string>> inputs = {
      {"alex/alex_jobs.csv"},
      {"uio_fox/slurm-sacct_2025-05-03.csv"},
      {"philly_jobs/philly.csv.gz"},
      {"openb_v2023/openb_pod_list_default.csv", "openb_v2023/openb_node_list_gpu_node.csv"},
      {"philly_synth_week/sacct.txt.gz"},
      {"philly_synth_week/sacct.txt.gz", "philly_synth_week/gpu_alloc.csv.gz",
       "philly_synth_week/dcgm_long.csv.gz"},
      {"philly_synth_week/prom_query_range_8nodes_2017-10-11.json.gz"},
      {"philly_synth_week/sacct.txt.gz", "philly_synth_week/gpu_alloc.csv.gz",
       "philly_synth_week/nvidia-smi_gpu001_2017-10-11.csv.gz"},
      {"helios/earth_vcs/vchbv.csv.gz"},
  };
  for (const std::vector<std::string>& names : inputs) {
    SCOPED_TRACE(names.front());
    std::vector<std::string> words;
    for (const std::string& name : names) words.push_back(folder + name);
    words.insert(words.end(), {"--by", "partition"});
    scan(words);
  }
}

}  // namespace
}  // namespace amdahl::e2e
