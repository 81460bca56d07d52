#include <array>

#include <fmt/core.h>

#include "base/text.h"
#include "ledger/sqlite/chain.h"
#include "ledger/sqlite/queries.h"
#include "ledger/sqlite/reduce.h"
#include "ledger/sqlite/store.h"

namespace amdahl::ledger::sqlite {
namespace {

constexpr std::size_t kMostDifferences = 100;

// Ids are random, so that replay jumps about in their indexes: beyond the cache each jump costs a
// read and a write. Taken only as far as the ledger needs it.
constexpr std::string_view kReplayCache = "PRAGMA cache_size = -524288;";  // KiB.
constexpr std::string_view kNoJournal = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;";

// Only what is in the table is compared, so that a full-text index would be made for nothing.
constexpr std::string_view kPlainSearch =
    "DROP TABLE search; CREATE TABLE search(id, title, mechanism, change, reason);";

class Differences {
 public:
  explicit Differences(VerifyReport& report) : report_{report} {}
  void add(std::string text) {
    if (report_.differences.size() < kMostDifferences) {
      report_.differences.push_back(std::move(text));
    } else if (report_.differences.size() == kMostDifferences) {
      report_.differences.push_back("and more");
    }
  }

 private:
  VerifyReport& report_;
};

Result<db::Connection> empty_ledger() {
  auto opened = db::Connection::open("", db::Mode::kCreate, 0);
  if (!opened) return opened.error();
  db::Connection db = *std::move(opened);
  TRY(db.exec("make room for a replay", fmt::format("{}{}{}{}{}", kReplayCache, kNoJournal,
                                                    base_sql(), projections_sql(), kPlainSearch)));
  return db;
}

// One pass over the events: the chain is checked and each is replayed into `to`.
Result<> check_events(db::Connection& from, db::Connection& to, VerifyReport& report,
                      Differences& differences) {
  db::Statement row = TRY(from.query("read events", kEventsAfter, 0));
  auto transaction = TRY(db::Transaction::begin(to, db::Transaction::Kind::kWrite, "replay"));
  std::string last;
  while (TRY(row.step())) {
    ++report.events;
    const StoredEvent stored = stored_event(row);
    const bool fits = stored.seq == report.events && row.text(6) == chain_hash(last, stored);
    if (!fits && report.bad_event == 0) report.bad_event = stored.seq;
    last = row.text(6);
    const auto event = event_of(row);
    if (!event) {
      differences.add(event.error().text);
      continue;
    }
    if (const auto done = reduce(to, {*event, stored.payload}); !done) {
      differences.add(fmt::format("event {}: {}", stored.seq, done.error().text));
    }
  }
  return transaction.commit();
}

std::string shown(const db::Statement& row, int column) {
  std::string text = row.literal(column);
  if (text.starts_with('\'')) text = text.substr(1, text.size() - 2);
  return clip(text, 60);
}

int order_of(const Projection& table, const db::Statement& a, const db::Statement& b) {
  if (table.order == Projection::Order::kName) return a.text(0).compare(b.text(0));
  return a.integer(1) < b.integer(1) ? -1 : a.integer(1) > b.integer(1) ? 1 : 0;
}

// Both tables are in the same order: one pass finds rows missing on either side.
Result<> compare_table(const Projection& table, db::Connection& real, db::Connection& replayed,
                       Differences& differences) {
  db::Statement is = TRY(real.prepare("read " + std::string(table.name), table.select));
  db::Statement should = TRY(replayed.prepare("read the replay", table.select));
  bool more = TRY(is.step());
  bool more_expected = TRY(should.step());
  while (more || more_expected) {
    const int order = !more ? 1 : !more_expected ? -1 : order_of(table, is, should);
    if (order < 0) {
      differences.add(fmt::format("{} {}: not in the replay", table.name, is.text(0)));
    } else if (order > 0) {
      differences.add(fmt::format("{} {}: missing", table.name, should.text(0)));
    } else {
      for (int column = 1; column < is.columns(); ++column) {
        if (is.same(column, should)) continue;
        differences.add(fmt::format("{} {}: {} is {}, replay says {}", table.name, is.text(0),
                                    is.column_name(column), shown(is, column),
                                    shown(should, column)));
      }
    }
    if (order <= 0) more = TRY(is.step());
    if (order >= 0) more_expected = TRY(should.step());
  }
  return Ok{};
}

Result<> check_pages(db::Connection& db, Differences& differences) {
  db::Statement row = TRY(db.prepare("check the file", "PRAGMA integrity_check(20)"));
  while (TRY(row.step())) {
    if (row.text(0) != "ok") differences.add(fmt::format("file: {}", row.text(0)));
  }
  return Ok{};
}

Result<> drop_projections(db::Connection& db) {
  std::vector<std::string> tables;
  {
    // Dropping a virtual table drops its shadow tables.
    db::Statement row = TRY(db.prepare(
        "read the schema",
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')"
        " AND name NOT IN ('events', 'lease') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"));
    while (TRY(row.step())) tables.emplace_back(row.text(0));
  }
  for (const std::string& table : tables) {
    TRY(db.exec("drop " + table, fmt::format("DROP TABLE \"{}\"", table)));
  }
  return Ok{};
}

}  // namespace

Result<> replay(db::Connection& from, db::Connection& to) {
  db::Statement row = TRY(from.query("read events", kEventsAfter, 0));
  while (TRY(row.step())) {
    const Event event = TRY(event_of(row));
    TRY(reduce(to, {event, row.text(5)}).in(fmt::format("event {}", event.seq)));
  }
  return Ok{};
}

Result<> rebuild_projections(db::Connection& db) {
  TRY(drop_projections(db));
  TRY(db.exec("create the tables", projections_sql()));
  const auto usual = TRY(db.integer("read the cache's size", "PRAGMA cache_size"));
  TRY(db.exec("enlarge the cache", std::string(kReplayCache)));
  TRY(replay(db, db));
  return db.exec("shrink the cache", fmt::format("PRAGMA cache_size = {}", usual));
}

Result<VerifyReport> Projections::verify() {
  // One snapshot, so that a cycle can keep writing.
  auto snapshot = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kRead, "verify"));
  auto made = empty_ledger();
  if (!made) return made.error();
  db::Connection replayed = *std::move(made);
  VerifyReport report;
  Differences differences(report);
  TRY(check_events(db_, replayed, report, differences));
  for (const Projection& table : projections()) {
    TRY(compare_table(table, db_, replayed, differences));
  }
  TRY(check_pages(db_, differences));
  return report;
}

Result<> Projections::rebuild() {
  auto transaction = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "rebuild"));
  TRY(rebuild_projections(db_));
  return transaction.commit();
}

}  // namespace amdahl::ledger::sqlite
