#include <chrono>
#include <string>

#include <fmt/core.h>

#include "ledger/sqlite/store.h"
#include "os/files.h"

namespace amdahl::ledger {
namespace sqlite {
namespace {

struct Identity {
  std::int64_t application = 0;
  std::int64_t version = 0;
  std::int64_t objects = 0;
  // Created by SQLite and still empty, as after a crash during creation: we may fill it.
  bool fresh() const { return application == 0 && version == 0 && objects == 0; }
};

Error foreign(const std::string& path, std::string_view why) {
  return bad_input(fmt::format(
      "{} is not a ledger ({}): move it away, or use another folder with --state", path, why));
}

Result<Identity> identify(db::Connection& db) {
  Identity id;
  id.application = TRY(db.integer("read the header", "PRAGMA application_id"));
  id.version = TRY(db.integer("read the header", "PRAGMA user_version"));
  id.objects = TRY(db.integer("read the schema", "SELECT count(*) FROM sqlite_schema"));
  return id;
}

// In one snapshot: if another process finished creating the ledger between two reads, the file
// would look foreign.
Result<Identity> identify_at_once(db::Connection& db) {
  const auto snapshot =
      TRY(db::Transaction::begin(db, db::Transaction::Kind::kRead, "read the header"));
  return identify(db);
}

// Retries: when two processes create the file at once, SQLite may report "locked" without waiting.
Result<> use_wal(db::Connection& db, os::Clock& clock) {
  constexpr int kTries = 500;
  for (int i = 1;; ++i) {
    auto mode = TRY(db.prepare("set the journal", "PRAGMA journal_mode = WAL"));
    const auto row = mode.step();
    if (row && *row && mode.text(0) == "wal") return Ok{};
    if (row) {
      return Error{
          Error::Kind::kUnsupported,
          fmt::format("the file system does not support write-ahead logging (journal is {}):"
                      " put the ledger on a local disk",
                      mode.text(0))};
    }
    if (row.error().kind != Error::Kind::kBusy || i == kTries) return row.error();
    clock.sleep(std::chrono::milliseconds(10));
  }
}

Result<> create(db::Connection& db, const Schema& schema) {
  auto transaction = TRY(db::Transaction::begin(db, db::Transaction::Kind::kWrite, "create"));
  const Identity now = TRY(identify(db));
  if (!now.fresh()) return Ok{};  // Another process was faster.
  TRY(db.exec("create the tables", base_sql() + projections_sql()));
  TRY(db.exec("write the header",
              fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                          schema.version)));
  return transaction.commit();
}

Result<> migrate(db::Connection& db, const Schema& schema) {
  auto transaction = TRY(db::Transaction::begin(db, db::Transaction::Kind::kWrite, "migrate"));
  // Read again: another process may have migrated since.
  auto version = TRY(db.integer("read the header", "PRAGMA user_version"));
  if (version >= schema.version) return Ok{};
  for (const Migration& step : schema.migrations) {
    if (step.from != version) continue;
    TRY(db.exec(fmt::format("migrate from schema {}", version), std::string(step.sql)));
    ++version;
  }
  if (version != schema.version) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("no migration from schema {} to {}", version, schema.version)};
  }
  TRY(rebuild_projections(db));
  TRY(db.exec("write the header", fmt::format("PRAGMA user_version = {}", version)));
  return transaction.commit();
}

// Turns an empty file into a ledger. Refuses other files and newer schemas.
Result<> settle_identity(db::Connection& db, const std::string& path, const StoreOptions& setup,
                         os::Clock& clock) {
  const auto identified = identify_at_once(db);
  if (!identified) {
    if (identified.error().kind != Error::Kind::kBadInput) return identified.error();
    if (identified.error().text.ends_with("file is not a database")) {
      return foreign(path, "it is not an SQLite database");
    }
    return identified.error();
  }
  const int wanted = setup.schema.version;
  if (identified->fresh()) {
    if (setup.options.read_only) return foreign(path, "it is empty");
    TRY(use_wal(db, clock));
    return create(db, setup.schema);
  }
  if (identified->application != kApplicationId) {
    return foreign(path, fmt::format("its application id is {}", identified->application));
  }
  if (identified->version > wanted) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("{} has schema {}, newer than {} of this program: use a newer amdahl",
                             path, identified->version, wanted)};
  }
  if (!setup.options.read_only) TRY(use_wal(db, clock));
  if (identified->version == wanted) return Ok{};
  if (setup.options.read_only) {
    return Error{
        Error::Kind::kUnsupported,
        fmt::format("{} has schema {} and must be migrated to {}: run a command that writes", path,
                    identified->version, wanted)};
  }
  return migrate(db, setup.schema);
}

}  // namespace

Result<db::Connection> open_file(const std::string& path, const StoreOptions& setup,
                                 os::Clock& clock) {
  const OpenOptions& options = setup.options;
  const bool may_create = options.create && !options.read_only;
  if (!may_create && !os::exists(path)) {
    return Error{Error::Kind::kNotFound,
                 fmt::format("no ledger at {}: create one with `amdahl init`", path)};
  }
  const auto mode = options.read_only ? db::Mode::kReadOnly
                    : may_create      ? db::Mode::kCreate
                                      : db::Mode::kReadWrite;
  auto opened = db::Connection::open(path, mode, setup.busy_timeout_ms).in(path);
  if (!opened) return opened.error();
  db::Connection db = *std::move(opened);
  TRY(settle_identity(db, path, setup, clock));
  const char* sync = !setup.durable ? "OFF" : setup.replica ? "NORMAL" : "FULL";
  TRY(db.exec("set up", fmt::format("PRAGMA synchronous = {}; PRAGMA cell_size_check = {}", sync,
                                    setup.durable ? "ON" : "OFF")));
  return db;
}

Result<std::unique_ptr<Ledger>> open_store(const std::string& path, const StoreOptions& setup,
                                           os::Clock& clock) {
  return std::unique_ptr<Ledger>(
      std::make_unique<Store>(TRY(open_file(path, setup, clock)), setup.schema.version, clock));
}

}  // namespace sqlite

Result<std::unique_ptr<Ledger>> open_sqlite(const std::string& path, const OpenOptions& options,
                                            os::Clock& clock) {
  sqlite::StoreOptions setup;
  setup.options = options;
  return sqlite::open_store(path, setup, clock);
}

Result<std::unique_ptr<Ledger>> open_sqlite(const std::string& path, const OpenOptions& options) {
  return open_sqlite(path, options, os::real_clock());
}

}  // namespace amdahl::ledger
