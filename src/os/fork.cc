#include "os/fork.h"

#include <algorithm>
#include <cerrno>

#include <unistd.h>

#include "os/clock.h"

namespace amdahl::os {

using namespace std::chrono_literals;

pid_t fork_with_retries(Nanos patience) {
  Nanos pause = 1ms;
  for (Nanos waited{};; waited += pause, pause = std::min<Nanos>(2 * pause, 500ms)) {
    const pid_t pid = ::fork();
    if (pid >= 0 || errno != EAGAIN || waited >= patience) return pid;
    real_clock().sleep(pause);
  }
}

}  // namespace amdahl::os
