// What status, an idle cycle and the server's pages read must not grow with the length of the
// ledger. Counted in instructions of SQLite's virtual machine, not in time: a loaded machine
// changes nothing.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "app/cycle.h"
#include "app/roi.h"
#include "app/status.h"
#include "app/tokens.h"
#include "http/dispatcher.h"
#include "ledger_builder.h"

namespace amdahl {
namespace {

// The server gives its last answer again for a second; these would count nothing.
constexpr auto kKeptAtMost = std::chrono::milliseconds(1100);

std::atomic<std::int64_t> instructions{0};

int count_one(void*) {
  ++instructions;
  return 0;
}

// SQLite calls this for each connection it opens, whoever asked for it.
int watch(sqlite3* db, char**, const void*) {
  sqlite3_progress_handler(db, 1, count_one, nullptr);
  return 0;
}

// While it lives, the instructions of every connection that is opened are counted.
struct Counting {
  Counting() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(watch)); }
  ~Counting() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(watch)); }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;
};

struct Cost {
  std::int64_t events = 0;
  std::int64_t status = 0;  // Instructions, opening included.
  std::int64_t cycle = 0;
};

class Scale : public testing::Test {
 protected:
  Scale() { std::filesystem::remove_all(folder_); }
  ~Scale() override { std::filesystem::remove_all(folder_); }

  Result<Cost> measure(int hypotheses) {
    bench::History history;
    history.hypotheses = hypotheses;
    history.families = 5;
    app::Config config;
    config.state_dir = (folder_ / fmt::to_string(hypotheses)).string();
    config.slots = {0};
    Cost cost;
    cost.events = TRY(bench::build_idle_ledger(config.state_dir, history));
    const Counting counting;
    instructions = 0;
    {
      app::Context context = TRY(app::open_context(config, false));
      const app::Status status = TRY(app::read_status(context));
      EXPECT_EQ(status.pending.size(), 20u);
      EXPECT_EQ(status.snapshot.experiments.state().families.size(), 5u);
    }
    cost.status = instructions.exchange(0);
    app::Context context = TRY(app::open_context(config, false));
    app::CycleOptions options;
    options.say = [](const std::string& line) { ADD_FAILURE() << "not idle: " << line; };
    const app::CycleSummary summary = TRY(app::run_cycle(context, options));
    cost.cycle = instructions.exchange(0);
    EXPECT_TRUE(summary.settled);
    EXPECT_EQ(summary.waiting_at_gate, 20);
    EXPECT_EQ(TRY(context.ledger->events("", 0, 1)).at(0).seq, cost.events);
    // Nothing was charged in dollars, so hours are priced: by month as in all.
    const app::Roi roi = TRY(app::return_on_investment(context, std::nullopt));
    double by_month = 0;
    for (const app::RoiMonth& month : roi.months) by_month += month.spent_usd;
    EXPECT_GT(roi.spent_usd, 0);
    EXPECT_NEAR(by_month, roi.spent_usd, 1e-6);
    return cost;
  }

  // Instructions of each page that the dashboard asks for, on one open ledger.
  Result<std::map<std::string, std::int64_t>> measure_pages(int hypotheses) {
    bench::History history;
    history.hypotheses = hypotheses;
    history.families = 5;
    app::Config config;
    config.state_dir = (folder_ / fmt::format("pages-{}", hypotheses)).string();
    config.slots = {0};
    history.declined_in = 2;
    TRY(bench::build_idle_ledger(config.state_dir, history));
    const app::IssuedToken token =
        TRY(app::issue_token("rita", app::Role::kReader, Nanos{}, Nanos{}));
    const Counting counting;
    http::Dispatcher dispatcher(TRY(app::open_context(config, false)),
                                {"/nowhere", {}, token.token}, {});
    std::map<std::string, std::int64_t> costs;
    for (const char* page :
         {"/api/v1/status", "/api/v1/hypotheses?limit=50", "/api/v1/hypotheses?state=refuted",
          "/api/v1/hypotheses?state=promoted&limit=1", "/api/v1/hypotheses?before=90&limit=20",
          "/api/v1/hypotheses?family=family-1&limit=20", "/api/v1/search?q=larger+batches",
          "/api/v1/search?q=larger+loader&limit=10", "/api/v1/hypotheses?state=harmful",
          "/api/v1/log?limit=25", "/api/v1/gate?limit=20", "/api/v1/roi", "/metrics",
          // Number 100 of either ledger: declined at the gate.
          "/api/v1/hypotheses/h-00cdab8924", "/api/v1/hypotheses/h-00cdab8924/pairs",
          "/api/v1/gate/h-00cdab8924", "/api/v1/stacks"}) {
      http::Request request{.method = "GET"};
      TRY(http::parse_target(page, request));
      request.headers = {{"host", "localhost"}, {"authorization", "Bearer " + token.text}};
      EXPECT_EQ(dispatcher.answer(request, {}).response.status, 200)
          << page;  // Statements are prepared.
      std::this_thread::sleep_for(kKeptAtMost);
      instructions = 0;
      EXPECT_EQ(dispatcher.answer(request, {}).response.status, 200) << page;
      costs[page] = instructions.exchange(0);
    }
    return costs;
  }

  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) / "amdahl-scale";
};

TEST_F(Scale, WhatStatusAndAnIdleCycleReadDoesNotGrowWithTheEvents) {
  const auto small = measure(200);
  ASSERT_TRUE(small) << small.error().text;
  const auto large = measure(2000);
  ASSERT_TRUE(large) << large.error().text;
  ASSERT_GT(small->events, 2000);
  ASSERT_GT(large->events, 20000);
  ASSERT_GT(small->status, 1000);  // The counter counts.
  ASSERT_GT(small->cycle, 1000);
  fmt::print("{} events: status {}, cycle {} instructions\n{} events: status {}, cycle {}\n",
             small->events, small->status, small->cycle, large->events, large->status,
             large->cycle);
  EXPECT_LT(static_cast<double>(large->status), 1.1 * static_cast<double>(small->status));
  EXPECT_LT(static_cast<double>(large->cycle), 1.1 * static_cast<double>(small->cycle));
}

TEST_F(Scale, WhatAPageReadsDoesNotGrowWithTheLedger) {
  const auto small = measure_pages(200);
  ASSERT_TRUE(small) << small.error().text;
  const auto large = measure_pages(2000);
  ASSERT_TRUE(large) << large.error().text;
  for (const auto& [page, cost] : *small) {
    fmt::print("{}: {} and {} instructions\n", page, cost, large->at(page));
    EXPECT_GT(cost, 100) << page << " was not asked of the ledger";
    // Money has a row a family and month, however many events there were in it.
    const bool has_months = page == "/api/v1/roi" || page == "/metrics";
    const double months = has_months ? 5 * 12 * 10 : 0;
    // The tree of a word that all hypotheses have is a little deeper.
    const double deeper = page.starts_with("/api/v1/search") ? 400 : 0;
    EXPECT_LT(static_cast<double>(large->at(page)),
              1.1 * static_cast<double>(cost) + months + deeper)
        << page;
  }
}

}  // namespace
}  // namespace amdahl
