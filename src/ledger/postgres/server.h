// server.h: what the ledger asks its server, one question a function.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "db/postgres.h"
#include "ledger/ledger.h"
#include "ledger/sqlite/store.h"

namespace amdahl::ledger::postgres {

struct ServerHead {
  sqlite::Head last;
  Nanos now{};  // The server's clock.
};

// Who asks for the lease.
struct Claim {
  std::string holder;
  std::string host;
  std::string place;  // Where its process number means something: the boot and the pid namespace.
  std::string nonce;  // Of this taking, to recognise it if the answer was lost.
  Nanos length{};
  std::int64_t instead_of = 0;  // The token of a holder that is dead.
};

struct HeldLease {
  LeaseInfo info;  // With an empty holder: released.
  std::string place;
  std::string nonce;
  Nanos now{};
};

// Connects when it is first asked and again after the connection was lost. Never waits for a server
// that is away; passing() says whether waiting could help.
class Server {
 public:
  // `now` replaces the server's clock in tests.
  Server(std::string url, std::function<Nanos()> now)
      : url_{std::move(url)}, now_{std::move(now)} {}

  // kNotFound if there is no ledger and `create` is false; kUnsupported if it is from the future.
  // Makes the tables, and with `raise` raises the version to this program's.
  Result<> prepare(bool create, bool raise = true);

  // The head, and the hash of event `at` as the server has it ("" if it has none).
  struct Look {
    ServerHead head;
    std::string hash;
  };
  Result<Look> look(std::int64_t at);

  // Up to `at_most` events after `after`, in order; `take` gets each with its hash.
  Result<int> fetch(
      std::int64_t after, int at_most,
      const std::function<Result<>(const sqlite::StoredEvent&, std::string_view)>& take);

  // Begins a transaction and locks the head. With `fenced` also the lease, which the caller
  // compares.
  struct Locked {
    ServerHead head;
    std::optional<HeldLease> lease;  // Nothing: it was never taken, or was not asked for.
  };
  Result<Locked> lock(bool fenced);
  Result<> insert(std::span<const sqlite::Written> events);
  // If it fails and the connection is lost(), nobody knows whether it took place.
  Result<> commit();
  void roll_back();

  // Nothing if someone else has it.
  Result<std::optional<LeaseInfo>> take_lease(const Claim& claim);
  // Whether the token is the holder's.
  Result<bool> renew_lease(std::int64_t token, Nanos length);
  Result<> release_lease(std::int64_t token);
  Result<std::optional<HeldLease>> lease();

  struct About {
    std::string version;
    bool syncs = true;
  };
  Result<About> about();

  bool lost() const { return !connection_ || connection_->lost(); }
  // Of the last error: whether the same may succeed later.
  bool passing() const { return passing_; }
  void forget_errors() { passing_ = false; }
  void disconnect() { connection_.reset(); }

 private:
  Result<> connect();
  Result<std::vector<db::ServerRows>> exec(std::string_view purpose, const std::string& sql);
  Result<db::ServerRows> query(std::string_view purpose, const std::string& sql,
                               std::span<const db::ServerConnection::Value> values = {});
  Error note(Error error);
  Nanos now_from(std::int64_t server_ns) const { return now_ ? now_() : Nanos{server_ns}; }
  std::optional<std::string> test_now() const;
  HeldLease held_from(const db::ServerRows& rows) const;

  std::string url_;
  std::function<Nanos()> now_;
  std::optional<db::ServerConnection> connection_;
  bool passing_ = false;
};

}  // namespace amdahl::ledger::postgres
