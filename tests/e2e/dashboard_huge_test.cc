// dashboard_huge_test.cc: the dashboard on an empty and on a huge ledger and fleet, side by side.
// With AMDAHL_HUGE set: 100,000 verdicts and a million jobs, and times are judged. If it names a
// folder, the ledger and the fleet are kept there: to build them takes minutes.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "json.h"
#include "served.h"

namespace amdahl::e2e {
namespace {

void judge(const Json& seen, const Json& list, int jobs, bool whole) {
  EXPECT_EQ(seen.at("errors"), Json::array());
  EXPECT_EQ(seen.at("drawn").at("ledger").at("rows"), 50);
  EXPECT_EQ(seen.at("drawn").at("ledger").at("total"), std::to_string(list.at("total").get<int>()));
  EXPECT_EQ(seen.at("drawn").at("actions"), 4) << "what to do, the best first";
  EXPECT_EQ(seen.at("drawn").at("gate"), 50) << "what waits, and the newest that was decided";
  EXPECT_GT(seen.at("steps").at("jobs").at("count"), jobs);
  EXPECT_EQ(seen.at("distinct"), 125) << "five pages without a job twice";
  EXPECT_EQ(seen.at("searched"), Json::array({seen.at("first")}));
  for (const auto& [name, step] : seen.at("steps").items()) {
    EXPECT_LE(step.at("rows"), 25) << name;
    EXPECT_LT(step.at("bytes"), 100'000) << name;
    if (whole) {
      EXPECT_LT(step.at("ms"), 1000) << name;
    }
  }
  double age = 0;
  for (const Json& next : seen.at("ages")) {
    EXPECT_GE(next.get<double>(), age) << "scanned again for a page";
    age = next;
  }
  for (const auto& [name, times] : seen.at("pages").items()) {
    const char* of = whole ? "p95" : "p50";
    EXPECT_LE(times.at("huge").at(of).get<double>(), 2 * times.at("empty").at(of).get<double>())
        << name << " " << of;
  }
}

// Runs one of bench/ unless its folder is there from an earlier run.
void build_once(const Sandbox& sandbox, const std::string& folder,
                const std::vector<std::string>& command) {
  if (std::filesystem::exists(folder + ".done")) return;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const Outcome built = run(command, {}, sandbox.path());
  ASSERT_EQ(built.code, 0) << built.out << built.err;
  std::ofstream(folder + ".done") << "whole\n";
}

TEST(DashboardHuge, APageCostsWhatItShowsAndNeverScansAgain) {
  const std::string web = source_path("/web");
  Sandbox empty;
  Sandbox huge;
  if (!std::filesystem::exists(web + "/node_modules/playwright-core") ||
      run({"sh", "-c", "command -v chromium && command -v node"}, {}, huge.path()).code != 0) {
    GTEST_SKIP() << "needs Chromium and web/node_modules: ./script/bootstrap --tests";
  }
  const char* asked = std::getenv("AMDAHL_HUGE");
  const bool whole = asked != nullptr;
  const int verdicts = whole ? 100'000 : 2'000;
  const int jobs = whole ? 1'000'000 : 20'000;
  const std::string bench = program().substr(0, program().rfind('/')) + "/bench/";
  ASSERT_EQ(empty.amdahl({"init"}).code, 0);
  const std::string kept = whole && asked[0] == '/' ? asked : huge.path("kept");
  const std::string fleet = kept + "/fleet";
  build_once(huge, kept + "/state",
             {bench + "ledger_build", kept + "/state", std::to_string(verdicts)});
  // The window is that of the samples: of the jobs, 20 of which start a second, some are beyond it.
  build_once(huge, fleet,
             {bench + "scan_generate", fleet, whole ? "2500000" : "200000", "704",
              whole ? "1100000" : "20000"});
  std::filesystem::remove_all(huge.path("state"));
  std::filesystem::create_directory_symlink(kept + "/state", huge.path("state"));
  std::string config = "[price]\naccelerator_hour_usd = 2.0\n";
  for (const char* file : {"sacct.txt", "sacct_many.txt", "gpu_alloc.csv", "dcgm_long.csv"}) {
    config += "[[scan.source]]\ntime_zone = \"UTC\"\n";
    config += "read = \"" + fleet + "/" + file + "\"\n";
  }
  huge.write("config.toml", config);
  const Served small(empty);
  const Served large(huge);
  if (small.ask("GET", "/").status == 404) {
    GTEST_SKIP() << "this build has no dashboard: ./script/bootstrap, then build again";
  }
  const char* keep = std::getenv("AMDAHL_PICTURES");
  const std::string pictures = keep ? keep : huge.path("pictures");
  std::filesystem::create_directories(pictures);
  const Json list = json_of(huge.amdahl({"ledger", "list", "--limit", "1", "--json"}));
  const Json plan{{"web", web},
                  {"chromium", "/usr/bin/chromium"},
                  {"pictures", pictures},
                  {"rounds", whole ? 40 : 8},
                  {"hypothesis", list.at("hypotheses").at(0).at("hypothesis").at("id")},
                  {"empty", {{"url", small.url()}, {"token", token_for(empty, "r", "reader")}}},
                  {"huge", {{"url", large.url()}, {"token", token_for(huge, "r", "reader")}}}};
  huge.write("plan.json", plan.dump());
  const Json seen =
      json_of(run({"timeout", "800", "node", source_path("/tests/e2e/dashboard_huge.mjs"),
                   huge.path("plan.json")},
                  {}, huge.path()));
  ASSERT_FALSE(seen.is_null());
  std::printf("%s\n", seen.dump(1).c_str());
  judge(seen, list, jobs, whole);
}

}  // namespace
}  // namespace amdahl::e2e
