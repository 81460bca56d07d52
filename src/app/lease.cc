#include "app/lease.h"

#include <fmt/core.h>
#include <unistd.h>

#include "app/store.h"
#include "os/host.h"

namespace amdahl::app {

Result<std::unique_ptr<Lease>> Lease::take(Context& context) {
  const Nanos length = from_seconds(context.config.lease_s);
  const ledger::LeaseInfo info =
      TRY(context.ledger->take_lease(fmt::format("pid {}", ::getpid()), os::host_name(), length));
  return std::unique_ptr<Lease>(new Lease(context, info.token));
}

Lease::Lease(Context& context, std::int64_t token) : ledger_{*context.ledger}, token_{token} {
  renewer_ = std::thread([this, config = context.config] { renew_until_told(config); });
}

// A handle of its own, since handles are not shared between threads; opened when it is needed,
// which most cycles end before.
void Lease::renew_until_told(const Config& config) {
  std::unique_ptr<ledger::Ledger> ledger;
  const Nanos length = from_seconds(config.lease_s);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, length / 3, [this] { return done_; })) {
    if (!ledger) {
      if (auto opened = open_ledger(config, false)) ledger = *std::move(opened);
    }
    // A renewal that fails is noticed where it matters: the next append is refused.
    if (ledger) static_cast<void>(ledger->renew_lease(token_, length));
  }
}

Lease::~Lease() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  renewer_.join();
  static_cast<void>(ledger_.release_lease(token_));
}

}  // namespace amdahl::app
