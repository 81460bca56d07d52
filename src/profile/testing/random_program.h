// random_program.h: a program from a seed, of a kind that a test chooses.
#pragma once

#include "profile/testing/program.h"

namespace amdahl::profile {

struct ProgramKind {
  unsigned seed = 1;
  int ranks = 1;
  bool helper = false;  // A second thread that the first one waits for, as of autograd.
  bool steps = false;
  int full_queues = 0;  // Bursts of launches that fill a queue.
};

Program random_program(const ProgramKind& kind);

}  // namespace amdahl::profile
