// fork.h: fork that waits a while when the machine has no process left to give.
#pragma once

#include <sys/types.h>

#include "base/units.h"

namespace amdahl::os {

// As fork(2). A table of processes that is full for a moment (EAGAIN, a fork storm elsewhere) is
// asked again, with growing pauses, until `patience` is over. -1 leaves the reason in errno.
pid_t fork_with_retries(Nanos patience = std::chrono::seconds{10});

}  // namespace amdahl::os
