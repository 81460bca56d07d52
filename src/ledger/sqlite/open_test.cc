#include <array>
#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "ledger/sqlite/chain.h"
#include "ledger/sqlite/test_kit.h"
#include "os/files.h"

namespace amdahl::ledger::sqlite {
namespace {

class OpenTest : public LedgerTest {
 protected:
  std::string opening(const std::string& path, const OpenOptions& options = {}) {
    const auto opened = open_sqlite(path, options);
    kind_ = opened ? std::nullopt : std::optional(opened.error().kind);
    return opened ? "" : opened.error().text;
  }
};

TEST_F(OpenTest, ForeignFilesAreLeftAlone) {
  const std::string text = scratch_.path("notes.txt");
  std::ofstream(text) << std::string(5000, 'x');
  EXPECT_EQ(opening(text), text +
                               " is not a ledger (it is not an SQLite database): move it away, or "
                               "use another folder with --state");
  EXPECT_EQ(kind_, Error::Kind::kBadInput);

  const std::string other = scratch_.path("other.db");
  {
    auto db = *db::Connection::open(other, db::Mode::kCreate, 0);
    ASSERT_TRUE(db.exec("make", "PRAGMA application_id = 77; CREATE TABLE t(a)"));
  }
  const std::string before = *os::sha256_of_file(other);
  EXPECT_EQ(opening(other), other +
                                " is not a ledger (its application id is 77): move it away, or use "
                                "another folder with --state");
  EXPECT_EQ(kind_, Error::Kind::kBadInput);
  EXPECT_EQ(*os::sha256_of_file(other), before);
}

TEST_F(OpenTest, MissingFiles) {
  const std::string path = scratch_.path("none.db");
  OpenOptions options;
  options.create = false;
  EXPECT_EQ(opening(path, options), "no ledger at " + path + ": create one with `amdahl init`");
  EXPECT_EQ(kind_, Error::Kind::kNotFound);
  const std::string deep = scratch_.path("no/such/folder.db");
  EXPECT_EQ(opening(deep), deep + ": open: unable to open database file");
  EXPECT_EQ(kind_, Error::Kind::kExternal);
}

TEST_F(OpenTest, AnEmptyFileBecomesALedger) {
  const std::string path = scratch_.path("empty.db");
  std::ofstream{path};
  EXPECT_EQ(
      opening(path, {.create = true, .read_only = true}),
      path + " is not a ledger (it is empty): move it away, or use another folder with --state");
  EXPECT_EQ(opening(path), "");
  EXPECT_EQ(opening(path, {.create = false, .read_only = true}), "");
}

TEST_F(OpenTest, EachLedgerHasAnIdOfItsOwnThatACopyKeeps) {
  EXPECT_EQ(*ledger_->id(), "") << "nothing was written yet";
  begin_experiment();
  const std::string id = *ledger_->id();
  EXPECT_EQ(id.size(), 16u);
  ASSERT_EQ(say(reserved("r-1", "x-1", 0)), "");
  EXPECT_EQ(*ledger_->id(), id);
  EXPECT_EQ(*(*open_sqlite(path_, {.create = false, .read_only = true}))->id(), id);
  auto other = *open_sqlite(scratch_.path("other.db"), {}, clock_);
  clock_.sleep(std::chrono::seconds(1));
  ASSERT_TRUE(other->append(std::vector{draft("cycle.noted", "c", {})}));
  EXPECT_NE(*other->id(), id);
}

TEST_F(OpenTest, ReadersMayNotWrite) {
  begin_experiment();
  auto reader = *open_sqlite(path_, {.create = false, .read_only = true});
  EXPECT_EQ((*reader->live_experiments()).size(), 1u);
  EXPECT_FALSE(reader->append(std::vector{draft("cycle.noted", "c", {})}));
  ASSERT_EQ(say(reserved("r-1", "x-1", 0)), "");  // And see what others write.
  EXPECT_EQ((*reader->runs_in_flight()).size(), 1u);
}

TEST_F(OpenTest, IsDurableAndWriteAhead) {
  EXPECT_EQ(opening(path_), "");
  auto db = *db::Connection::open(path_, db::Mode::kReadOnly, 0);
  auto mode = *db.prepare("look", "PRAGMA journal_mode");
  ASSERT_TRUE(*mode.step());
  EXPECT_EQ(mode.text(0), "wal");
  EXPECT_EQ(*db.integer("look", "PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(*db.integer("look", "PRAGMA user_version"), kSchemaVersion);
}

TEST_F(OpenTest, FilesFromTheFutureAreRefused) {
  ledger_.reset();
  ASSERT_EQ(raw("PRAGMA user_version = 99"), "");
  EXPECT_EQ(opening(path_), path_ + " has schema 99, newer than " + std::to_string(kSchemaVersion) +
                                " of this program: use a newer amdahl");
  EXPECT_EQ(kind_, Error::Kind::kUnsupported);
}

// A program of the next version, with one step, opens a file of the present one.
TEST_F(OpenTest, MigratesForwardAndRebuildsTheProjections) {
  end_experiment(model::VerdictKind::kRefuted);
  ledger_.reset();
  constexpr auto kSteps = std::to_array<Migration>({
      {kSchemaVersion, "ALTER TABLE lease ADD COLUMN note TEXT NOT NULL DEFAULT ''"},
      {kSchemaVersion + 1, "UPDATE lease SET note = 'twice'"},
  });
  // As if the old version had kept its projections otherwise.
  ASSERT_EQ(raw("DROP TABLE tally; ALTER TABLE verdict ADD COLUMN old TEXT"), "");
  StoreOptions next;
  next.schema = {kSchemaVersion + 2, kSteps};
  next.options.read_only = true;
  auto refused = open_store(path_, next, clock_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            fmt::format("{} has schema {} and must be migrated to {}: run a command that writes",
                        path_, kSchemaVersion, kSchemaVersion + 2));
  next.options.read_only = false;
  for (int i = 0; i < 2; ++i) {
    auto opened = open_store(path_, next, clock_);
    ASSERT_TRUE(opened) << opened.error().text;
    ledger_ = *std::move(opened);
    EXPECT_EQ(ledger_->schema_version(), kSchemaVersion + 2);
  }
  EXPECT_EQ(ledger_->hypothesis("h-1")->state, "refuted");
  EXPECT_EQ((*ledger_->tallies()).at("hypothesis.refuted"), 1);
  expect_sound();
  EXPECT_EQ(raw("UPDATE lease SET note = 'there'"), "");

  next.schema = {kSchemaVersion + 4, kSteps};
  EXPECT_EQ(
      open_store(path_, next, clock_).error().text,
      fmt::format("no migration from schema {} to {}", kSchemaVersion + 2, kSchemaVersion + 4));
}

TEST_F(OpenTest, AFileOfTheFirstVersionLearnsItsTrackRecords) {
  end_experiment(model::VerdictKind::kRefuted);
  ledger_.reset();
  ASSERT_EQ(raw("DROP TABLE track_record; PRAGMA user_version = 1"), "");
  open();
  EXPECT_EQ(ledger_->track_records()->at("f").tried, 1);
  expect_sound();
}

TEST_F(OpenTest, AFileOfTheFourthVersionLearnsWhichLeversWorked) {
  end_experiment(model::VerdictKind::kRefuted);
  ledger_.reset();
  ASSERT_EQ(raw("DROP TABLE lever_record; DROP TABLE choice; PRAGMA user_version = 4"), "");
  open();
  EXPECT_EQ(ledger_->lever_records()->at(model::Bottleneck::kUnknown).tried, 1);
  EXPECT_FALSE(*ledger_->choice());
  expect_sound();
}

TEST_F(OpenTest, AFileOfTheSecondVersionLearnsWhatItsRunsSpentOfEachResource) {
  begin_experiment();
  ASSERT_EQ(say({draft("budget.set", "accelerator_s", {{"limit", 30}}), reserved("r-1", "x-1", 0),
                 collected("r-1", 4), reserved("r-2", "x-1", 1)}),
            "");
  ledger_.reset();
  // As that version had them.
  ASSERT_EQ(raw("DROP TABLE outlay; CREATE TABLE outlay(family TEXT PRIMARY KEY, spent INTEGER);"
                "DROP TABLE run; CREATE TABLE run(reservation TEXT, reserved INTEGER);"
                "PRAGMA user_version = 2"),
            "");
  open();
  EXPECT_EQ(ledger_->schema_version(), kSchemaVersion);
  EXPECT_EQ((*ledger_->spent_by_family()).at("f"), 4);
  EXPECT_EQ((*ledger_->budgets()).at(0).committed, 10);
  EXPECT_EQ((*ledger_->runs_in_flight()).at(0).reserved_accelerator_s, 10);
  expect_sound();
}

TEST_F(OpenTest, AStepThatFailsChangesNothing) {
  end_experiment(model::VerdictKind::kRefuted);
  ledger_.reset();
  constexpr auto kSteps = std::to_array<Migration>(
      {{kSchemaVersion, "ALTER TABLE lease ADD COLUMN note TEXT; UPDATE missing SET x = 1"}});
  StoreOptions next;
  next.schema = {kSchemaVersion + 1, kSteps};
  EXPECT_EQ(open_store(path_, next, clock_).error().text,
            fmt::format("migrate from schema {}: no such table: missing", kSchemaVersion));
  open();
  expect_sound();
}

TEST_F(OpenTest, DamageIsNamed) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(say(draft("cycle.noted", "c", {{"text", std::string(3000, 'a')}})), "");
  }
  ledger_.reset();
  ASSERT_EQ(raw("PRAGMA wal_checkpoint(TRUNCATE)"), "");
  const auto size = std::filesystem::file_size(path_);
  // A file cut short is found when it is opened.
  const std::string cut = scratch_.path("cut.db");
  std::filesystem::copy_file(path_, cut);
  std::filesystem::resize_file(cut, size / 2);
  EXPECT_EQ(opening(cut), "read the header: " + cut +
                              " is damaged (database disk image is malformed): restore a copy, or"
                              " save what can be read with: sqlite3 " +
                              cut + " .recover");
  EXPECT_EQ(kind_, Error::Kind::kBadInput);
  // Pages overwritten in the middle are found when they are read.
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size * 3 / 16384 * 4096));
    file << std::string(5 * 4096, '\x07');
  }
  open();
  const auto report = ledger_->verify();
  if (report) {
    EXPECT_FALSE(report->ok());
  } else {
    EXPECT_EQ(report.error().kind, Error::Kind::kBadInput);
    EXPECT_NE(report.error().text.find(path_ + " is damaged"), std::string::npos);
  }
}

TEST_F(OpenTest, VerifyNamesWhatWasTamperedWith) {
  end_experiment(model::VerdictKind::kRefuted);
  const auto good = *ledger_->verify();
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good.events, 5);

  ASSERT_EQ(raw("DROP TRIGGER hypothesis_change; UPDATE hypothesis SET state = 'inconclusive';"
                "UPDATE budget SET spent = 5; INSERT INTO stack VALUES (9, 'f', 0, '{}');"
                "DROP TRIGGER verdict_keep; DELETE FROM verdict"),
            "");
  const std::vector<std::string> expected = {
      "hypothesis h-1: state is inconclusive, replay says refuted",
      "hypothesis_count f inconclusive: not in the replay",
      "hypothesis_count f refuted: missing",
      "verdict h-1: missing",
      "stack f 00000000000000000009: not in the replay",
      "tally hypothesis.inconclusive: not in the replay",
      "tally hypothesis.refuted: count is 0, replay says 1",
      "schema trigger hypothesis_change: missing",
      "schema trigger verdict_keep: missing",
  };
  EXPECT_EQ(ledger_->verify()->differences, expected);
  ASSERT_TRUE(ledger_->rebuild());
  expect_sound();

  ASSERT_EQ(raw("DROP TRIGGER events_change;"
                "UPDATE events SET actor = 'eve' WHERE seq = 3"),
            "");
  const auto bad = *ledger_->verify();
  EXPECT_EQ(bad.bad_event, 3);
  EXPECT_EQ(bad.differences, std::vector<std::string>{"schema trigger events_change: missing"});
}

TEST_F(OpenTest, TheHashIsTheDocumentedOne) {
  ASSERT_EQ(say({draft("cycle.noted", "c", {{"b", 1}, {"a", "é"}}), draft("cycle.noted", "d", {})}),
            "");
  const auto events = *ledger_->events("", 0, 2);
  const std::string first = sha256_hex(
      "0:,1:1,19:1700000000000000000,5:cycle,11:cycle.noted,1:c,16:{\"a\":\"é\",\"b\":1},");
  EXPECT_EQ(events.at(1).hash, first);
  EXPECT_EQ(
      events.at(0).hash,
      sha256_hex("64:" + first + ",1:2,19:1700000000000000000,5:cycle,11:cycle.noted,1:d,2:{},"));
}

}  // namespace
}  // namespace amdahl::ledger::sqlite
