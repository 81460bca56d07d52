#include <filesystem>

#include <fmt/core.h>

#include "ledger/postgres/store.h"
#include "os/host.h"

namespace amdahl::ledger::postgres {
namespace {

constexpr int kTries = 5;  // Of a lease that changes hands while it is asked for.
constexpr int kNonceDigits = 16;
constexpr Nanos kToRelease = std::chrono::seconds(1);

// Process numbers mean nothing in another boot or in another container.
std::string this_place() {
  std::error_code failed;
  const std::string space = std::filesystem::read_symlink("/proc/self/ns/pid", failed).string();
  const std::string boot = os::boot_id();
  return failed || boot.empty() ? "" : boot + " " + space;
}

bool is_of_the_dead(const HeldLease& held, const Claim& claim) {
  return !claim.place.empty() && held.place == claim.place && held.info.host == claim.host &&
         sqlite::is_dead(held.info.holder);
}

Result<LeaseInfo> take(Server& server, Claim claim) {
  for (int i = 0; i < kTries; ++i) {
    if (auto taken = TRY(server.take_lease(claim))) return *std::move(taken);
    const auto held = TRY(server.lease());
    if (!held || held->info.holder.empty()) continue;
    // An earlier try took it, and its answer was lost.
    if (held->nonce == claim.nonce) return held->info;
    if (!is_of_the_dead(*held, claim)) {
      return Error{Error::Kind::kBusy, sqlite::describe_holder(held->info, held->now)};
    }
    claim.instead_of = held->info.token;
  }
  return Error{Error::Kind::kBusy, "others take the lease and release it again: try again"};
}

}  // namespace

Result<LeaseInfo> Store::take_lease(const std::string& holder, const std::string& host,
                                    Nanos for_how_long) {
  if (holder.empty()) return bad_input("a lease needs a holder");
  const Claim claim{holder, host, this_place(), os::random_hex(kNonceDigits), for_how_long, 0};
  LeaseInfo info;
  const auto once = [&]() -> Result<> {
    TRY(prepare());
    info = TRY(take(server_, claim));
    return catch_up();
  };
  TRY(patiently("take the lease", place_.wait, once));
  away_.clear();
  return info;
}

// Waits no longer than the lease lasts.
Result<> Store::renew_lease(std::int64_t token, Nanos for_how_long) {
  return patiently("renew the lease", for_how_long, [&]() -> Result<> {
    TRY(prepare());
    if (TRY(server_.renew_lease(token, for_how_long))) return Ok{};
    const auto held = TRY(server_.lease());
    if (!held) return Error{Error::Kind::kBusy, "the lease was never taken"};
    if (held->info.token == token) {
      return Error{Error::Kind::kBusy, "the lease was released: take it again"};
    }
    return Error{Error::Kind::kBusy,
                 held->info.holder.empty()
                     ? "the lease was lost: another cycle has taken it"
                     : "the lease was lost: " + sqlite::describe_holder(held->info, held->now)};
  });
}

// A server that is away is not waited for: the lease expires.
Result<> Store::release_lease(std::int64_t token) {
  return patiently("release the lease", kToRelease, [&] { return server_.release_lease(token); });
}

Result<std::optional<LeaseInfo>> Store::lease() {
  server_.forget_errors();
  TRY(prepare());
  const auto held = TRY(server_.lease());
  if (!held || held->info.holder.empty()) return std::optional<LeaseInfo>{};
  return std::optional<LeaseInfo>{held->info};
}

}  // namespace amdahl::ledger::postgres
