#include "trace/nsys/database.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/text.h"

namespace amdahl::trace::nsys {
namespace {

// SQLite VM steps between two checks, and the limit for a file: a row takes a few dozen. A file
// with cyclic pages would never end.
constexpr int kStepsAtOnce = 10'000;
constexpr std::uint64_t kLeastSteps = 5'000'000;
constexpr std::uint64_t kStepsPerByte = 10;

constexpr int kLongestText = 16 << 20;

std::string sql_quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') text += c;
  }
  return text + '"';
}

// A path as SQLite's addresses have it: everything but the plainest letters is escaped.
std::string address_of(std::string_view path) {
  std::string text = "file:";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '_' || c == '-') {
      text += c;
    } else {
      text += fmt::format("%{:02x}", byte);
    }
  }
  return text + "?mode=ro&immutable=1";
}

Error broken(sqlite3* db, std::string_view where) {
  const int code = sqlite3_errcode(db);
  if (code == SQLITE_INTERRUPT) {
    return bad_input(
        fmt::format("{}: reading takes far too long for its size, so it is probably damaged; "
                    "export it again: nsys export --type sqlite",
                    where));
  }
  return bad_input(
      fmt::format("{}: {}; export it again: nsys export --type sqlite", where, sqlite3_errmsg(db)));
}

}  // namespace

Result<bool> Rows::next() {
  switch (sqlite3_step(query_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return broken(db_, table_);
  }
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(query_.get(), column) == SQLITE_NULL;
}

bool Rows::is_integer(int column) const {
  return sqlite3_column_type(query_.get(), column) == SQLITE_INTEGER;
}

std::int64_t Rows::integer(int column) const { return sqlite3_column_int64(query_.get(), column); }

std::string_view Rows::text(int column) const {
  const unsigned char* text = sqlite3_column_text(query_.get(), column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(query_.get(), column))};
}

Result<Database> Database::open(const Input& input, const Limits& limits) {
  Database database;
  if (input.database.empty()) {
    TRY(database.take_bytes(input, limits));
  } else {
    TRY(database.open_path(input.database));
    database.bytes_ = input.bytes;
  }
  TRY(database.keep_bounds());
  TRY(database.list_tables());
  return database;
}

Result<> Database::open_path(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(address_of(path).c_str(), &raw,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(raw);
  if (code != SQLITE_OK) return external(fmt::format("cannot be opened: {}", sqlite3_errmsg(raw)));
  return Ok{};
}

Result<> Database::take_bytes(const Input& input, const Limits& limits) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::size_t size = 0;
  while (true) {
    if (copy_.size() - size < kPiece) copy_.resize(std::max(2 * copy_.size(), size + kPiece));
    const std::size_t got =
        TRY(input.next({reinterpret_cast<char*>(copy_.data()) + size, copy_.size() - size}));
    if (got == 0) break;
    size += got;
    if (size > limits.memory_bytes) {
      return bad_input(
          fmt::format("more than {} bytes when unpacked; unpack it and pass the plain file",
                      limits.memory_bytes));
    }
  }
  copy_.resize(size);
  bytes_ = size;
  if (size < 100 || std::string_view(reinterpret_cast<const char*>(copy_.data()), 16) != kMagic) {
    return bad_input("is not an SQLite database");
  }
  // A database with a write-ahead log cannot be opened in memory; everything is in the file
  // itself.
  if (copy_[18] == 2) copy_[18] = 1;
  if (copy_[19] == 2) copy_[19] = 1;
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  db_.reset(raw);
  const auto count = static_cast<sqlite3_int64>(size);
  if (code != SQLITE_OK || sqlite3_deserialize(raw, "main", copy_.data(), count, count,
                                               SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    return broken(raw, "cannot be opened");
  }
  return Ok{};
}

Result<> Database::keep_bounds() {
  sqlite3* db = db_.get();
  // Nothing is written; this only allows a file that is shorter than it claims.
  if (sqlite3_exec(db, "PRAGMA writable_schema = ON", nullptr, nullptr, nullptr) != SQLITE_OK) {
    return broken(db, "cannot be opened");
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kLongestText);
  work_->left = kLeastSteps + kStepsPerByte * bytes_;
  sqlite3_progress_handler(
      db, kStepsAtOnce,
      [](void* work) -> int {
        auto& left = static_cast<Work*>(work)->left;
        if (left < kStepsAtOnce) return 1;
        left -= kStepsAtOnce;
        return 0;
      },
      work_.get());
  return Ok{};
}

Result<> Database::list_tables() {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(
      db_.get(), "SELECT name FROM sqlite_master WHERE type = 'table'", -1, &raw, nullptr);
  Rows rows(db_.get(), db::Query(raw), "its list of tables");
  if (code != SQLITE_OK) return broken(db_.get(), "its list of tables");
  while (TRY(rows.next())) tables_.emplace(rows.text(0));
  return Ok{};
}

std::vector<std::string> Database::names_like(const std::string& start) const {
  std::vector<std::string> names;
  for (auto at = tables_.lower_bound(start); at != tables_.end() && at->starts_with(start); ++at) {
    names.push_back(*at);
  }
  return names;
}

Result<std::optional<Rows>> Database::rows(const std::string& table,
                                           std::span<const std::string_view> columns) const {
  if (!has(table)) return std::optional<Rows>{};
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db_.get(),
                         fmt::format("SELECT * FROM {} LIMIT 0", sql_quoted(table)).c_str(), -1,
                         &raw, nullptr) != SQLITE_OK) {
    return broken(db_.get(), table);
  }
  const db::Query shape(raw);
  std::set<std::string, std::less<>> present;
  for (int i = 0; i < sqlite3_column_count(raw); ++i) present.emplace(sqlite3_column_name(raw, i));
  std::vector<std::string> wanted;
  for (const std::string_view column : columns) {
    wanted.push_back(present.contains(column) ? sql_quoted(column) : "NULL");
  }
  raw = nullptr;
  const std::string sql = fmt::format("SELECT {} FROM {}", join(wanted, ", "), sql_quoted(table));
  if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    return broken(db_.get(), table);
  }
  return std::optional<Rows>(Rows(db_.get(), db::Query(raw), table));
}

Result<std::string> Database::value(std::string_view table, std::string_view column,
                                    std::string_view key, std::int64_t id) {
  if (!lookup_) {
    sqlite3_stmt* raw = nullptr;
    const std::string sql = fmt::format("SELECT {} FROM {} WHERE {} = ?1 LIMIT 1",
                                        sql_quoted(column), sql_quoted(table), sql_quoted(key));
    if (sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
      return broken(db_.get(), table);
    }
    lookup_.reset(raw);
  }
  sqlite3_reset(lookup_.get());
  sqlite3_bind_int64(lookup_.get(), 1, id);
  const int code = sqlite3_step(lookup_.get());
  if (code == SQLITE_DONE) return std::string{};
  if (code != SQLITE_ROW) return broken(db_.get(), table);
  const unsigned char* text = sqlite3_column_text(lookup_.get(), 0);
  if (text == nullptr) return std::string{};
  return std::string(reinterpret_cast<const char*>(text),
                     static_cast<std::size_t>(sqlite3_column_bytes(lookup_.get(), 0)));
}

}  // namespace amdahl::trace::nsys
