// test_kit.h: what the ledger's tests share: scratch files, drafts of every kind, raw SQL.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "db/sqlite.h"
#include "ledger/event.h"
#include "ledger/ledger.h"
#include "ledger/postgres/store.h"
#include "ledger/postgres/testing/server.h"
#include "ledger/sqlite/rows.h"
#include "ledger/sqlite/store.h"
#include "model/codec.h"
#include "os/fake/fake_clock.h"
#include "os/host.h"

namespace amdahl::ledger::sqlite {

inline Draft draft(std::string kind, std::string subject, Json payload,
                   std::string actor = "cycle") {
  return {std::move(kind), std::move(actor), std::move(subject), std::move(payload)};
}

inline Draft campaign_opened(const std::string& id, int k) {
  return draft("campaign.opened", id,
               {{"k", k}, {"alpha", 0.1}, {"seed", "s"}, {"seed_hash", "sh"}});
}

inline Draft family_adopted(const std::string& name) {
  model::Spec spec;
  spec.family = name;
  spec.command = {"train", "--batch", "16"};
  return draft("family.adopted", name, model::encode(spec));
}

inline Draft proposed(const std::string& id, const std::string& key,
                      const std::string& family = "f") {
  model::Hypothesis hypothesis;
  hypothesis.id = id;
  hypothesis.family = family;
  hypothesis.key = key;
  hypothesis.title = "larger batches";
  hypothesis.mechanism = "fewer launches per item";
  hypothesis.change.args["--batch"] = "32";
  return draft("hypothesis.proposed", id, model::encode(hypothesis));
}

inline Draft registered(const std::string& id, const std::string& hypothesis,
                        const std::string& campaign = "c1", const std::string& family = "f") {
  model::Experiment experiment;
  experiment.id = id;
  experiment.hypothesis = hypothesis;
  experiment.family = family;
  experiment.campaign = campaign;
  return draft("experiment.registered", id, model::encode(experiment));
}

inline Draft reserved(const std::string& reservation, const std::string& experiment, int index,
                      double accelerator_s = 10, const std::string& purpose = "compare") {
  return draft("run.reserved", reservation,
               {{"family", "f"},
                {"experiment", experiment},
                {"purpose", purpose},
                {"index", index},
                {"variant_second", index % 2 == 1},
                {"cpus", {0, 1}},
                {"reserved_accelerator_s", accelerator_s},
                {"request", {{"reservation", reservation}}}});
}

inline Draft submitted(const std::string& reservation, const std::string& worker) {
  return draft("run.submitted", reservation, {{"worker_run_id", worker}});
}

inline Draft collected(const std::string& reservation, double spent_s) {
  model::PairFact fact;
  fact.reservation = reservation;
  fact.a.cost = 2;
  fact.b.cost = 1;
  return draft("run.collected", reservation,
               {{"spent_accelerator_s", spent_s}, {"fact", model::encode(fact)}});
}

inline Draft voided(const std::string& reservation, double spent_s) {
  return draft("run.voided", reservation,
               {{"spent_accelerator_s", spent_s}, {"reason", "lost"}, {"fact", nullptr}});
}

inline Draft gate_opened(const std::string& experiment, const std::string& hypothesis) {
  model::GatePacket packet;
  packet.experiment = experiment;
  packet.hypothesis = hypothesis;
  packet.family = "f";
  packet.claim = "saves 12 %";
  return draft("gate.opened", experiment, model::encode(packet));
}

// On the packet of gate_opened("x-N", "h-N").
inline Draft decided(const std::string& experiment, bool approved, const std::string& actor,
                     const std::string& reason) {
  const Draft opened = gate_opened(experiment, "h-" + experiment.substr(2));
  model::GateDecision decision{approved, actor, reason, packet_digest(dump_json(opened.payload))};
  return draft("gate.decided", experiment, model::encode(decision), actor);
}

// By whoever saw family_adopted("f") with this stack. `change` is what the stack comes to then.
inline Draft moved(const std::string& hypothesis, const Json& stack_seen, Json change) {
  return draft(
      "baseline.moved", "f",
      {{"hypothesis", hypothesis},
       {"change", std::move(change)},
       {"seen", family_version(dump_json(family_adopted("f").payload), dump_json(stack_seen))}},
      "ada");
}
inline Draft rolled_back(const std::string& hypothesis, const Json& stack_seen, Json change,
                         const std::string& who, const std::string& why) {
  Draft back = moved(hypothesis, stack_seen, std::move(change));
  back.kind = "baseline.rolled_back";
  back.actor = who;
  back.payload["reason"] = why;
  return back;
}

inline Draft judged(const std::string& hypothesis, const std::string& experiment,
                    model::VerdictKind kind, const std::string& reason = "as measured") {
  model::Verdict verdict;
  verdict.hypothesis = hypothesis;
  verdict.experiment = experiment;
  verdict.kind = kind;
  verdict.reason = reason;
  return draft("verdict.recorded", hypothesis, model::encode(verdict));
}

// A folder that goes with the test.
class Scratch {
 public:
  Scratch() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              fmt::format("ledger-{}-{}-{}", ::getpid(), test->test_suite_name(), test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

// Whether the same tests run against a PostgreSQL server, on a replica: ctest runs them twice.
inline bool is_shared() { return os::env_or("AMDAHL_TEST_STORE", "") == "postgres"; }

// A ledger on disk, or a shared one with its replica there, under a clock that stands still.
class LedgerTest : public testing::Test {
 protected:
  LedgerTest() { open(); }

  void SetUp() override {
    if (is_shared() && !postgres::shared_server().runs()) {
      GTEST_SKIP() << postgres::shared_server().reason();
    }
  }

  void open_shared() {
    if (!postgres::shared_server().runs()) return;
    if (schema_.empty()) schema_ = "t" + os::random_hex(8);
    postgres::StoreOptions options;
    options.durable = false;
    options.look_every = {};
    options.now = [this] { return clock_.unix_time(); };
    auto opened =
        postgres::open_store({postgres::shared_server().url(schema_), path_}, options, clock_);
    ASSERT_TRUE(opened) << opened.error().text;
    ledger_ = *std::move(opened);
  }

  void open() {
    ledger_.reset();
    if (is_shared()) return open_shared();
    StoreOptions options;
    options.durable = false;
    auto opened = open_store(path_, options, clock_);
    ASSERT_TRUE(opened) << opened.error().text;
    ledger_ = *std::move(opened);
  }

  // Appends all at once: "" or the error's text.
  std::string say(const std::vector<Draft>& drafts) {
    const auto done = ledger_->append(drafts);
    kind_ = done ? std::nullopt : std::optional(done.error().kind);
    return done ? "" : done.error().text;
  }
  std::string say(const Draft& one) { return say(std::vector<Draft>{one}); }

  // What another program with the SQLite library could do: "" or SQLite's message.
  std::string raw(const std::string& sql) {
    auto db = db::Connection::open(path_, db::Mode::kReadWrite, 1000);
    if (!db) return db.error().text;
    db::Connection connection = *std::move(db);
    const auto done = connection.exec("raw", sql);
    return done ? "" : done.error().text;
  }

  // The same on the table of the lease, wherever that is. The text has {} for its name.
  std::string raw_lease(const std::string& sql) {
    if (!is_shared()) return raw(fmt::format(fmt::runtime(sql), "lease"));
    return postgres::shared_server().sql(schema_, fmt::format(fmt::runtime(sql), "amdahl_lease"));
  }

  // A campaign, a family and hypothesis h-1 under experiment x-1.
  void begin_experiment(int k = 40) {
    ASSERT_EQ(say({campaign_opened("c1", k), family_adopted("f"), proposed("h-1", "key1"),
                   registered("x-1", "h-1")}),
              "");
  }
  // The same, judged.
  void end_experiment(model::VerdictKind kind) {
    begin_experiment();
    if (kind == model::VerdictKind::kPromoted) {
      ASSERT_EQ(say({gate_opened("x-1", "h-1"), decided("x-1", true, "ada", "identical outputs")}),
                "");
    }
    ASSERT_EQ(say(judged("h-1", "x-1", kind)), "");
  }

  void expect_sound() {
    const auto report = ledger_->verify();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->bad_event, 0);
    EXPECT_EQ(report->differences, std::vector<std::string>{});
  }

  Scratch scratch_;
  std::string path_ = scratch_.path("ledger.db");
  std::string schema_;  // Of a shared ledger.
  os::FakeClock clock_;
  std::unique_ptr<Ledger> ledger_;
  std::optional<Error::Kind> kind_;  // Of the last say() that failed.
};

}  // namespace amdahl::ledger::sqlite
