// dashboard_test.cc: the dashboard in a real browser, on the ledger of a real loop.
#include <filesystem>

#include <gtest/gtest.h>

#include "json.h"
#include "served.h"

namespace amdahl::e2e {
namespace {

constexpr const char* kHostile =
    "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>";

// As web/src/lib/format.ts does it, written anew: three digits, never an exponent.
std::string three_digits(double value) {
  if (value != 0 && value < 0.001) return "< 0.001";
  const int digits = value >= 100 || value == 0 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string dollars(double value) {
  if (value != 0 && value < 0.01) return "< $0.01";
  char text[64];
  std::snprintf(text, sizeof text, "$%.2f", value);
  return text;
}

class Dashboard : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kWeb + "/node_modules/playwright-core") ||
        run({"sh", "-c", "command -v chromium && command -v node"}, {}, sandbox_.path()).code !=
            0) {
      GTEST_SKIP() << "needs Chromium and web/node_modules: ./script/bootstrap --tests";
    }
    sandbox_.add_nap_job();
    sandbox_.write("config.toml",
                   sandbox_.read("config.toml") + "[price]\naccelerator_hour_usd = 2.0\n");
    ASSERT_EQ(sandbox_.amdahl({"run", "--quiet", "--spec", "job.toml"}).code, 0);
    ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
    ASSERT_EQ(sandbox_
                  .amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60", "--title",
                           std::string("naps ") + kHostile, "--as", "ada"})
                  .code,
              0);
    const Outcome cycle = sandbox_.amdahl({"cycle", "--watch", "--quiet"});
    ASSERT_EQ(cycle.code, 0) << cycle.err;
  }

  Json walk(const Served& server, const std::string& id) {
    const char* keep = std::getenv("AMDAHL_PICTURES");
    const std::string pictures = keep ? keep : sandbox_.path("pictures");
    std::filesystem::create_directories(pictures);
    const Json plan{{"url", server.url()},
                    {"web", kWeb},
                    {"chromium", "/usr/bin/chromium"},
                    {"amdahl", program()},
                    {"pictures", pictures},
                    {"all_pictures", keep != nullptr},
                    {"reader", token_for(sandbox_, "rita", "reader")},
                    {"approver", token_for(sandbox_, "ada", "approver")},
                    {"hypothesis", id},
                    {"family", "nap"},
                    {"job", "last"},
                    {"reason", std::string("true ") + kHostile}};
    sandbox_.write("plan.json", plan.dump());
    const Outcome walked = run(
        {"timeout", "240", "node", source_path("/tests/e2e/dashboard.mjs"),
         sandbox_.path("plan.json")},
        {{"AMDAHL_STATE", sandbox_.path("state")}, {"AMDAHL_CONFIG", sandbox_.path("config.toml")}},
        sandbox_.path());
    return json_of(walked);
  }

  const std::string kWeb = source_path("/web");
  Sandbox sandbox_;
};

TEST_F(Dashboard, EveryPageShowsTheNumbersOfTheVerbsAndAnApproverDecides) {
  const Served server(sandbox_);
  if (server.ask("GET", "/", {"Accept-Encoding: gzip"}).status == 404) {
    GTEST_SKIP() << "this build has no dashboard: ./script/bootstrap, then build again";
  }
  const Json gate = json_of(sandbox_.amdahl({"gate", "--json"}));
  ASSERT_EQ(gate.at("gate").size(), 1U);
  const std::string id = gate.at("gate").at(0).at("packet").at("hypothesis");
  const Json roi = json_of(sandbox_.amdahl({"roi", "--json"}));
  const Json status = json_of(sandbox_.amdahl({"status", "--json"}));
  const Json scan = json_of(sandbox_.amdahl({"scan", "--json"}));
  const Json pairs = json_of(sandbox_.amdahl({"ledger", "pairs", id, "--json"}));
  const Json list = json_of(sandbox_.amdahl({"ledger", "list", "--json"}));
  const Json seen = walk(server, id);
  ASSERT_FALSE(seen.is_null());

  EXPECT_EQ(seen.at("errors"), Json::array());
  EXPECT_EQ(seen.at("overflow"), Json::object());
  EXPECT_EQ(seen.at("titles").size(), 10U);
  for (const auto& [page, findings] : seen.at("serious").items()) {
    EXPECT_EQ(findings, Json::array()) << page;
  }

  const double days = (scan.at("window").at("end_s").get<double>() -
                       scan.at("window").at("start_s").get<double>()) /
                      86400;
  const auto a_day = [&](const char* field) {
    return three_digits(scan.at("totals").at(field).get<double>() / days / 3600) + " h/day";
  };
  const Json figures{
      {"home wasted", a_day("wasted_accelerator_s")},
      {"home recoverable", a_day("recoverable_accelerator_s")},
      {"home tested",
       three_digits(status.at("under_test_accelerator_h_per_day").get<double>()) + " h/day"},
      {"home banked", three_digits(roi.at("saved_accelerator_h_per_day").get<double>()) + " h/day"},
      {"money spent", dollars(roi.at("spent_usd").get<double>())},
      {"money month", dollars(roi.at("saved_usd_per_month").get<double>())},
      {"money day", three_digits(roi.at("saved_accelerator_h_per_day").get<double>()) + " h"}};
  EXPECT_EQ(seen.at("figures"), figures);
  EXPECT_EQ(seen.at("pairs_drawn"), pairs.at("pairs").size());
  EXPECT_EQ(seen.at("checks").size(), gate.at("gate").at(0).at("packet").at("votes").size());
  EXPECT_EQ(seen.at("ledger_total"), std::to_string(list.at("total").get<int>()));
  EXPECT_EQ(seen.at("ledger_rows"), Json::array({id}));

  EXPECT_EQ(seen.at("reader_buttons"), 0);
  EXPECT_EQ(seen.at("refused"), 403);
  EXPECT_EQ(seen.at("live"), true);
  EXPECT_EQ(seen.at("by_keys"), "Gate");
  EXPECT_NE(seen.at("no_job").get<std::string>().find("Could not look at the job, because"),
            std::string::npos);
  EXPECT_EQ(seen.at("before"), "pending");
  EXPECT_EQ(seen.at("reader_sees"), "approved");
  EXPECT_EQ(seen.at("reason"), std::string("true ") + kHostile) << "shown as text";
  EXPECT_EQ(seen.at("logged_out"), 401);
  const Json decided = json_of(sandbox_.amdahl({"gate", "show", id, "--json"}));
  EXPECT_EQ(decided.at("state"), "approved");
  EXPECT_EQ(decided.at("decision").at("actor"), "ada");
  EXPECT_EQ(events(sandbox_, "gate.decided").at(0).at("payload").at("packet"),
            gate.at("gate").at(0).at("digest"));
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
}

}  // namespace
}  // namespace amdahl::e2e
