// database_testing.h: SQLite databases made from statements, for tests of readers.
#pragma once

#include <string>

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace amdahl::trace {

// The bytes of a database made by these statements.
inline std::string database_of(const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &db), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK)
      << (error == nullptr ? "" : error);
  sqlite3_free(error);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
  std::string copy(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(db);
  return copy;
}

}  // namespace amdahl::trace
