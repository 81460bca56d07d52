#include <cerrno>

#include <fmt/core.h>
#include <signal.h>

#include "base/text.h"
#include "ledger/sqlite/queries.h"
#include "ledger/sqlite/store.h"

namespace amdahl::ledger::sqlite {

bool is_dead(std::string_view holder) {
  constexpr std::string_view kPid = "pid ";
  if (!holder.starts_with(kPid)) return false;
  const auto pid = to_number<pid_t>(holder.substr(kPid.size()));
  return pid && *pid > 0 && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

namespace {

std::string ago(Nanos now, Nanos then) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(now - then);
  return show_duration(std::max<Nanos>(whole, Nanos{}));
}

}  // namespace

std::string describe_holder(const LeaseInfo& held, Nanos now) {
  return fmt::format("another cycle holds the lease: {} on {}, taken {} ago, renewed {} ago",
                     held.holder, held.host, ago(now, held.taken), ago(now, held.renewed));
}

// A released lease keeps its row, so that the token never restarts.
Result<std::optional<LeaseInfo>> Store::lease() {
  db::Statement row = TRY(db_.prepare("read the lease", kLease));
  if (!TRY(row.step()) || row.text(1).empty()) return std::optional<LeaseInfo>{};
  LeaseInfo info;
  info.token = row.integer(0);
  info.holder = row.text(1);
  info.host = row.text(2);
  info.taken = Nanos{row.integer(3)};
  info.renewed = Nanos{row.integer(4)};
  info.expires = Nanos{row.integer(5)};
  return std::optional<LeaseInfo>{std::move(info)};
}

Result<LeaseInfo> Store::take_lease(const std::string& holder, const std::string& host,
                                    Nanos for_how_long) {
  if (holder.empty()) return bad_input("a lease needs a holder");
  auto transaction =
      TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "take the lease"));
  const Nanos now = clock_.unix_time();
  if (const auto held = TRY(lease())) {
    const bool dead = held->host == host && is_dead(held->holder);
    if (now < held->expires && !dead) return Error{Error::Kind::kBusy, describe_holder(*held, now)};
  }
  LeaseInfo info{holder, host, now, now, now + for_how_long, 0};
  auto row = TRY(db_.query("take the lease",
                           "INSERT INTO lease(id, token, holder, host, taken_ns, renewed_ns,"
                           " expires_ns) VALUES (1, 1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE"
                           " SET token = token + 1, holder = excluded.holder, host = excluded.host,"
                           " taken_ns = excluded.taken_ns, renewed_ns = excluded.renewed_ns,"
                           " expires_ns = excluded.expires_ns RETURNING token",
                           holder, host, now.count(), now.count(), info.expires.count()));
  if (!TRY(row.step())) return external("take the lease: no row");
  info.token = row.integer(0);
  row.reset();
  TRY(transaction.commit());
  return info;
}

Result<> Store::renew_lease(std::int64_t token, Nanos for_how_long) {
  auto transaction =
      TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "renew the lease"));
  TRY(check_fence(token));
  const Nanos now = clock_.unix_time();
  const auto changed = TRY(db_.run("renew the lease",
                                   "UPDATE lease SET renewed_ns = ?, expires_ns = ?"
                                   " WHERE token = ? AND holder <> ''",
                                   now.count(), (now + for_how_long).count(), token));
  if (changed == 0) return Error{Error::Kind::kBusy, "the lease was released: take it again"};
  return transaction.commit();
}

// Releasing a lease that was lost is not an error.
Result<> Store::release_lease(std::int64_t token) {
  TRY(db_.run("release the lease", "UPDATE lease SET holder = '', expires_ns = 0 WHERE token = ?",
              token));
  return Ok{};
}

Result<> Store::check_fence(std::int64_t fence) {
  db::Statement row = TRY(db_.prepare("read the lease", kLease));
  if (!TRY(row.step())) return Error{Error::Kind::kBusy, "the lease was never taken"};
  if (row.integer(0) == fence) return Ok{};
  if (const auto held = TRY(lease())) {
    return Error{Error::Kind::kBusy,
                 "the lease was lost: " + describe_holder(*held, clock_.unix_time())};
  }
  return Error{Error::Kind::kBusy, "the lease was lost: another cycle has taken it"};
}

}  // namespace amdahl::ledger::sqlite
