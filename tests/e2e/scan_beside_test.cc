// What a scan says beside its jobs' work, and what sites have that is no sacct: on the real
// program.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json.h"

namespace amdahl::e2e {
namespace {

constexpr std::int64_t kStart = 1'700'006'400;  // 2023-11-15 00:00 UTC.
constexpr std::int64_t kHour = 3600;

constexpr std::string_view kHeader =
    "JobID|User|State|Submit|Start|End|ElapsedRaw|NodeList|AllocTRES|JobName\n";

std::string job(int id, std::string_view user, int from_h, int to_h, std::string_view host) {
  return fmt::format("{}|{}|COMPLETED|{}|{}|{}|{}|{}|gres/gpu=1|train\n", id, user, kStart,
                     kStart + from_h * kHour, kStart + to_h * kHour, (to_h - from_h) * kHour, host);
}

struct Level {
  std::string_view utilisation;
  std::string_view watts;
  std::string_view mib;
};

// A row a minute of the hours [from, to).
std::string rows(std::string_view host, int from_h, int to_h, const Level& level) {
  std::string text;
  for (std::int64_t at = kStart + from_h * kHour; at < kStart + to_h * kHour; at += 60) {
    text += fmt::format("{},{},0,{},{},{}\n", at, host, level.utilisation, level.watts, level.mib);
  }
  return text;
}

constexpr std::string_view kColumns =
    "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL,DCGM_FI_DEV_POWER_USAGE,DCGM_FI_DEV_FB_USED\n";

// As one line, whatever it is wrapped at.
std::string flat(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool is_blank = c == '\n' || c == ' ';
    if (!is_blank || out.empty() || out.back() != ' ') out += is_blank ? ' ' : c;
  }
  return out;
}

// Job 1 of ada works for 4 h at 400 W, then holds its memory idle for 6 h at 60 W. Job 2 of bob
// works for an hour and then has no process for 9 h. n3 works for 5 h without a job.
class Beside : public testing::Test {
 protected:
  void SetUp() override {
    sandbox_.write("sacct.txt", std::string(kHeader) + job(1, "ada", 0, 10, "n1") +
                                    job(2, "bob", 0, 10, "n2") + job(3, "bob", 6, 10, "n3"));
    sandbox_.write("places.csv", "jobid,host,gpu\n1,n1,0\n2,n2,0\n3,n3,0\n");
    sandbox_.write("dcgm.csv", std::string(kColumns) + rows("n1", 0, 4, {"90", "400", "30000"}) +
                                   rows("n1", 4, 10, {"0", "60", "30000"}) +
                                   rows("n2", 0, 1, {"90", "300", "30000"}) +
                                   rows("n2", 1, 10, {"0", "50", "3"}) +
                                   rows("n3", 0, 5, {"80", "300", "30000"}) +
                                   rows("n3", 5, 10, {"0", "50", "3"}));
  }

  Outcome scan(std::vector<std::string> more) const {
    std::vector<std::string> words = {"scan", "sacct.txt", "places.csv", "dcgm.csv"};
    words.insert(words.end(), more.begin(), more.end());
    return sandbox_.amdahl(words);
  }

  Sandbox sandbox_;
};

TEST_F(Beside, MemoryTellsWhyAnAcceleratorIsHeldIdle) {
  const Json answer = json_of(scan({"--json"}));
  const Json& beside = answer.at("beside");
  // From the first idle sample to the last, a minute less than the time.
  const Json& loaded = beside.at("idle_with_memory");
  EXPECT_NEAR(loaded.at("accelerator_s").get<double>(), 6 * kHour - 60, 1);
  EXPECT_EQ(loaded.at("jobs"), 1);
  EXPECT_EQ(loaded.at("worst_job"), "1");
  const Json& empty = beside.at("idle_without_process");
  EXPECT_NEAR(empty.at("accelerator_s").get<double>(), 9 * kHour + 4 * kHour - 120, 1);
  EXPECT_EQ(empty.at("jobs"), 2);
  EXPECT_EQ(empty.at("users"), 1);
  EXPECT_EQ(empty.at("worst_job"), "2");
  const std::string text = flat(scan({"--ascii"}).out);
  EXPECT_NE(text.find("no process 13.0 h held idle without memory in use"), std::string::npos)
      << text;
  EXPECT_NE(text.find("most by job 2 (8.98 h)"), std::string::npos) << text;
}

TEST_F(Beside, EnergyIsPowerTimesTimeAndBillsAddUpToIt) {
  const double job_1 = (4 * 400 + 6 * 60) / 1000.0;
  const double job_2 = (1 * 300 + 9 * 50) / 1000.0;
  const double job_3 = 4 * 50 / 1000.0;
  const Json answer = json_of(scan({"--json"}));
  const Json& energy = answer.at("beside").at("energy");
  EXPECT_NEAR(energy.at("kwh").get<double>(), job_1 + job_2 + job_3, 1e-6);
  EXPECT_NEAR(energy.at("unused_kwh").get<double>(), job_3, 1e-6) << "job 3 never worked";
  EXPECT_NEAR(energy.at("co2_kg").get<double>(), (job_1 + job_2 + job_3) * 0.48, 1e-6);
  const Json& bills = answer.at("chargeback");
  EXPECT_NEAR(bills.at("total").at("energy_kwh").get<double>(), job_1 + job_2 + job_3, 1e-6);
  double sum = 0;
  for (const Json& user : bills.at("user")) {
    sum += user.at("energy_kwh").get<double>();
    const double want = user.at("name") == "ada" ? job_1 : job_2 + job_3;
    EXPECT_NEAR(user.at("energy_kwh").get<double>(), want, 1e-6) << user;
  }
  EXPECT_NEAR(sum, job_1 + job_2 + job_3, 1e-6);
  EXPECT_NE(scan({"--chargeback"}).out.find("\nuser,ada,1,10.000000,"), std::string::npos);
  sandbox_.write("state/config.toml", "[scan]\nco2_g_per_kwh = 20\n");
  const std::string text = flat(scan({"--ascii", "--config", "state/config.toml"}).out);
  EXPECT_NE(text.find("energy 2.91 kWh drawn by accelerators while jobs held them; 0.06 kg of "
                      "CO2 at 20.0 g/kWh"),
            std::string::npos)
      << text;
}

TEST_F(Beside, WorkThatNoJobHeldIsTold) {
  const Json answer = json_of(scan({"--json"}));
  const Json& outside = answer.at("beside").at("outside_of_jobs");
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_EQ(outside.at(0).at("host"), "n3");
  EXPECT_NEAR(outside.at(0).at("productive_accelerator_s").get<double>(), 5 * kHour * 0.8, 60);
  const std::string text = flat(scan({"--ascii"}).out);
  EXPECT_NE(text.find("outside jobs 4.00 h of work on accelerators that no job held, most on n3"),
            std::string::npos)
      << text;
}

TEST_F(Beside, PowerAndMemoryChangeNothingElse) {
  const Json with = json_of(scan({"--json"}));
  std::string bare = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";
  std::string all = sandbox_.read("dcgm.csv");
  for (std::size_t at = all.find('\n') + 1; at < all.size(); at = all.find('\n', at) + 1) {
    const std::string line = all.substr(at, all.find('\n', at) - at);
    bare += line.substr(0, line.rfind(',', line.rfind(',') - 1)) + "\n";
  }
  sandbox_.write("bare.csv", bare);
  const Json without =
      json_of(sandbox_.amdahl({"scan", "sacct.txt", "places.csv", "bare.csv", "--json"}));
  EXPECT_TRUE(without.at("beside").at("energy").is_null());
  EXPECT_TRUE(without.at("beside").at("idle_without_process").is_null());
  for (const char* part : {"totals", "actions", "rows", "capacity", "policies", "window"}) {
    Json a = with.at(part);
    Json b = without.at(part);
    if (std::string_view(part) == "actions") {  // Their commands name the inputs.
      for (Json* list : {&a, &b}) {
        for (Json& one : *list) one.erase("command");
      }
    }
    EXPECT_EQ(a, b) << part;
  }
}

TEST_F(Beside, OneUserGetsAPage) {
  const Outcome done = scan({"--of", "bob", "--html", "bob.html"});
  ASSERT_EQ(done.code, 0) << done.err;
  const std::string page = sandbox_.read("bob.html");
  EXPECT_NE(page.find("user bob: "), std::string::npos);
  EXPECT_NE(page.find("2 jobs"), std::string::npos);
  EXPECT_NE(page.find("2<br/><span class=\"soft\">train.bob.x1</span>"), std::string::npos);
  EXPECT_NE(page.find("let go when the work is done"), std::string::npos);
  EXPECT_NE(page.find("0.95 kWh"), std::string::npos);
  EXPECT_EQ(page.find("ada"), std::string::npos) << "that of others is theirs";
}

TEST_F(Beside, KeptScansShowATrendByMonth) {
  const Outcome none = sandbox_.amdahl({"scan", "--trend", "months"});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.out.find("amdahl scan … --keep"), std::string::npos);
  const Outcome brief = scan({"--keep"});
  EXPECT_EQ(brief.code, 2);
  EXPECT_NE(brief.err.find("--keep needs a window of a day or more"), std::string::npos)
      << brief.err;
  const auto keep = [&](const char* from, const char* to) {
    const Outcome kept = scan({"--keep", "--from", from, "--to", to});
    EXPECT_EQ(kept.code, 0) << kept.err;
  };
  keep("2023-10-20", "2023-11-16");
  keep("2023-11-14", "2023-11-16");
  keep("2023-11-14", "2023-11-16");  // The same again takes its place.
  const Outcome nothing = scan({"--keep", "--from", "2023-12-01", "--to", "2023-12-03"});
  EXPECT_EQ(nothing.code, 1) << "no job held an accelerator then, which is kept, too";
  const Json months =
      json_of(sandbox_.amdahl({"scan", "--trend", "months", "--json"})).at("months");
  ASSERT_EQ(months.size(), 3U);
  EXPECT_EQ(months.at(0).at("month"), "2023-10");
  EXPECT_EQ(months.at(1).at("month"), "2023-11");
  EXPECT_EQ(months.at(1).at("scans"), 1);
  EXPECT_NEAR(months.at(1).at("days").get<double>(), 2, 1e-9);
  EXPECT_NEAR(months.at(1).at("split_accelerator_s").at("allocated").get<double>(), 24 * kHour, 1);
  EXPECT_EQ(months.at(2).at("jobs"), 0);
  EXPECT_TRUE(months.at(2).at("wasted_accelerator_s").is_null());
  const std::string text = sandbox_.amdahl({"scan", "--trend", "months"}).out;
  EXPECT_NE(text.find("2023-11"), std::string::npos) << text;
  EXPECT_NE(text.find("12.0"), std::string::npos) << text << "allocated hours a day";
}

// A laboratory without a scheduler: which accelerators stood idle.
TEST(OtherSites, ALogOfNvidiaSmiAloneSaysWhichAcceleratorsStoodIdle) {
  Sandbox sandbox;
  std::string log = "timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n";
  for (int minute = 0; minute < 120; ++minute) {
    const std::string at = fmt::format("2023/11/15 {:02}:{:02}:00.000", minute / 60, minute % 60);
    log += fmt::format("{}, 0, 90 %, 30000 MiB, 300.00 W\n", at);
    log += fmt::format("{}, 1, 0 %, 3 MiB, 50.00 W\n", at);
  }
  sandbox.write("lab01.csv", log);
  const Outcome done = sandbox.amdahl({"scan", "lab01.csv", "--ascii"});
  EXPECT_EQ(done.code, 0) << done.err;
  const std::string text = flat(done.out);
  EXPECT_NE(text.find("lab01 1 2.00 2.00 100 % 0.0 %"), std::string::npos) << text;
  EXPECT_NE(text.find("lab01 0 2.00 0 0.0 % 90 %"), std::string::npos) << text;
  EXPECT_NE(text.find("To see users and jobs, add accounting"), std::string::npos) << text;
  const Json answer = json_of(sandbox.amdahl({"scan", "lab01.csv", "--json"}));
  EXPECT_EQ(answer.at("beside").at("without_jobs").size(), 2U);
}

// Twelve hosts, one of which has a clock that is three hours ahead.
TEST(OtherSites, AHostWithAWrongClockIsNamed) {
  Sandbox sandbox;
  std::string sacct(kHeader);
  std::string samples = "timestamp,Hostname,gpu,DCGM_FI_DEV_GPU_UTIL\n";
  const auto iso = [](std::int64_t at) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(at)));
  };
  for (int host = 0; host < 12; ++host) {
    std::int64_t at = kStart + 401 * host;
    const std::int64_t wrong = host == 7 ? 3 * kHour : 0;
    for (int i = 0; i < 6; ++i) {
      const std::int64_t length = 4000 + 613 * ((7 * host + 3 * i) % 11);
      const std::int64_t pause = 2500 + 331 * ((5 * host + i) % 7);
      sacct += fmt::format("{0}|u|COMPLETED|{1}|{1}|{2}|{3}|n{4}|gres/gpu=1|t\n", host * 10 + i,
                           iso(at), iso(at + length), length, host);
      for (std::int64_t t = 0; t < length + pause; t += 60) {
        samples += fmt::format("{},n{},0,{}\n", at + t + wrong, host, t < length ? 80 : 0);
      }
      at += length + pause;
    }
  }
  sandbox.write("sacct.txt", sacct);
  sandbox.write("samples.csv", samples);
  const Json answer = json_of(sandbox.amdahl({"scan", "sacct.txt", "samples.csv", "--json"}));
  const Json* told = nullptr;
  for (const Json& one : answer.at("assumptions")) {
    if (one.at("about") == "clock of a host") told = &one;
  }
  ASSERT_NE(told, nullptr) << answer.at("assumptions");
  const std::string says = told->at("says");
  EXPECT_NE(says.find("n7 (3 h 00 min ahead"), std::string::npos) << says;
  EXPECT_EQ(says.find("n6"), std::string::npos) << "the others are right: " << says;
}

TEST(OtherSites, JobsOfTwoClustersWithTheSameIdsAreNotRequeued) {
  Sandbox sandbox;
  sandbox.write("a.txt", std::string(kHeader) + job(1, "ada", 0, 2, "n1"));
  sandbox.write("b.txt", std::string(kHeader) + job(1, "bob", 4, 6, "m1"));
  const Json answer = json_of(sandbox.amdahl({"scan", "a.txt", "b.txt", "--json"}));
  EXPECT_EQ(answer.at("totals").at("jobs"), 2);
  EXPECT_EQ(answer.at("failures").size(), 0U) << answer.at("failures");
}

TEST(OtherSites, AccountingWithoutAcceleratorsSaysWhatToGive) {
  Sandbox sandbox;
  sandbox.write("qacct.txt",
                "==============================================================\n"
                "qname        gpu.q\nhostname     n1\ngroup        g\nowner        ada\n"
                "project      NONE\ndepartment   d\njobname      t\njobnumber    1\n"
                "taskid       undefined\naccount      sge\npriority     0\n"
                "qsub_time    11/15/2023 00:00:00.000\nstart_time   11/15/2023 00:00:00.000\n"
                "end_time     11/15/2023 01:00:00.000\ngranted_pe   NONE\nslots        1\n"
                "failed       0\nexit_status  0\nru_wallclock 3600s\n");
  const Outcome done = sandbox.amdahl({"scan", "qacct.txt"});
  EXPECT_EQ(done.code, 1);
  EXPECT_NE(done.out.find("give a table of job, start, end and gpus"), std::string::npos)
      << done.out;
}

}  // namespace
}  // namespace amdahl::e2e
