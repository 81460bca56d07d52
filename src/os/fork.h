// fork.h: fork(2) that retries while the process table is full.
#pragma once

#include <sys/types.h>

#include "base/units.h"

namespace amdahl::os {

// Like fork(2), but retries EAGAIN with growing pauses until `patience` is used up. Returns -1
// with errno set on failure.
pid_t fork_with_retries(Nanos patience = std::chrono::seconds{10});

}  // namespace amdahl::os
