// database.h: reads tables of an untrusted SQLite file within limits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "db/sqlite.h"
#include "trace/reader.h"

namespace amdahl::trace::nsys {

inline constexpr std::string_view kMagic{"SQLite format 3\0", 16};

// The rows of one table. Columns are numbered as requested; a missing one is null.
class Rows {
 public:
  // Advances to the next row. An error ends the table, not the file.
  Result<bool> next();

  bool is_null(int column) const;
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;   // 0 for null and non-numbers.
  std::string_view text(int column) const;  // Valid until the next row.

 private:
  friend class Database;
  Rows(sqlite3* db, db::Query query, std::string table)
      : db_(db), query_(std::move(query)), table_(std::move(table)) {}
  sqlite3* db_;
  db::Query query_;
  std::string table_;
};

class Database {
 public:
  static Result<Database> open(const Input& input, const Limits& limits);

  bool has(const std::string& table) const { return tables_.contains(table); }
  bool has_like(const std::string& start) const {  // Whose name begins so.
    const auto at = tables_.lower_bound(start);
    return at != tables_.end() && at->starts_with(start);
  }
  std::vector<std::string> names_like(const std::string& start) const;  // All that begin so.
  std::size_t tables() const { return tables_.size(); }

  // All rows in file order; nothing if there is no such table.
  Result<std::optional<Rows>> rows(const std::string& table,
                                   std::span<const std::string_view> columns) const;

  // One value of a table by key, as in StringIds.
  Result<std::string> value(std::string_view table, std::string_view column, std::string_view key,
                            std::int64_t id);

  std::uint64_t bytes() const { return bytes_; }

  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) noexcept = default;

 private:
  Database() = default;
  Result<> open_path(const std::string& path);
  Result<> take_bytes(const Input& input, const Limits& limits);
  Result<> keep_bounds();
  Result<> list_tables();

  struct Work {  // Counted by the progress handler; must not move.
    std::uint64_t left = 0;
  };
  std::vector<unsigned char> copy_;  // Must outlive the handle that reads from it.
  std::unique_ptr<Work> work_ = std::make_unique<Work>();
  db::Db db_;
  db::Query lookup_;
  std::set<std::string> tables_;
  std::uint64_t bytes_ = 0;
};

}  // namespace amdahl::trace::nsys
