#include "ledger/postgres/store.h"

#include <atomic>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/text.h"
#include "ledger/postgres/testing/proxy.h"
#include "ledger/postgres/testing/server.h"
#include "ledger/sqlite/test_kit.h"

namespace amdahl::ledger::postgres {
namespace {

using namespace sqlite;  // Drafts, and what the tests of one file use.
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Of every projection of the file, row by row.
std::string projections_of(const std::string& path) {
  db::Connection db = *db::Connection::open(path, db::Mode::kReadOnly, 1000);
  std::string all;
  for (const Projection& table : projections()) {
    all += fmt::format("[{}]\n", table.name);
    auto prepared = db.prepare("read", table.select);
    if (!prepared) return prepared.error().text;
    db::Statement row = *std::move(prepared);
    while (*row.step()) {
      for (int i = 0; i < row.columns(); ++i) all += row.literal(i) + "|";
      all += "\n";
    }
  }
  return sha256_hex(all);
}

class SharedLedger : public testing::Test {
 protected:
  void SetUp() override {
    if (!shared_server().runs()) GTEST_SKIP() << shared_server().reason();
    url_ = shared_server().url(schema_);
  }

  std::unique_ptr<Ledger> machine(const std::string& name, const std::string& url = "") {
    postgres::StoreOptions options;
    options.durable = false;
    options.look_every = {};
    options.now = now_;
    auto opened = postgres::open_store({url.empty() ? url_ : url, file(name), wait_}, options,
                                       os::real_clock());
    EXPECT_TRUE(opened) << opened.error().text;
    return opened ? *std::move(opened) : nullptr;
  }
  std::string file(const std::string& name) const { return scratch_.path(name + ".db"); }

  static std::string say(Ledger& ledger, const std::vector<Draft>& drafts, std::int64_t fence = 0) {
    const auto done = ledger.append(drafts, fence);
    return done ? "" : done.error().text;
  }
  static void expect_sound(Ledger& ledger, std::int64_t events) {
    const auto report = ledger.verify();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_TRUE(report->ok()) << report->bad_event << join(report->differences, "\n");
    EXPECT_EQ(report->events, events);
  }

  Scratch scratch_;
  std::string schema_ = "t" + os::random_hex(8);
  std::string url_;
  Nanos wait_ = seconds(30);
  std::function<Nanos()> now_;
};

Draft noted(const std::string& subject) { return draft("cycle.noted", subject, {{"n", 1}}); }

TEST_F(SharedLedger, WhatOneMachineWritesTheOthersKnow) {
  auto a = machine("a");
  auto b = machine("b");
  ASSERT_EQ(say(*a, {campaign_opened("c1", 40), family_adopted("f"), proposed("h-1", "key1")}), "");
  EXPECT_EQ(b->hypothesis("h-1")->state, "live");
  // The invariants of the replica refuse what another machine's events forbid.
  const auto second = b->append(std::vector{proposed("h-2", "key1")});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, Error::Kind::kConflict);
  EXPECT_EQ(say(*b, {registered("x-1", "h-1"), reserved("r-1", "x-1", 0)}), "");
  EXPECT_EQ(a->runs_in_flight()->size(), 1u);
  EXPECT_EQ(*a->id(), *b->id());
  expect_sound(*a, 5);
  expect_sound(*b, 5);
  EXPECT_EQ(projections_of(file("a")), projections_of(file("b")));
}

TEST_F(SharedLedger, ManyWritersKeepOneChain) {
  constexpr int kMachines = 2;
  constexpr int kHandles = 2;  // Processes of one machine share its replica.
  constexpr int kEach = 25;
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int m = 0; m < kMachines; ++m) {
    for (int h = 0; h < kHandles; ++h) {
      threads.emplace_back([&, m, h] {
        auto ledger = machine(fmt::format("m{}", m));
        for (int i = 0; i < kEach; ++i) {
          // Half of them are of keys that all want.
          const Draft one =
              i % 2 == 0 ? noted(fmt::format("{}-{}-{}", m, h, i))
                         : proposed(fmt::format("h-{}-{}-{}", m, h, i), fmt::format("key{}", i));
          const auto done = ledger->append(std::vector{one});
          if (!done && done.error().kind == Error::Kind::kConflict) ++refused;
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  constexpr int kWriters = kMachines * kHandles;
  constexpr int kKeys = kEach / 2;
  EXPECT_EQ(refused, (kWriters - 1) * kKeys);
  auto a = machine("m0");
  auto b = machine("m1");
  constexpr std::int64_t kEvents = kWriters * (kEach - kKeys) + kKeys;
  expect_sound(*a, kEvents);
  expect_sound(*b, kEvents);
  EXPECT_EQ(projections_of(file("m0")), projections_of(file("m1")));
}

TEST_F(SharedLedger, AMachineThatWasAwayCatchesUp) {
  auto a = machine("a");
  auto away = machine("away");
  ASSERT_EQ(say(*away, {noted("first")}), "");
  for (int batch = 0; batch < 3; ++batch) {
    std::vector<Draft> many;
    for (int i = 0; i < 400; ++i) many.push_back(noted(fmt::format("n{}-{}", batch, i)));
    ASSERT_EQ(say(*a, many), "");
  }
  EXPECT_EQ(away->events("", 0, 1)->front().seq, 1201);
  ASSERT_EQ(say(*away, {proposed("h-1", "key1")}), "");
  auto fresh = machine("fresh");  // As after its disk was replaced.
  EXPECT_EQ(fresh->events("", 0, 1)->front().seq, 1202);
  EXPECT_EQ(a->hypothesis("h-1")->state, "live");
  EXPECT_EQ(projections_of(file("a")), projections_of(file("away")));
  EXPECT_EQ(projections_of(file("a")), projections_of(file("fresh")));
}

TEST_F(SharedLedger, TheServerRefusesWhatDoesNotFollow) {
  auto a = machine("a");
  ASSERT_EQ(say(*a, {noted("one"), noted("two")}), "");
  const auto sql = [&](const std::string& text) { return shared_server().sql(schema_, text); };
  EXPECT_EQ(sql("UPDATE amdahl_events SET actor = 'x'"),
            "events are for ever: none may be changed");
  EXPECT_EQ(sql("DELETE FROM amdahl_events"), "events are for ever: none may be deleted");
  EXPECT_EQ(sql("TRUNCATE amdahl_events"), "events are for ever: none may be deleted");
  EXPECT_EQ(sql("TRUNCATE amdahl_ledger"), "the head of a ledger is never forgotten");
  EXPECT_EQ(sql("UPDATE amdahl_ledger SET seq = 1"), "a ledger only grows");
  EXPECT_EQ(sql("INSERT INTO amdahl_events VALUES (2, 0, 'x', 'k', 's', '{}', repeat('a', 64))"),
            "an event gets the number after the last");
  EXPECT_EQ(sql("INSERT INTO amdahl_events VALUES (3, 0, 'x', 'k', 's', '{}', repeat('a', 64))"),
            "the hash of event 3 does not follow from the event before");
  expect_sound(*a, 2);
  ASSERT_EQ(sql("ALTER TABLE amdahl_events DISABLE TRIGGER ALL;"
                "UPDATE amdahl_events SET actor = 'eve' WHERE seq = 1;"
                "ALTER TABLE amdahl_events ENABLE TRIGGER ALL"),
            "");
  EXPECT_EQ(a->verify()->bad_event, 1);
}

TEST_F(SharedLedger, TextOfAnyKindHasTheSameHashOnBothSides) {
  auto a = machine("a");
  ASSERT_EQ(
      say(*a, {draft("cycle.noted", "é, 漢字 'quoted' \\ \n", {{"text", "ü\x01$1 \"x\""}}, "Zoë")}),
      "");
  EXPECT_EQ(a->append(std::vector{noted(std::string("a\0b", 3))}).error().kind,
            Error::Kind::kBadInput);
  EXPECT_EQ(a->append(std::vector{noted("\xff\xfe")}).error().kind, Error::Kind::kBadInput);
  ASSERT_EQ(say(*a, {noted("after")}), "");
  expect_sound(*a, 2);
}

TEST_F(SharedLedger, AnOldHoldersAppendIsRefusedByTheServersClock) {
  Nanos now = seconds(1'700'000'000);
  now_ = [&] { return now; };
  auto a = machine("a");
  auto b = machine("b");
  const auto old = a->take_lease("pid 1", "node1", minutes(1));
  ASSERT_TRUE(old);
  EXPECT_EQ(b->take_lease("pid 1", "node2", minutes(1)).error().kind, Error::Kind::kBusy);
  ASSERT_EQ(say(*a, {noted("a")}, old->token), "");
  now += minutes(2);
  const auto fresh = b->take_lease("pid 1", "node2", minutes(1));
  ASSERT_TRUE(fresh) << fresh.error().text;
  EXPECT_EQ(fresh->taken, now);
  const auto late = a->append(std::vector{noted("late")}, old->token);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, Error::Kind::kBusy);
  EXPECT_EQ(a->renew_lease(old->token, minutes(1)).error().kind, Error::Kind::kBusy);
  ASSERT_EQ(say(*b, {noted("b")}, fresh->token), "");
  EXPECT_EQ(a->events("", 0, 9)->size(), 2u);
}

TEST_F(SharedLedger, ALostAnswerToACommitIsSettledByItsHash) {
  Proxy proxy(shared_server());
  auto a = machine("a", shared_server().url(schema_, proxy.folder()));
  ASSERT_EQ(say(*a, {noted("first")}), "");
  int n = 0;
  for (const auto loss : {Proxy::Loss::kBefore, Proxy::Loss::kAnswer, Proxy::Loss::kLate,
                          Proxy::Loss::kAnswer, Proxy::Loss::kLate}) {
    SCOPED_TRACE(static_cast<int>(loss));
    proxy.lose(loss);
    const auto done = a->append(std::vector{noted(fmt::format("n{}", n)), noted("again")});
    ASSERT_TRUE(done) << done.error().text;
    EXPECT_EQ(done->front().seq, 2 + 2 * n);
    EXPECT_EQ(proxy.lost(), ++n);
  }
  auto b = machine("b");
  expect_sound(*b, 1 + 2 * n);
  expect_sound(*a, 1 + 2 * n);
  EXPECT_EQ(b->events("again", 0, 99)->size(), static_cast<std::size_t>(n));
  EXPECT_EQ(projections_of(file("a")), projections_of(file("b")));
}

TEST_F(SharedLedger, ALostAnswerWithALostLeaseIsStillWritten) {
  std::atomic<std::int64_t> now{1'700'000'000};
  now_ = [&] { return Nanos{seconds(now)}; };
  Proxy proxy(shared_server());
  auto a = machine("a", shared_server().url(schema_, proxy.folder()));
  const auto lease = a->take_lease("pid 1", "node1", minutes(1));
  ASSERT_TRUE(lease);
  proxy.lose(Proxy::Loss::kLate);
  std::thread other([&] {
    auto b = machine("b");
    now += 120;
    // Waits for the append that holds a share of the lease.
    EXPECT_TRUE(b->take_lease("pid 1", "node2", minutes(1)));
  });
  const auto done = a->append(std::vector{noted("kept")}, lease->token);
  other.join();
  // Either it came before the taking, or it was refused: never both, never half.
  const std::size_t there = a->events("kept", 0, 9)->size();
  EXPECT_EQ(there, done ? 1u : 0u);
  if (!done) {
    EXPECT_EQ(done.error().kind, Error::Kind::kBusy);
  }
}

TEST_F(SharedLedger, WithoutAServerReadsGoOnAndWritesSaySo) {
  TestServer mine;
  ASSERT_TRUE(mine.runs()) << mine.reason();
  url_ = mine.url("away");
  wait_ = milliseconds(300);
  auto a = machine("a");
  ASSERT_EQ(say(*a, {proposed("h-1", "key1")}), "");
  mine.stop();
  EXPECT_EQ(a->hypothesis("h-1")->state, "live");
  EXPECT_NE(a->stale_because(), "");
  const auto written = a->append(std::vector{noted("n")});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, Error::Kind::kExternal);
  EXPECT_EQ(a->take_lease("pid 1", "x", minutes(1)).error().kind, Error::Kind::kExternal);
  auto again = machine("a");  // A replica that is there is enough to read.
  EXPECT_EQ(again->hypothesis("h-1")->state, "live");
  EXPECT_EQ(server_state({url_, file("a")}).error().kind, Error::Kind::kExternal);
  EXPECT_EQ(open_postgres({url_, file("new"), wait_}).error().kind, Error::Kind::kExternal);
}

TEST_F(SharedLedger, ARestartIsWaitedFor) {
  TestServer mine;
  ASSERT_TRUE(mine.runs()) << mine.reason();
  url_ = mine.url("restart");
  auto a = machine("a");
  ASSERT_EQ(say(*a, {noted("one")}), "");
  mine.stop();
  std::string error = "nothing";
  std::thread writer([&] { error = say(*a, {noted("two")}); });
  os::real_clock().sleep(milliseconds(200));
  mine.start();
  writer.join();
  EXPECT_EQ(error, "");
  expect_sound(*a, 2);
}

// What was acknowledged is there once, and nothing is half: whatever moment the server dies at.
TEST_F(SharedLedger, KillingTheServerDuringCommitsLosesAndDoublesNothing) {
  const auto seed = to_number<unsigned>(os::env_or("LEDGER_TEST_SEED", "20260731")).value_or(1);
  const int kills = to_number<int>(os::env_or("LEDGER_TEST_KILLS", "3")).value_or(3);
  fmt::print("LEDGER_TEST_SEED={} LEDGER_TEST_KILLS={}\n", seed, kills);
  std::mt19937 draw(seed);
  // A commit takes long enough that most kills meet one.
  TestServer mine({"fsync=on", "commit_delay=15000", "commit_siblings=0"});
  ASSERT_TRUE(mine.runs()) << mine.reason();
  url_ = mine.url("killed");
  wait_ = minutes(2);
  { ASSERT_EQ(say(*machine("m0"), {noted("begin")}), ""); }
  std::atomic<bool> done{false};
  std::atomic<int> written{0};
  std::vector<std::set<std::string>> acknowledged(2);
  std::vector<std::string> failed(2);
  std::vector<std::thread> writers;
  for (std::size_t w = 0; w < acknowledged.size(); ++w) {
    writers.emplace_back([&, w] {
      auto ledger = machine(fmt::format("m{}", w));
      for (int i = 0; !done && failed[w].empty(); ++i) {
        const std::string subject = fmt::format("w{}-{}", w, i);
        failed[w] = say(*ledger, {noted(subject), noted(subject)});
        if (failed[w].empty()) acknowledged[w].insert(subject);
        ++written;
      }
    });
  }
  for (int kill = 0; kill < kills; ++kill) {
    const int before = written;  // Each server gets to do something.
    for (int i = 0; i < 1000 && written < before + 3; ++i) os::real_clock().sleep(milliseconds(10));
    os::real_clock().sleep(milliseconds(draw() % 100));
    mine.kill();
    mine.start();
    ASSERT_TRUE(mine.runs()) << mine.reason();
  }
  done = true;
  for (std::thread& writer : writers) writer.join();

  auto a = machine("m0");
  auto b = machine("m1");
  std::size_t subjects = 0;
  for (std::size_t w = 0; w < acknowledged.size(); ++w) {
    EXPECT_EQ(failed[w], "");
    EXPECT_GT(acknowledged[w].size(), 0u);
    subjects += acknowledged[w].size();
    for (const std::string& subject : acknowledged[w]) {
      EXPECT_EQ(a->events(subject, 0, 9)->size(), 2u) << subject;
    }
  }
  expect_sound(*a, 1 + 2 * static_cast<std::int64_t>(subjects));
  expect_sound(*b, 1 + 2 * static_cast<std::int64_t>(subjects));
  EXPECT_EQ(projections_of(file("m0")), projections_of(file("m1")));
}

TEST_F(SharedLedger, AServerThatForgotEventsIsNoticedAndGetsThemBack) {
  const std::string older = "t" + os::random_hex(8);
  auto a = machine("a");
  ASSERT_EQ(say(*a, {noted("one"), noted("two")}), "");
  {  // A backup of the server,
    auto backup = machine("backup", shared_server().url(older));
    EXPECT_EQ(*copy_events(*a, *backup), 2);
    expect_sound(*backup, 2);
  }
  ASSERT_EQ(say(*a, {noted("three")}), "");  // then more,
  a.reset();
  // and the backup comes back.
  ASSERT_EQ(shared_server().sql("public",
                                fmt::format("DROP SCHEMA {} CASCADE; ALTER SCHEMA {} RENAME TO {}",
                                            schema_, older, schema_)),
            "");
  const auto opened = open_postgres({url_, file("a"), wait_});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Error::Kind::kConflict);
  auto from = *open_sqlite(file("a"), {.create = false});
  {
    auto to = machine("to");
    EXPECT_EQ(*copy_events(*from, *to), 1);
    EXPECT_EQ(*copy_events(*from, *to), 0);
  }
  from.reset();
  expect_sound(*machine("a"), 3);
}

TEST_F(SharedLedger, ACopyKeepsTheChainBothWays) {
  auto file_ledger = *open_sqlite(file("source"));
  ASSERT_EQ(
      say(*file_ledger, {campaign_opened("c1", 40), family_adopted("f"), proposed("h-1", "key1"),
                         registered("x-1", "h-1"), reserved("r-1", "x-1", 0, 0.1),
                         submitted("r-1", "w-1"), collected("r-1", 0.3)}),
      "");
  auto shared = machine("a");
  EXPECT_EQ(*copy_events(*file_ledger, *shared), 7);
  expect_sound(*shared, 7);
  EXPECT_EQ(*shared->id(), *file_ledger->id());
  EXPECT_EQ(projections_of(file("a")), projections_of(file("source")));
  ASSERT_EQ(say(*shared, {noted("more")}), "");
  auto back = *open_sqlite(file("back"));
  EXPECT_EQ(*copy_events(*shared, *back), 8);
  expect_sound(*back, 8);
  EXPECT_EQ(projections_of(file("a")), projections_of(file("back")));
  // Into a ledger that has events of its own: refused, and unchanged.
  auto other = *open_sqlite(file("other"));
  ASSERT_EQ(say(*other, {noted("own")}), "");
  EXPECT_EQ(copy_events(*shared, *other).error().kind, Error::Kind::kConflict);
  expect_sound(*other, 1);
}

TEST_F(SharedLedger, AddressesAndVersionsAreChecked) {
  EXPECT_EQ(check_address("postgresql://ada:secret@host/db").error().kind, Error::Kind::kBadInput);
  EXPECT_EQ(check_address("postgresql://host/db?password=secret").error().kind,
            Error::Kind::kBadInput);
  EXPECT_EQ(check_address("mysql://host/db").error().kind, Error::Kind::kBadInput);
  EXPECT_EQ(check_address("mysql://ada:secret@host").error().text.find("secret"),
            std::string::npos);
  EXPECT_TRUE(check_address("postgresql://ada@one,two:5433/db?sslmode=require"));
  EXPECT_EQ(open_postgres({url_, file("x"), wait_}, {.create = false}).error().kind,
            Error::Kind::kNotFound);
  // What no waiting mends fails at once.
  const std::string other = "postgresql:///nowhere?user=amdahl&host=" + shared_server().folder();
  EXPECT_EQ(open_postgres({other, file("y"), minutes(10)}).error().kind, Error::Kind::kBadInput);
  { EXPECT_EQ(say(*machine("a"), {noted("n")}), ""); }
  const ServerState state = *server_state({url_, file("a"), wait_});
  EXPECT_EQ(state.events, 1);
  EXPECT_EQ(state.replica_events, 1);
  EXPECT_FALSE(state.syncs);
  EXPECT_LT(state.clock_ahead, seconds(5));
  ASSERT_EQ(shared_server().sql(schema_, "UPDATE amdahl_ledger SET version = 99"), "");
  EXPECT_EQ(open_postgres({url_, file("a"), wait_}).error().kind, Error::Kind::kUnsupported);
}

}  // namespace
}  // namespace amdahl::ledger::postgres
