// postgres.h: a connection to a PostgreSQL server that closes itself, with errors as Results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include "base/result.h"

namespace amdahl::db {

struct EndServer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearRows {
  void operator()(PGresult* result) const { PQclear(result); }
};

// The answer to one statement, all of it in memory. Text lives as long as the rows.
class ServerRows {
 public:
  explicit ServerRows(PGresult* result) : result_{result} {}

  int count() const { return PQntuples(result_.get()); }
  bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  std::string_view text(int row, int column) const;
  std::int64_t integer(int row, int column) const;  // 0 for what is no whole number.
  std::string_view command() const { return PQcmdStatus(result_.get()); }  // "COMMIT".

 private:
  std::unique_ptr<PGresult, ClearRows> result_;
};

// Nothing, or why this address cannot be used: it is no address of a server, or it has a password
// in it, which belongs into the file named by PGPASSFILE or into PGPASSWORD.
Result<> check_address(const std::string& url);

// One connection. Not for two threads at once. Never retries.
//
// Errors read "purpose: what the server says"; a message raised by a trigger stands alone, because
// it is ours. Kinds: kConflict for a broken constraint or a trigger's refusal, kBadInput for text
// that the server cannot store, kExternal for the rest.
class ServerConnection {
 public:
  // Tries each host of the address that takes writes, for `connect_s` seconds each. An answer that
  // does not come within `silence_ms` counts as a lost connection. kBadInput if the server refuses
  // this user or this database, kExternal if it cannot be reached.
  static Result<ServerConnection> open(const std::string& url, int connect_s, int silence_ms);

  // Statements without parameters, separated by semicolons: the answer to each.
  Result<std::vector<ServerRows>> exec(std::string_view purpose, const std::string& sql);

  // One statement with $1, $2, ...; nullopt is NULL.
  using Value = std::optional<std::string>;
  Result<ServerRows> query(std::string_view purpose, const std::string& sql,
                           std::span<const Value> values);

  // After an error: the connection is gone, and whether its last statement took effect is unknown.
  bool lost() const { return lost_; }
  // After an error: the same may succeed later (the connection was lost, a lock was not free, the
  // server is starting or shutting down).
  bool passing() const { return passing_; }

 private:
  explicit ServerConnection(PGconn* connection, int silence_ms)
      : connection_{connection}, silence_ms_{silence_ms} {}
  Result<std::vector<ServerRows>> answers(std::string_view purpose);
  bool wait_for(short what);
  Error gone(std::string_view purpose, std::string_view why);
  Error refused(std::string_view purpose, const PGresult* result);

  std::unique_ptr<PGconn, EndServer> connection_;
  int silence_ms_;
  bool lost_ = false;
  bool passing_ = false;
};

}  // namespace amdahl::db
