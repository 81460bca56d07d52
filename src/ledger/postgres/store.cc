#include "ledger/postgres/store.h"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "base/text.h"
#include "os/fault.h"
#include "os/files.h"

namespace amdahl::ledger {
namespace postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kFetchAtOnce = 500;
constexpr Nanos kFirstPause = milliseconds(50);
constexpr Nanos kLongestPause = milliseconds(500);
constexpr Nanos kLookAgain = seconds(10);  // After a look that found the server away.

// Rolls the server's transaction back unless it was committed.
class ServerTransaction {
 public:
  explicit ServerTransaction(Server& server) : server_{server} {}
  ~ServerTransaction() {
    if (!ended_) server_.roll_back();
  }
  ServerTransaction(const ServerTransaction&) = delete;
  ServerTransaction& operator=(const ServerTransaction&) = delete;
  void end() { ended_ = true; }

 private:
  Server& server_;
  bool ended_ = false;
};

}  // namespace

Error Store::gave_up(std::string_view what, Nanos wait, const Error& last) const {
  const std::string fate =
      in_doubt_ ? fmt::format(
                      "it is not known whether events {} to {} were written; this is checked "
                      "when the server is back",
                      in_doubt_->front().event.seq, in_doubt_->back().event.seq)
                : "nothing was written";
  return external(fmt::format("{}: the ledger's server could not be used for {}: {}; {}", what,
                              show_duration(wait), last.text, fate));
}

Result<> Store::patiently(std::string_view what, Nanos wait,
                          const std::function<Result<>()>& once) {
  const Nanos until = clock_.monotonic() + wait;
  Nanos pause = kFirstPause;
  while (true) {
    server_.forget_errors();
    const auto done = once();
    if (done || !server_.passing()) return done;
    server_.disconnect();
    if (clock_.monotonic() + pause > until) return gave_up(what, wait, done.error());
    clock_.sleep(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

Result<> Store::prepare() {
  if (prepared_) return Ok{};
  TRY(server_.prepare(setup_.options.create && !setup_.options.read_only));
  prepared_ = true;
  return Ok{};
}

Result<> Store::begin() {
  const bool is_new = TRY(sqlite::head_of(db_)).seq == 0;
  const auto ready =
      is_new ? patiently("open the ledger", place_.wait, [&] { return prepare(); }) : prepare();
  if (ready) return news();
  if (is_new || !server_.passing()) return ready;
  server_.disconnect();
  away_ = ready.error().text;
  looked_ = clock_.monotonic() + kLookAgain;
  return Ok{};
}

Result<> Store::news() {
  if (looked_ && clock_.monotonic() - *looked_ < setup_.look_every) return Ok{};
  server_.forget_errors();
  auto done = prepare();
  if (done) done = catch_up();
  looked_ = clock_.monotonic();
  away_ = done ? "" : done.error().text;
  if (done || !server_.passing()) return done;
  server_.disconnect();
  *looked_ += kLookAgain;
  return Ok{};
}

Result<> Store::check_same_chain(const sqlite::Head& mine, const sqlite::Head& servers,
                                 const std::string& servers_hash_of_mine) const {
  if (mine.seq == 0 || servers_hash_of_mine == mine.hash) return Ok{};
  if (servers.seq < mine.seq) {
    return Error{Error::Kind::kConflict,
                 fmt::format("the server has {} events and the replica {} has {}: the server was "
                             "restored from an older copy, or failed over to one that lacked the "
                             "last events. To bring them back, if no other machine has written "
                             "since: amdahl ledger copy {} {}. To give them up: rm {}",
                             servers.seq, place_.replica, mine.seq, place_.replica, place_.url,
                             place_.replica)};
  }
  return Error{Error::Kind::kConflict,
               fmt::format("event {} of the server is not that of the replica {}: the replica is "
                           "of another ledger, or events were changed. To make the replica anew "
                           "from the server: rm {}",
                           mine.seq, place_.replica, place_.replica)};
}

Result<> Store::catch_up() {
  sqlite::Head mine = TRY(sqlite::head_of(db_));
  const Server::Look look = TRY(server_.look(mine.seq));
  ahead_ = clock_.unix_time() - look.head.now;
  TRY(check_same_chain(mine, look.head.last, look.hash));
  const auto replay = [&](const sqlite::StoredEvent& event, std::string_view hash) -> Result<> {
    TRY(sqlite::write_stored(db_, event, hash, mine).in("catch up with the server"));
    mine = {event.seq, std::string(hash)};
    return Ok{};
  };
  while (mine.seq < look.head.last.seq) {
    auto local = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "catch up"));
    mine = TRY(sqlite::head_of(db_));  // Another process of this machine may have caught up.
    const int got = TRY(server_.fetch(mine.seq, kFetchAtOnce, replay));
    TRY(local.commit());
    if (got == 0) break;
  }
  looked_ = clock_.monotonic();
  return Ok{};
}

Result<> Store::replay_until(const sqlite::Head& last) {
  sqlite::Head mine = TRY(sqlite::head_of(db_));
  const auto replay = [&](const sqlite::StoredEvent& event, std::string_view hash) -> Result<> {
    TRY(sqlite::write_stored(db_, event, hash, mine).in("catch up with the server"));
    mine = {event.seq, std::string(hash)};
    return Ok{};
  };
  while (mine.seq < last.seq) {
    const int got = TRY(server_.fetch(mine.seq, kFetchAtOnce, replay));
    if (got == 0) break;
  }
  if (mine.seq == last.seq && mine.hash == last.hash) return Ok{};
  return check_same_chain(mine, last, mine.seq == last.seq ? last.hash : "");
}

Result<> Store::check_fence(const Server::Locked& locked, std::int64_t fence) {
  if (!locked.lease) return Error{Error::Kind::kBusy, "the lease was never taken"};
  const HeldLease& held = *locked.lease;
  if (held.info.token == fence) return Ok{};
  return Error{Error::Kind::kBusy,
               held.info.holder.empty()
                   ? "the lease was lost: another cycle has taken it"
                   : "the lease was lost: " + sqlite::describe_holder(held.info, held.now)};
}

Result<bool> Store::was_written() {
  const Event& last = in_doubt_->back().event;
  return TRY(server_.look(last.seq)).hash == last.hash;
}

Result<Store::Made> Store::send(const Make& make, const ServerHead& head, db::Transaction& local) {
  TRY(db_.exec("append", "SAVEPOINT drafts"));
  auto made = make(head.last, head.now);
  if (!made) {
    // What was replayed stays. If that fails, it is replayed again.
    if (db_.exec("append", "ROLLBACK TO drafts; RELEASE drafts")) (void)local.commit();
    return made.error();
  }
  const Made events = *std::move(made);
  TRY(server_.insert(events));
  os::fault_point("ledger.append.before_commit");
  in_doubt_ = events;
  const auto done = server_.commit();
  if (!done) {
    if (!server_.passing()) in_doubt_.reset();
    return done.error();
  }
  in_doubt_.reset();
  os::fault_point("ledger.append.server_has_it");
  // The server has it: if this fails, the replica lags behind and catches up.
  (void)local.commit();
  os::fault_point("ledger.append.after_commit");
  return events;
}

Result<Store::Made> Store::write_once(std::int64_t fence, const Make& make) {
  TRY(prepare());
  auto local = TRY(db::Transaction::begin(db_, db::Transaction::Kind::kWrite, "append"));
  ServerTransaction remote(server_);
  const Server::Locked locked = TRY(server_.lock(fence != 0));
  if (in_doubt_) {
    if (TRY(was_written())) return *std::exchange(in_doubt_, std::nullopt);
    in_doubt_.reset();
  }
  if (fence != 0) TRY(check_fence(locked, fence));
  TRY(replay_until(locked.head.last));
  auto made = send(make, locked.head, local);
  if (made) remote.end();
  return made;
}

Result<Store::Made> Store::write(std::string_view what, std::int64_t fence, const Make& make) {
  os::fault_point("ledger.append.begin");
  in_doubt_.reset();
  Made made;
  const bool fresh = looked_ && clock_.monotonic() - *looked_ < kLookAgain;
  const auto once = [&]() -> Result<> {
    // Without the head, so that a machine that was away for long keeps nobody waiting.
    if (!fresh && !in_doubt_) {
      TRY(prepare());
      TRY(catch_up());
    }
    made = TRY(write_once(fence, make));
    return Ok{};
  };
  TRY(patiently(what, place_.wait, once));
  looked_ = clock_.monotonic();
  away_.clear();
  // If the replica lacks what was written, the next read fetches it.
  const auto mine = sqlite::head_of(db_);
  if (!mine || mine->seq < made.back().event.seq) looked_.reset();
  return made;
}

Result<std::vector<Event>> Store::append(std::span<const Draft> drafts, std::int64_t fence) {
  std::vector<Event> events;
  if (drafts.empty()) return events;
  const auto make = [&](sqlite::Head last, Nanos now) -> Result<Made> {
    Made all;
    for (const Draft& draft : drafts) {
      all.push_back(TRY(sqlite::write_new(db_, draft, last, now)));
      last = {all.back().event.seq, all.back().event.hash};
    }
    return all;
  };
  for (const sqlite::Written& written : TRY(write("append", fence, make))) {
    events.push_back(written.event);
  }
  return events;
}

Result<> Store::import(std::span<const Event> events) {
  if (events.empty()) return Ok{};
  const auto make = [&](sqlite::Head last, Nanos) -> Result<Made> {
    Made all;
    for (const Event& event : events) {
      all.push_back(TRY(sqlite::write_copy(db_, event, last)));
      last = {event.seq, event.hash};
    }
    return all;
  };
  TRY(write("copy", 0, make));
  return Ok{};
}

Result<std::unique_ptr<Ledger>> open_store(const ServerPlace& place, const StoreOptions& setup,
                                           os::Clock& clock) {
  TRY(db::check_address(place.url).in("ledger.url"));
  sqlite::StoreOptions file;
  file.replica = true;
  file.durable = setup.durable;
  auto store = std::make_unique<Store>(
      place, setup, TRY(sqlite::open_file(place.replica, file, clock)), file.schema.version, clock);
  TRY(store->begin());
  return std::unique_ptr<Ledger>(std::move(store));
}

}  // namespace postgres

Result<> check_address(const std::string& url) { return db::check_address(url); }

Result<std::unique_ptr<Ledger>> open_postgres(const ServerPlace& place,
                                              const OpenOptions& options) {
  postgres::StoreOptions setup;
  setup.options = options;
  return postgres::open_store(place, setup, os::real_clock());
}

Result<ServerState> server_state(const ServerPlace& place) {
  TRY(check_address(place.url).in("ledger.url"));
  postgres::Server server(place.url, {});
  ServerState state;
  const postgres::Server::About about = TRY(server.about());
  state.version = about.version;
  state.syncs = about.syncs;
  TRY(server.prepare(false, false));
  const postgres::Server::Look look = TRY(server.look(0));
  state.events = look.head.last.seq;
  state.clock_ahead = os::real_clock().unix_time() - look.head.now;
  if (!os::exists(place.replica)) return state;
  sqlite::StoreOptions file;
  file.options = {.create = false, .read_only = true};
  db::Connection replica = TRY(sqlite::open_file(place.replica, file, os::real_clock()));
  state.replica_events = TRY(sqlite::head_of(replica)).seq;
  return state;
}

}  // namespace amdahl::ledger
