// random_program.h: a random program of a chosen kind, from a seed.
#pragma once

#include "profile/testing/program.h"

namespace amdahl::profile {

struct ProgramKind {
  unsigned seed = 1;
  int ranks = 1;
  bool helper = false;  // A second thread that the first waits for, like autograd's.
  bool steps = false;
  int full_queues = 0;  // Bursts of launches that fill a queue.
};

Program random_program(const ProgramKind& kind);

}  // namespace amdahl::profile
