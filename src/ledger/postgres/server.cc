#include "ledger/postgres/server.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ledger/postgres/schema.h"

namespace amdahl::ledger::postgres {
namespace {

using Value = db::ServerConnection::Value;

constexpr int kConnectSeconds = 5;  // For each host of the address.
constexpr int kSilenceMs = 30'000;  // More than the two locks of an append may take.
constexpr std::size_t kRowsAtOnce = 500;

// A server whose commits are not on disk when they return would break the ledger's promise. The
// others end what a client leaves behind that died or hangs while it holds the head.
constexpr const char* kSession =
    "SELECT set_config('synchronous_commit', 'on', false)"
    " WHERE current_setting('synchronous_commit') IN ('off', 'local');"
    "SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '30s';"
    "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;"
    "SET client_min_messages = warning; SET standard_conforming_strings = on;"
    "SELECT current_setting('server_encoding')";

Value text_of(std::int64_t number) { return fmt::to_string(number); }

}  // namespace

Error Server::note(Error error) {
  passing_ = !connection_ || connection_->passing();
  return error;
}

std::optional<std::string> Server::test_now() const {
  if (!now_) return std::nullopt;
  return fmt::to_string(now_().count());
}

Result<> Server::connect() {
  if (!lost()) return Ok{};
  connection_.reset();
  auto opened = db::ServerConnection::open(url_, kConnectSeconds, kSilenceMs);
  if (!opened) {
    passing_ = opened.error().kind == Error::Kind::kExternal;
    return Error{opened.error().kind, "connect: " + opened.error().text};
  }
  connection_.emplace(*std::move(opened));
  auto set = connection_->exec("set up the connection", kSession);
  if (!set) return note(set.error());
  const std::vector<db::ServerRows> answers = *std::move(set);
  if (answers.back().text(0, 0) == "UTF8") return Ok{};
  connection_.reset();
  passing_ = false;
  return Error{Error::Kind::kUnsupported,
               "the database is not in UTF-8: make another with ENCODING 'UTF8'"};
}

Result<std::vector<db::ServerRows>> Server::exec(std::string_view purpose, const std::string& sql) {
  passing_ = false;
  TRY(connect());
  auto answers = connection_->exec(purpose, sql);
  if (!answers) return note(answers.error());
  return answers;
}

Result<db::ServerRows> Server::query(std::string_view purpose, const std::string& sql,
                                     std::span<const Value> values) {
  passing_ = false;
  TRY(connect());
  auto answer = connection_->query(purpose, sql, values);
  if (!answer) return note(answer.error());
  return answer;
}

Result<> Server::prepare(bool create, bool raise) {
  auto there = TRY(query("look for the ledger", "SELECT to_regclass('amdahl_ledger') IS NOT NULL"));
  if (there.text(0, 0) != "t") {
    if (!create) {
      return Error{Error::Kind::kNotFound,
                   "there is no ledger in this database yet; type: amdahl init"};
    }
    // The lock lets one of many who find no tables make them.
    const auto made =
        exec("make the tables",
             fmt::format("BEGIN; SELECT pg_advisory_xact_lock(1095582792);"
                         "DO $make$ BEGIN IF to_regclass('amdahl_ledger') IS NULL THEN EXECUTE "
                         "$tables${}$tables$; INSERT INTO amdahl_ledger VALUES (1, {}, {}, 0, ''); "
                         "END IF; END $make$; COMMIT",
                         kTables, kFormat, ledger::schema_version()));
    if (!made) {
      roll_back();
      return made.error();
    }
  }
  auto row = TRY(query("read the ledger's version", "SELECT format, version FROM amdahl_ledger"));
  if (row.count() != 1) return bad_input("amdahl_ledger has no row: restore a backup");
  const std::int64_t version = row.integer(0, 1);
  if (row.integer(0, 0) > kFormat || version > ledger::schema_version()) {
    return Error{Error::Kind::kUnsupported,
                 fmt::format("the ledger has schema {}, newer than {} of this program: use a newer "
                             "amdahl",
                             version, ledger::schema_version())};
  }
  if (raise && version < ledger::schema_version()) {
    TRY(query("raise the ledger's version",
              "UPDATE amdahl_ledger SET version = greatest(version, $1::integer)",
              std::array{text_of(ledger::schema_version())}));
  }
  return Ok{};
}

Result<Server::Look> Server::look(std::int64_t at) {
  auto row = TRY(query("look for new events",
                       fmt::format("SELECT seq, hash, {}, coalesce((SELECT hash FROM amdahl_events"
                                   " WHERE seq = $1::bigint), '') FROM amdahl_ledger WHERE id = 1",
                                   kNow),
                       std::array{text_of(at)}));
  if (row.count() != 1) return bad_input("amdahl_ledger has no row: restore a backup");
  return Look{{{row.integer(0, 0), std::string(row.text(0, 1))}, now_from(row.integer(0, 2))},
              std::string(row.text(0, 3))};
}

Result<int> Server::fetch(
    std::int64_t after, int at_most,
    const std::function<Result<>(const sqlite::StoredEvent&, std::string_view)>& take) {
  auto rows = TRY(query("fetch events",
                        "SELECT seq, at_ns, actor, kind, subject, payload, hash FROM amdahl_events"
                        " WHERE seq > $1::bigint ORDER BY seq LIMIT $2::integer",
                        std::array{text_of(after), text_of(at_most)}));
  for (int i = 0; i < rows.count(); ++i) {
    const sqlite::StoredEvent event{rows.integer(i, 0), rows.integer(i, 1), rows.text(i, 2),
                                    rows.text(i, 3),    rows.text(i, 4),    rows.text(i, 5)};
    TRY(take(event, rows.text(i, 6)));
  }
  return rows.count();
}

HeldLease Server::held_from(const db::ServerRows& rows) const {
  HeldLease held;
  held.info.token = rows.integer(0, 0);
  held.info.holder = rows.text(0, 1);
  held.info.host = rows.text(0, 2);
  held.info.taken = Nanos{rows.integer(0, 3)};
  held.info.renewed = Nanos{rows.integer(0, 4)};
  held.info.expires = Nanos{rows.integer(0, 5)};
  held.place = rows.text(0, 6);
  held.nonce = rows.text(0, 7);
  held.now = now_from(rows.integer(0, 8));
  return held;
}

namespace {
std::string lease_sql(std::string_view lock) {
  return fmt::format(
      "SELECT token, holder, host, taken_ns, renewed_ns, expires_ns, place, nonce, {}"
      " FROM amdahl_lease WHERE id = 1 {}",
      kNow, lock);
}
}  // namespace

Result<Server::Locked> Server::lock(bool fenced) {
  // A share of the lease: whoever would take it over waits until this append has ended.
  auto answers =
      TRY(exec("lock the ledger",
               fmt::format("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;{}"
                           "SELECT seq, hash, {} FROM amdahl_ledger WHERE id = 1 FOR UPDATE",
                           fenced ? lease_sql("FOR SHARE") + ";" : "", kNow)));
  const db::ServerRows& head = answers.back();
  if (head.count() != 1) return bad_input("amdahl_ledger has no row: restore a backup");
  Locked locked;
  locked.head = {{head.integer(0, 0), std::string(head.text(0, 1))}, now_from(head.integer(0, 2))};
  if (fenced && answers[1].count() == 1) locked.lease = held_from(answers[1]);
  return locked;
}

Result<> Server::insert(std::span<const sqlite::Written> events) {
  while (!events.empty()) {
    const auto some = events.first(std::min(events.size(), kRowsAtOnce));
    events = events.subspan(some.size());
    std::string sql =
        "INSERT INTO amdahl_events(seq, at_ns, actor, kind, subject, payload, hash) VALUES ";
    std::vector<Value> values;
    for (const sqlite::Written& written : some) {
      const std::size_t n = values.size();
      sql += fmt::format("{}(${}::bigint, ${}::bigint, ${}, ${}, ${}, ${}, ${})",
                         n == 0 ? "" : ", ", n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7);
      const Event& event = written.event;
      values.insert(values.end(), {text_of(event.seq), text_of(event.at.count()), event.actor,
                                   event.kind, event.subject, written.text, event.hash});
    }
    TRY(query("write the events", sql, values));
  }
  return Ok{};
}

Result<> Server::commit() {
  passing_ = false;
  // Not exec(): a connection made anew would know nothing of the transaction.
  if (lost()) {
    passing_ = true;
    return external("commit: the connection to the server was lost");
  }
  auto answers = connection_->exec("commit", "COMMIT");
  if (!answers) return note(answers.error());
  const std::vector<db::ServerRows> done = *std::move(answers);
  if (done.back().command() == "COMMIT") return Ok{};
  passing_ = true;
  return external("commit: the server rolled the transaction back");
}

void Server::roll_back() {
  if (lost()) return;
  const bool passing = passing_;
  // If even this fails, the connection must not be used again: its transaction may be open.
  if (!connection_->exec("roll back", "ROLLBACK")) connection_.reset();
  passing_ = passing;
}

Result<std::optional<LeaseInfo>> Server::take_lease(const Claim& claim) {
  auto row = TRY(query(
      "take the lease",
      fmt::format(
          "INSERT INTO amdahl_lease(id, token, holder, host, place, nonce, taken_ns, renewed_ns,"
          " expires_ns) SELECT 1, 1, $1, $2, $3, $4, now, now, now + $5::bigint"
          " FROM (SELECT coalesce($6::bigint, {}) AS now) AS clock"
          " ON CONFLICT (id) DO UPDATE SET token = amdahl_lease.token + 1,"
          " holder = excluded.holder, host = excluded.host, place = excluded.place,"
          " nonce = excluded.nonce, taken_ns = excluded.taken_ns,"
          " renewed_ns = excluded.renewed_ns, expires_ns = excluded.expires_ns"
          " WHERE amdahl_lease.holder = '' OR amdahl_lease.expires_ns <= excluded.taken_ns"
          " OR amdahl_lease.token = $7::bigint"
          " RETURNING token, taken_ns, expires_ns",
          kNow),
      std::array<Value, 7>{claim.holder, claim.host, claim.place, claim.nonce,
                           text_of(claim.length.count()), test_now(), text_of(claim.instead_of)}));
  if (row.count() == 0) return std::optional<LeaseInfo>{};
  const Nanos taken{row.integer(0, 1)};
  return std::optional<LeaseInfo>{LeaseInfo{claim.holder, claim.host, taken, taken,
                                            Nanos{row.integer(0, 2)}, row.integer(0, 0)}};
}

Result<bool> Server::renew_lease(std::int64_t token, Nanos length) {
  auto row =
      TRY(query("renew the lease",
                fmt::format("UPDATE amdahl_lease SET renewed_ns = now, expires_ns = now + "
                            "$2::bigint FROM (SELECT coalesce($3::bigint, {}) AS now) AS "
                            "clock WHERE token = $1::bigint AND holder <> '' RETURNING token",
                            kNow),
                std::array<Value, 3>{text_of(token), text_of(length.count()), test_now()}));
  return row.count() == 1;
}

// If a crash of the server takes this back, the lease expires instead: not worth a flush.
Result<> Server::release_lease(std::int64_t token) {
  const auto done =
      exec("release the lease",
           fmt::format("BEGIN; SET LOCAL synchronous_commit = off; UPDATE amdahl_lease SET holder"
                       " = '', expires_ns = 0 WHERE token = {}; COMMIT",
                       token));
  if (done) return Ok{};
  roll_back();
  return done.error();
}

Result<std::optional<HeldLease>> Server::lease() {
  auto row = TRY(query("read the lease", lease_sql("")));
  if (row.count() == 0) return std::optional<HeldLease>{};
  return std::optional<HeldLease>{held_from(row)};
}

Result<Server::About> Server::about() {
  auto row = TRY(query("ask for the version",
                       "SELECT current_setting('server_version'), current_setting('fsync')"));
  return About{std::string(row.text(0, 0)), row.text(0, 1) == "on"};
}

}  // namespace amdahl::ledger::postgres
