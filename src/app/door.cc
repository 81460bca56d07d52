#include "app/door.h"

#include "app/config.h"
#include "app/context.h"
#include "app/webhook.h"
#include "launch/launcher.h"
#include "launch/local/nodes.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/host.h"
#include "os/private.h"

namespace amdahl::app {

Nanos unix_now() { return os::real_clock().unix_time(); }
Nanos monotonic_now() { return os::real_clock().monotonic(); }

std::string user_or(const std::string& as) { return as.empty() ? os::user_name() : as; }

Result<> write_output(const std::string& path, std::string_view text) {
  return os::write_shared(os::absolute(path), text);
}

Result<> run_pair_in(const std::string& folder) { return launch::run_pair(folder); }

Result<> observe_node_in(const std::string& folder) { return launch::local::observe_node(folder); }

Result<> send_webhooks_in(const std::string& state_dir, const std::string& config) {
  const Config loaded = TRY(load_config({.config_file = config, .state_dir = state_dir}));
  Context context = TRY(open_context(loaded, false));
  // For about an hour: a server that restarts is told, one that is gone is given up.
  const os::RetryPolicy policy{.attempts = 20,
                               .first_wait = std::chrono::seconds(1),
                               .longest_wait = std::chrono::minutes(5),
                               .in_all = std::chrono::hours(1)};
  const auto sent = send_webhooks(context, policy, [] { return false; });
  if (!sent && sent.error().kind != Error::Kind::kBusy) return sent.error();
  return Ok{};
}

}  // namespace amdahl::app
