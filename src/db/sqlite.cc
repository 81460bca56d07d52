#include "db/sqlite.h"

#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace amdahl::db {

struct Cache {
  // Idle statements by their SQL; several when one was needed while another was in use.
  std::map<std::string, std::vector<Query>, std::less<>> idle;
};

namespace {

Error::Kind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
      return Error::Kind::kConflict;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error::Kind::kBusy;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error::Kind::kBadInput;
    default:
      return Error::Kind::kExternal;
  }
}

// A reader needs space as well: for the file that processes share beside the database.
bool is_full(sqlite3* db, int code) {
  if ((code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE) return true;
  const int error = db != nullptr ? sqlite3_system_errno(db) : 0;
  return (code & 0xff) == SQLITE_IOERR && (error == ENOSPC || error == EDQUOT);
}

Error error_of(sqlite3* db, int code, std::string_view purpose) {
  // A trigger's message was written for the reader by us and needs no preface.
  if (code == SQLITE_CONSTRAINT_TRIGGER) return {kind_of(code), sqlite3_errmsg(db)};
  const char* why = db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  if ((code & 0xff) == SQLITE_CORRUPT) {
    const char* path = sqlite3_db_filename(db, "main");
    return {kind_of(code),
            fmt::format("{}: {} is damaged ({}): restore a copy, or save what can be read with:"
                        " sqlite3 {} .recover",
                        purpose, path, why, path)};
  }
  if (is_full(db, code)) {
    const char* path = db != nullptr ? sqlite3_db_filename(db, "main") : nullptr;
    return {kind_of(code), fmt::format("{}: no space left on the disk of {}: free some and try "
                                       "again",
                                       purpose, path != nullptr ? path : "the database")};
  }
  return {kind_of(code), fmt::format("{}: {}", purpose, why)};
}

int open_flags(Mode mode) {
  switch (mode) {
    case Mode::kReadOnly:
      return SQLITE_OPEN_READONLY;
    case Mode::kReadWrite:
      return SQLITE_OPEN_READWRITE;
    case Mode::kCreate:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return SQLITE_OPEN_READONLY;
}

}  // namespace

Statement::Statement(Query query, Cache* cache, std::string_view purpose)
    : query_{std::move(query)}, cache_{cache}, purpose_{purpose} {}

Statement::~Statement() {
  if (!query_) return;
  sqlite3_reset(query_.get());
  sqlite3_clear_bindings(query_.get());
  const char* sql = sqlite3_sql(query_.get());
  cache_->idle[sql].push_back(std::move(query_));
}

void Statement::note(int code) {
  if (bind_failure_ == SQLITE_OK) bind_failure_ = code;
}
void Statement::bind_null(int at) { note(sqlite3_bind_null(query_.get(), at)); }
void Statement::bind_integer(int at, std::int64_t value) {
  note(sqlite3_bind_int64(query_.get(), at, value));
}
void Statement::bind_real(int at, double value) {
  note(sqlite3_bind_double(query_.get(), at, value));
}
void Statement::bind_text(int at, std::string_view value) {
  // An empty view may have no address, which SQLite would take for NULL.
  const char* bytes = value.empty() ? "" : value.data();
  note(sqlite3_bind_text64(query_.get(), at, bytes, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

Result<bool> Statement::step() {
  sqlite3* db = sqlite3_db_handle(query_.get());
  if (bind_failure_ != SQLITE_OK) return error_of(db, bind_failure_, purpose_ + ": bind");
  const int code = sqlite3_step(query_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = error_of(db, sqlite3_extended_errcode(db), purpose_);
  sqlite3_reset(query_.get());
  return error;
}

void Statement::reset() { sqlite3_reset(query_.get()); }

bool Statement::is_null(int column) const {
  return sqlite3_column_type(query_.get(), column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(query_.get(), column);
}
double Statement::real(int column) const { return sqlite3_column_double(query_.get(), column); }
std::string_view Statement::text(int column) const {
  const unsigned char* bytes = sqlite3_column_text(query_.get(), column);
  if (bytes == nullptr) return {};
  const int size = sqlite3_column_bytes(query_.get(), column);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}
int Statement::columns() const { return sqlite3_column_count(query_.get()); }
std::string_view Statement::column_name(int column) const {
  return sqlite3_column_name(query_.get(), column);
}

std::string Statement::literal(int column) const {
  switch (sqlite3_column_type(query_.get(), column)) {
    case SQLITE_NULL:
      return "NULL";
    case SQLITE_INTEGER:
      return fmt::format("{}", integer(column));
    case SQLITE_FLOAT:
      return fmt::format("{}", real(column));  // The shortest text that gives the same double.
    default:
      return fmt::format("'{}'", text(column));
  }
}

bool Statement::same(int column, const Statement& other) const {
  const int type = sqlite3_column_type(query_.get(), column);
  if (type != sqlite3_column_type(other.query_.get(), column)) return false;
  switch (type) {
    case SQLITE_NULL:
      return true;
    case SQLITE_INTEGER:
      return integer(column) == other.integer(column);
    case SQLITE_FLOAT:
      return real(column) == other.real(column);
    default:
      return text(column) == other.text(column);
  }
}

Connection::Connection(Db db, std::unique_ptr<Cache> cache)
    : db_{std::move(db)}, cache_{std::move(cache)} {}
Connection::Connection(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const std::string& path, Mode mode, int busy_timeout_ms) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, open_flags(mode), nullptr);
  Db db{raw};  // Must be closed even when opening failed.
  if (code != SQLITE_OK) return error_of(raw, code, "open");
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, busy_timeout_ms);
  return Connection{std::move(db), std::make_unique<Cache>()};
}

Result<> Connection::exec(std::string_view purpose, const std::string& sql) {
  const int code = sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(db_.get(), code, purpose);
  return Ok{};
}

Result<Statement> Connection::prepare(std::string_view purpose, std::string_view sql) {
  if (const auto found = cache_->idle.find(sql);
      found != cache_->idle.end() && !found->second.empty()) {
    Query query = std::move(found->second.back());
    found->second.pop_back();
    return Statement{std::move(query), cache_.get(), purpose};
  }
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Query query{raw};
  if (code != SQLITE_OK) return error_of(db_.get(), code, purpose);
  CHECK(query != nullptr);  // Null only for empty SQL.
  return Statement{std::move(query), cache_.get(), purpose};
}

Result<std::int64_t> Connection::finish(Statement statement) {
  while (TRY(statement.step())) {
  }
  return sqlite3_changes64(db_.get());
}

Result<std::int64_t> Connection::integer(std::string_view purpose, std::string_view sql) {
  Statement statement = TRY(prepare(purpose, sql));
  if (!TRY(statement.step())) return external(fmt::format("{}: no row", purpose));
  return statement.integer(0);
}

Transaction::Transaction(Connection& connection, std::string_view purpose)
    : connection_{&connection}, purpose_{purpose} {}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_{std::exchange(other.connection_, nullptr)}, purpose_{std::move(other.purpose_)} {}

Result<Transaction> Transaction::begin(Connection& connection, Kind kind,
                                       std::string_view purpose) {
  TRY(connection.run(purpose, kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction{connection, purpose};
}

Transaction::~Transaction() {
  if (connection_ == nullptr || sqlite3_get_autocommit(connection_->handle()) != 0) return;
  // If even this fails, closing the connection rolls back, and the next BEGIN reports it.
  (void)connection_->exec("roll back", "ROLLBACK");
}

Result<> Transaction::commit() {
  CHECK(connection_ != nullptr);
  TRY(connection_->run(purpose_, "COMMIT"));
  connection_ = nullptr;
  return Ok{};
}

}  // namespace amdahl::db
