#include "app/lease.h"

#include <fmt/core.h>
#include <unistd.h>

#include "os/host.h"

namespace amdahl::app {

Result<std::unique_ptr<Lease>> Lease::take(Context& context) {
  const Nanos length = from_seconds(context.config.lease_s);
  const ledger::LeaseInfo info =
      TRY(context.ledger->take_lease(fmt::format("pid {}", ::getpid()), os::host_name(), length));
  return std::unique_ptr<Lease>(new Lease(context.config, info.token));
}

Lease::Lease(const Config& config, std::int64_t token)
    : ledger_path_{config.state_dir + "/ledger.db"}, token_{token} {
  renewer_ = std::thread([this, config] { renew_until_told(config); });
}

// A handle of its own: SQLite connections are not shared between threads.
void Lease::renew_until_told(const Config& config) {
  auto ledger = ledger::open_sqlite(ledger_path_, {.create = false});
  const Nanos length = from_seconds(config.lease_s);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, length / 3, [this] { return done_; })) {
    // A renewal that fails is noticed where it matters: the next append is refused.
    if (ledger) static_cast<void>((*ledger)->renew_lease(token_, length));
  }
  if (ledger) static_cast<void>((*ledger)->release_lease(token_));
}

Lease::~Lease() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  renewer_.join();
}

}  // namespace amdahl::app
