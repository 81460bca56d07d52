#include "db/sqlite.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace amdahl::db {
namespace {

Connection memory() {
  auto opened = Connection::open(":memory:", Mode::kCreate, 0);
  EXPECT_TRUE(opened) << opened.error().text;
  return *std::move(opened);
}

struct Scratch {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) /
                                 testing::UnitTest::GetInstance()->current_test_info()->name();
  Scratch() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~Scratch() { std::filesystem::remove_all(folder); }
  std::string operator/(const char* name) const { return (folder / name).string(); }
};

TEST(Sqlite, BindsAndReadsEveryType) {
  Connection db = memory();
  ASSERT_TRUE(db.exec("make", "CREATE TABLE t(a INTEGER, b REAL, c TEXT, d TEXT) STRICT"));
  const std::string with_nul("x\0y", 3);
  ASSERT_EQ(*db.run("fill", "INSERT INTO t VALUES(?,?,?,?)", std::int64_t{1} << 62, 0.1, with_nul,
                    nullptr),
            1);
  ASSERT_EQ(*db.run("fill", "INSERT INTO t VALUES(?,?,?,?)", true, std::optional<double>{},
                    std::string_view{}, "z"),
            1);
  Statement rows = *db.query("read", "SELECT * FROM t ORDER BY rowid");
  ASSERT_TRUE(*rows.step());
  EXPECT_EQ(rows.integer(0), std::int64_t{1} << 62);
  EXPECT_EQ(rows.real(1), 0.1);
  EXPECT_EQ(rows.text(2), with_nul);
  EXPECT_TRUE(rows.is_null(3));
  ASSERT_TRUE(*rows.step());
  EXPECT_EQ(rows.literal(0), "1");
  EXPECT_EQ(rows.literal(1), "NULL");
  EXPECT_EQ(rows.literal(2), "''");  // An empty text is not NULL.
  EXPECT_EQ(rows.literal(3), "'z'");
  EXPECT_FALSE(*rows.step());
}

TEST(Sqlite, RowsAreComparedByTypeAndValue) {
  Connection db = memory();
  Statement a = *db.prepare("a", "SELECT 1, 0.5, 'x', NULL, 1, 'x', NULL, 2, 'x'");
  Statement b = *db.prepare("b", "SELECT 1, 0.5, 'x', NULL, 1.0, 'y', '', 3, x'78'");
  ASSERT_TRUE(*a.step());
  ASSERT_TRUE(*b.step());
  for (int column = 0; column < a.columns(); ++column) {
    EXPECT_EQ(a.same(column, b), column < 4) << column;
  }
}

TEST(Sqlite, OneStatementMayBeInUseTwice) {
  Connection db = memory();
  constexpr auto kSql = "SELECT value FROM json_each('[1,2,3]')";
  int pairs = 0;
  for (int round = 0; round < 2; ++round) {
    Statement outer = *db.prepare("outer", kSql);
    while (*outer.step()) {
      Statement inner = *db.prepare("inner", kSql);
      while (*inner.step()) ++pairs;
    }
  }
  EXPECT_EQ(pairs, 18);
}

TEST(Sqlite, ErrorsSayThePurposeAndTheCause) {
  Connection db = memory();
  ASSERT_TRUE(db.exec("make",
                      "CREATE TABLE t(a TEXT UNIQUE) STRICT;"
                      "CREATE TRIGGER no BEFORE DELETE ON t BEGIN"
                      " SELECT RAISE(ABORT, 'rows are for ever'); END"));
  ASSERT_TRUE(db.run("fill", "INSERT INTO t VALUES('x')"));

  struct Case {
    const char* name;
    const char* sql;
    Error::Kind kind;
    const char* text;
  };
  constexpr Case kCases[] = {
      {"constraint", "INSERT INTO t VALUES('x')", Error::Kind::kConflict,
       "try: UNIQUE constraint failed: t.a"},
      {"trigger", "DELETE FROM t", Error::Kind::kConflict, "rows are for ever"},
      {"syntax", "INSERT INTO", Error::Kind::kExternal, "try: incomplete input"},
      {"too few values", "SELECT 1, ?", Error::Kind::kExternal, ""},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const auto got = db.run("try", c.sql);
    if (std::string_view(c.text).empty()) {
      EXPECT_TRUE(got);
      continue;
    }
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text, c.text);
    EXPECT_EQ(got.error().kind, c.kind);
  }
  EXPECT_EQ(db.run("too many", "SELECT ?", 1, 2).error().text,
            "too many: bind: column index out of range");
}

TEST(Sqlite, AForeignFileIsBadInput) {
  const Scratch scratch;
  std::ofstream(scratch / "x") << std::string(4096, 'x');
  Connection db = *Connection::open(scratch / "x", Mode::kReadWrite, 0);
  const auto got = db.integer("look", "PRAGMA user_version");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text, "look: file is not a database");
  EXPECT_EQ(got.error().kind, Error::Kind::kBadInput);
  EXPECT_EQ(Connection::open(scratch / "none", Mode::kReadWrite, 0).error().text,
            "open: unable to open database file");
}

TEST(Sqlite, ATransactionNotCommittedNeverHappened) {
  Connection db = memory();
  ASSERT_TRUE(db.exec("make", "CREATE TABLE t(a) "));
  {
    auto t = Transaction::begin(db, Transaction::Kind::kWrite, "write");
    ASSERT_TRUE(t);
    ASSERT_TRUE(db.run("fill", "INSERT INTO t VALUES(1)"));
  }
  EXPECT_EQ(*db.integer("count", "SELECT count(*) FROM t"), 0);
  auto begun = Transaction::begin(db, Transaction::Kind::kWrite, "write");
  Transaction t = *std::move(begun);
  ASSERT_TRUE(db.run("fill", "INSERT INTO t VALUES(1)"));
  ASSERT_TRUE(t.commit());
  EXPECT_EQ(*db.integer("count", "SELECT count(*) FROM t"), 1);
}

TEST(Sqlite, ALockedFileIsBusy) {
  const Scratch scratch;
  Connection one = *Connection::open(scratch / "x", Mode::kCreate, 0);
  Connection two = *Connection::open(scratch / "x", Mode::kCreate, 1);
  const auto held = Transaction::begin(one, Transaction::Kind::kWrite, "hold");
  ASSERT_TRUE(held);
  const auto got = Transaction::begin(two, Transaction::Kind::kWrite, "append");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().text, "append: database is locked");
  EXPECT_EQ(got.error().kind, Error::Kind::kBusy);
}

}  // namespace
}  // namespace amdahl::db
