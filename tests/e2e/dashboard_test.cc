// dashboard_test.cc: the dashboard in a real browser, on the ledger of a real loop.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

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

std::string decimals(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string dollars(double value) {
  const bool small = value > 0 && value < 0.01;
  return "$" + decimals(value, small ? 1 + static_cast<int>(std::ceil(-std::log10(value))) : 2);
}

// Accelerator time of a fleet that was seen for seconds.
std::string hours(const Json& accelerator_s) {
  if (accelerator_s.is_null()) return "unknown";
  const double s = accelerator_s;
  if (s == 0 || s >= 360) return three_digits(s / 3600) + " h";
  if (s >= 60) return three_digits(s / 60) + " min";
  return s < 1 ? decimals(1e3 * s, s < 0.01 ? 1 : 0) + " ms" : decimals(s, s < 10 ? 2 : 1) + " s";
}

Json names_of(const Json& rows) {
  Json names = Json::array();
  for (const Json& row : rows) names.push_back(row.at("name"));
  return names;
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
    // Enough jobs to compare later ones with.
    for (int i = 0; i < 9; ++i) {
      ASSERT_EQ(sandbox_.amdahl({"run", "--quiet", "--spec", "job.toml"}).code, 0);
    }
    ASSERT_EQ(sandbox_.amdahl({"adopt", "--spec", "job.toml"}).code, 0);
    ASSERT_EQ(sandbox_
                  .amdahl({"propose", "nap", "--env", "NAP=0.01", "--gain", "60", "--title",
                           std::string("naps ") + kHostile, "--as", "ada"})
                  .code,
              0);
    const Outcome cycle = sandbox_.amdahl({"cycle", "--watch", "--quiet"});
    ASSERT_EQ(cycle.code, 0) << cycle.err;
    // An idea that costs more, and comes up again when that is known.
    const std::vector<std::string> slower = {"propose", "nap",  "--env", "NAP=0.8", "--gain",
                                             "20",      "--as", "bob",   "--title", "naps longer"};
    ASSERT_EQ(sandbox_.amdahl(slower).code, 0);
    ASSERT_EQ(sandbox_.amdahl({"cycle", "--watch", "--quiet"}).code, 0);
    EXPECT_EQ(sandbox_.amdahl(slower).code, 1) << "the answer is known";
    EXPECT_EQ(sandbox_.amdahl(slower).code, 1);
  }

  // What the verb prints; a number of it may be on any page.
  Json ask(std::vector<std::string> words) {
    words.push_back("--json");
    documents_.push_back(json_of(sandbox_.amdahl(words)));
    return documents_.back();
  }

  // The large figures of the pages, from the verbs.
  Json figures_of_verbs() {
    const Json roi = ask({"roi"});
    const Json status = ask({"status"});
    const Json scan = ask({"scan"});
    user_ = ask({"scan", "--by", "user"}).at("rows").at(0).at("name");
    actions_ = scan.at("actions");
    week_ = ask({"scan", "--window", "7d"});
    const Json own = ask({"scan", "--of", user_});
    const Json& window = scan.at("window");
    days_ = (window.at("end_s").get<double>() - window.at("start_s").get<double>()) / 86400;
    const Json& split = own.at("split_accelerator_s");
    const double observed =
        split.at("allocated").get<double>() - split.at("unobserved").get<double>();
    if (observed > 0) {
      derived_["share of what was seen"] = own.at("wasted_accelerator_s").get<double>() / observed;
    }
    EXPECT_TRUE(scan.at("totals").at("per_day").is_null()) << "seconds tell no rate";
    for (const double hours : {roi.at("saved_accelerator_h_per_day").get<double>(),
                               status.at("under_test_accelerator_h_per_day").get<double>()}) {
      derived_["USD a day of " + std::to_string(hours)] = 2.0 * hours;
    }
    const double saved = roi.at("saved_accelerator_h_per_day");
    const double tested = status.at("under_test_accelerator_h_per_day");
    const Json& totals = scan.at("totals");
    const Json& prevented = roi.at("prevented");
    EXPECT_EQ(prevented.at("ideas"), 1) << "one source counts once a profile";
    EXPECT_GT(prevented.at("pairs"), 0);
    return {{"home wasted", hours(totals.at("wasted_accelerator_s"))},
            {"home recoverable", hours(totals.at("recoverable_accelerator_s"))},
            {"ledger prevented", std::to_string(prevented.at("pairs").get<int>()) + " pairs"},
            {"ledger stopped", "1"},
            {"ledger promoted", "0"},
            {"home tested", three_digits(tested) + " h/day"},
            {"home banked", three_digits(saved) + " h/day"},
            {"money spent", dollars(roi.at("spent_usd").get<double>())},
            {"money month", dollars(roi.at("saved_usd_per_month").get<double>())},
            {"money banked", "—"},
            {"money day", three_digits(saved)},
            {"own held", hours(split.at("allocated"))},
            {"own wasted", hours(own.at("wasted_accelerator_s"))},
            {"own failed", hours(own.at("lost_in_failed_accelerator_s"))},
            {"job slowdown", three_digits(ranks_.at("pipeline").at("slowdown").get<double>())},
            {"trace slowdown", three_digits(ranks_.at("pipeline").at("slowdown").get<double>())}};
  }

  // What pages work out of the pairs and of the packet; the pairs.
  Json derive(const std::string& id, const Json& packet) {
    const Json pairs = ask({"ledger", "pairs", id});
    double largest = 0;
    for (const Json& pair : pairs.at("pairs")) {
      for (const char* arm : {"a_per_work", "b_per_work"}) {
        if (pair.at(arm).is_number()) largest = std::max(largest, pair.at(arm).get<double>());
      }
    }
    derived_["top of the pairs' scale"] = 1.05 * largest;
    derived_["middle of the pairs' scale"] = 1.05 * largest / 2;
    derived_["saved a year"] = 365 * packet.at("saves_accelerator_h_per_day").get<double>();
    derived_["saved a year, USD"] = 2.0 * derived_.at("saved a year").get<double>();
    derived_["proof, USD"] = 2.0 * packet.at("spent_accelerator_s").get<double>() / 3600;
    return pairs;
  }

  Json walk(const Served& server, const std::string& id, const std::string& script) {
    const char* keep = std::getenv("AMDAHL_PICTURES");
    const std::string pictures = keep ? keep : sandbox_.path("pictures");
    std::filesystem::create_directories(pictures);
    const Json plan{{"url", server.url()},
                    {"web", kWeb},
                    {"chromium", "/usr/bin/chromium"},
                    {"amdahl", program()},
                    {"pictures", pictures},
                    {"all_pictures", keep != nullptr},
                    {"reader", token_for(sandbox_, "rita-" + script, "reader")},
                    {"approver", token_for(sandbox_, "ada-" + script, "approver")},
                    {"hypothesis", id},
                    {"family", "nap"},
                    {"user", user_},
                    {"documents", documents_},
                    {"derived", derived_},
                    {"days", days_},
                    {"diff", has_diff_},
                    {"job", "last"},
                    {"part", part_},
                    {"reason", std::string("true ") + kHostile}};
    sandbox_.write("plan.json", plan.dump());
    const Outcome walked = run(
        {"timeout", "500", "node", source_path("/tests/e2e/" + script + ".mjs"),
         sandbox_.path("plan.json")},
        {{"AMDAHL_STATE", sandbox_.path("state")}, {"AMDAHL_CONFIG", sandbox_.path("config.toml")}},
        sandbox_.path());
    return json_of(walked);
  }

  // The promoted change runs in production, a cycle books what it saved, and every page of it is
  // read again.
  void expect_pages_of_the_promotion(const std::string& id) {
    for (int i = 0; i < 14; ++i) {
      ASSERT_EQ(sandbox_.amdahl({"run", "--promoted", "--family", "nap", "--quiet"}).code, 0);
    }
    ASSERT_EQ(sandbox_.amdahl({"cycle", "--quiet"}).code, 0);
    documents_ = Json::array();
    const Json roi = ask({"roi"});
    ASSERT_GT(roi.at("banked").at("jobs"), 7) << roi.dump(1);
    derived_["hours to pay back"] = 24 * roi.at("pays_back_days").get<double>();
    derived_["minutes to pay back"] = 1440 * roi.at("pays_back_days").get<double>();
    const Json status = ask({"status"});
    derive(id, ask({"gate", "show", id}).at("packet"));
    for (const double hours : {roi.at("saved_accelerator_h_per_day").get<double>(),
                               status.at("under_test_accelerator_h_per_day").get<double>()}) {
      derived_["USD a day of " + std::to_string(hours)] = 2.0 * hours;
    }
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"scan"},
                                               {"gate"},
                                               {"canary"},
                                               {"ledger", "list"},
                                               {"ledger", "show", id},
                                               {"ledger", "log", "--limit", "400"}}) {
      ask(words);
    }
    const Served server(sandbox_);
    const Json seen = walk(server, id, "dashboard_after");
    ASSERT_FALSE(seen.is_null());
    EXPECT_EQ(seen.at("errors"), Json::array());
    EXPECT_EQ(seen.at("unknown"), Json::object()) << seen.at("unknown").dump(1);
    const double saved = roi.at("saved_accelerator_h_per_day");
    EXPECT_GT(saved, 0);
    const std::map<std::string, std::string> figures{
        {"home banked", three_digits(saved) + " h/day"},
        {"ledger promoted", "1"},
        {"money spent", dollars(roi.at("spent_usd").get<double>())},
        {"money month", dollars(roi.at("saved_usd_per_month").get<double>())},
        {"money banked", dollars(roi.at("banked").at("banked_usd").get<double>())},
        {"money day", three_digits(saved)}};
    for (const auto& [name, shown] : figures) {
      EXPECT_EQ(seen.at("figures").value(name, "missing"), shown) << name;
    }
  }

  // Timers of eight ranks over twelve steps; rank 5 is slow from the seventh on. And two traces, if
  // there are any.
  void keep_traces() {
    Json events = Json::array();
    for (int step = 1; step <= 12; ++step) {
      for (int rank = 0; rank < 8; ++rank) {
        const double slow = rank == 5 && step > 6 ? 1.6 : 1;
        for (int pass = 0; pass < 2; ++pass) {
          const char* kind = pass == 0 ? "forward-compute" : "backward-compute";
          events.push_back(
              {{"name", kind},
               {"cat", kind},
               {"ph", "X"},
               {"pid", rank},
               {"tid", 0},
               {"ts", step * 1e6 + pass * 3e5},
               {"dur", 1e5 * slow * (1 + 0.01 * ((rank * 7 + step) % 5))},
               {"args",
                {{"step", step}, {"stage", 0}, {"model_chunk", 0}, {"mb_id", 0}, {"seq_id", 0}}}});
        }
      }
    }
    sandbox_.write("ranks.json", events.dump());
    ranks_ = ask({"profile", sandbox_.path("ranks.json"), "--keep", "ranks"});
    // Under the name of a job, the page of the job shows it too.
    const Json last = ask({"anatomy", "last"});
    const std::string job = last.at("job");
    ask({"profile", sandbox_.path("ranks.json"), "--keep", job});
    derive_worlds(last);
    const char* corpus = std::getenv("AMDAHL_CORPUS");
    if (!corpus) return;
    const std::string folder = std::string(corpus) + "/traces/kineto_tb/resnet50_nw";
    has_diff_ = sandbox_
                    .amdahl({"profile", "--diff", folder + "0_1623143089861.pt.trace.json.gz",
                             folder + "4_1623212756351.pt.trace.json.gz", "--keep", "diff"})
                    .code == 0;
    if (has_diff_) documents_.push_back(Json::parse(sandbox_.read("state/traces/diff.json")));
  }

  const std::string kWeb = source_path("/web");
  Sandbox sandbox_;
  // What the job's page works out by Amdahl's law: today, with compute twice as fast, and with
  // none.
  void derive_worlds(const Json& job) {
    const double wall = job.at("wall_s");
    for (const double compute : {1.0, 2.0, HUGE_VAL}) {
      double whole = 1;
      double largest = 0;  // Of the parts that are not compute.
      for (const Json& row : job.at("table")) {
        const double share = row.at("share");
        if (row.at("is_compute") == true) {
          whole -= share - share / compute;
        } else {
          largest = std::max(largest, share);
        }
      }
      const std::string name = "compute " + decimals(compute, 0);
      derived_["the whole job, " + name] = wall * whole;
      derived_["ceiling, " + name] = whole / (whole - largest);
    }
  }

  // The causes of the class of the job's largest loss.
  Json causes_behind() {
    const Json part = ask({"anatomy", "last"}).at("parts").at(0);
    part_ = part.at("kind");
    Json behind = Json::array();
    const Json profile = ask({"profile", "nap", "--show"});
    for (const Json& cause : profile.at("causes")) {
      const bool is_any = part.at("against") == "unknown";
      if (is_any || cause.at("bottleneck") == part.at("against")) behind.push_back(cause.at("id"));
    }
    return behind;
  }

  // What was clicked on the pages of the job and of the fleet.
  void expect_what_is_behind(const Json& seen, const Json& behind) {
    EXPECT_EQ(seen.at("behind"), behind);
    EXPECT_EQ(seen.at("behind_none"), behind.empty() ? 1 : 0) << "says that none was found";
    // So short a fleet may give nothing to do: dashboard_huge has one that does.
    EXPECT_EQ(seen.at("actions").size(), std::min<std::size_t>(4, actions_.size()));
    for (std::size_t i = 0; i < seen.at("actions").size(); ++i) {
      EXPECT_EQ(seen.at("actions").at(i), actions_.at(i).at("id"));
    }
    EXPECT_EQ(seen.at("week_rows"), names_of(week_.at("rows")));
  }

  std::string user_;
  std::string part_;
  Json actions_;
  Json week_;
  bool has_diff_ = false;
  Json ranks_;
  Json documents_ = Json::array();
  Json derived_ = Json::object();
  double days_ = 1;
};

TEST_F(Dashboard, EveryPageShowsTheNumbersOfTheVerbsAndAnApproverDecides) {
  const Served server(sandbox_);
  if (server.ask("GET", "/", {"Accept-Encoding: gzip"}).status == 404) {
    GTEST_SKIP() << "this build has no dashboard: ./script/bootstrap, then build again";
  }
  const Json gate = ask({"gate"});
  ASSERT_EQ(gate.at("gate").size(), 1U);
  const std::string id = gate.at("gate").at(0).at("packet").at("hypothesis");
  keep_traces();
  const Json figures = figures_of_verbs();
  const Json pairs = derive(id, gate.at("gate").at(0).at("packet"));
  const Json list = ask({"ledger", "list"});
  const Json behind = causes_behind();
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"scan", "--by", "job"},
                                             {"ledger", "show", id},
                                             {"ledger", "log", "--limit", "100"},
                                             {"gate", "show", id},
                                             {"stack", "--show"},
                                             {"canary"}}) {
    ask(words);
  }
  const Json seen = walk(server, id, "dashboard");
  ASSERT_FALSE(seen.is_null());
  EXPECT_EQ(seen.at("unknown"), Json::object()) << seen.at("unknown").dump(1);
  EXPECT_EQ(seen.at("errors"), Json::array());
  EXPECT_EQ(seen.at("overflow"), Json::object());
  EXPECT_EQ(seen.at("titles").size(), has_diff_ ? 15U : 14U);
  for (const auto& [page, findings] : seen.at("serious").items()) {
    EXPECT_EQ(findings, Json::array()) << page;
  }
  for (const auto& [name, shown] : figures.items()) {
    EXPECT_EQ(seen.at("figures").value(name, "missing"), shown) << name;
  }
  EXPECT_EQ(seen.at("pairs_drawn"), pairs.at("pairs").size());
  EXPECT_EQ(seen.at("checks").size(), gate.at("gate").at(0).at("packet").at("votes").size());
  expect_what_is_behind(seen, behind);
  EXPECT_EQ(seen.at("ledger_total"), std::to_string(list.at("total").get<int>()));
  EXPECT_EQ(seen.at("ledger_rows").size(), 2U);
  EXPECT_EQ(seen.at("ledger_rows").at(1), id) << "the newest first";
  EXPECT_EQ(seen.at("lessons"), 1);
  for (const auto& [page, told] : seen.at("told").items()) {
    EXPECT_GE(told, 1) << page << " does not say that it could not look";
  }
  EXPECT_EQ(seen.at("told").size(), seen.at("titles").size());
  EXPECT_EQ(seen.at("hostile").size(), seen.at("titles").size());
  for (const auto& [page, after] : seen.at("hostile").items()) {
    EXPECT_EQ(after.at("ran"), false) << page;
    EXPECT_EQ(after.at("elements"), 0) << page;
    EXPECT_GE(after.at("shown"), 1) << page << " shows no text of the server's";
  }

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
  EXPECT_EQ(decided.at("decision").at("actor"), "ada-dashboard");
  EXPECT_EQ(events(sandbox_, "gate.decided").at(0).at("payload").at("packet"),
            gate.at("gate").at(0).at("digest"));
  EXPECT_EQ(sandbox_.amdahl({"ledger", "verify"}).code, 0);
  expect_pages_of_the_promotion(id);
}

}  // namespace
}  // namespace amdahl::e2e
