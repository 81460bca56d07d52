// store.h: the ledger of many machines: events and lease on a server, projections in a replica.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/postgres/server.h"
#include "ledger/sqlite/store.h"
#include "os/clock.h"

namespace amdahl::ledger::postgres {

struct StoreOptions {
  OpenOptions options;
  // How old an answer may be before the server is asked for news.
  Nanos look_every = std::chrono::seconds(1);
  bool durable = true;           // False: tests need no flushed replica.
  std::function<Nanos()> now{};  // Replaces the server's clock in tests.
};

// As open_postgres(), with the parts that tests and benchmarks replace.
Result<std::unique_ptr<Ledger>> open_store(const ServerPlace& place, const StoreOptions& setup,
                                           os::Clock& clock);

// The order of locks is: the replica, the lease, the head. A process that holds the head, which all
// machines share, never waits for a replica.
class Store final : public sqlite::Projections {
 public:
  Store(const ServerPlace& place, const StoreOptions& setup, db::Connection replica,
        int schema_version, os::Clock& clock)
      : Projections{std::move(replica), schema_version},
        place_{place},
        setup_{setup},
        server_{place.url, setup.now},
        clock_{clock} {}

  // Makes or finds the ledger on the server. A server that is away is an error only while the
  // replica is empty.
  Result<> begin();

  Result<std::vector<Event>> append(std::span<const Draft> drafts, std::int64_t fence) override;
  Result<> import(std::span<const Event> events) override;

  // The chain on the server, and the replica against both the server and a replay.
  Result<VerifyReport> verify() override;

  Result<LeaseInfo> take_lease(const std::string& holder, const std::string& host,
                               Nanos for_how_long) override;
  Result<> renew_lease(std::int64_t token, Nanos for_how_long) override;
  Result<> release_lease(std::int64_t token) override;
  Result<std::optional<LeaseInfo>> lease() override;

  std::string stale_because() override { return away_; }
  Nanos clock_ahead() override { return ahead_; }

 private:
  using Made = std::vector<sqlite::Written>;
  // Writes new events into the replica, after `last`, at the server's time.
  using Make = std::function<Result<Made>(const sqlite::Head& last, Nanos now)>;

  Result<Made> write(std::string_view what, std::int64_t fence, const Make& make);
  Result<Made> write_once(std::int64_t fence, const Make& make);
  Result<> check_fence(const Server::Locked& locked, std::int64_t fence);
  // Whether the events in doubt were written. The head is locked, so no writer can still be adding
  // them.
  Result<bool> was_written();
  Result<Made> send(const Make& make, const ServerHead& head, db::Transaction& local);

  // Repeats `once` while it fails for a temporary reason, for at most `wait`.
  Result<> patiently(std::string_view what, Nanos wait, const std::function<Result<>()>& once);
  Error gave_up(std::string_view what, Nanos wait, const Error& last) const;

  // Fetches what the replica lacks, in transactions of its own.
  Result<> catch_up();
  // The same inside the caller's transaction, while the server holds the lock of the head.
  Result<> replay_until(const sqlite::Head& last);
  Result<> check_same_chain(const sqlite::Head& mine, const sqlite::Head& servers,
                            const std::string& servers_hash_of_mine) const;
  Result<> prepare();
  // catch_up(), if the last look was long ago; silent about a server that is away.
  Result<> news() override;
  Result<> check_server_chain(VerifyReport& report);

  ServerPlace place_;
  StoreOptions setup_;
  Server server_;
  os::Clock& clock_;
  std::optional<Nanos> looked_;   // Monotonic.
  std::optional<Made> in_doubt_;  // Sent with a COMMIT whose answer was lost.
  bool prepared_ = false;         // The tables of the server were seen.
  Nanos ahead_{};                 // This machine's clock minus the server's, at the last look.
  std::string away_;              // Why the last look failed; empty: it did not.
};

}  // namespace amdahl::ledger::postgres
