#include "app/door.h"

#include "launch/launcher.h"
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

}  // namespace amdahl::app
