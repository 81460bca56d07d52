// signals.h: turns signals sent to us while a job runs into bytes to poll for.
#pragma once

#include <vector>

#include "os/fd.h"

namespace amdahl::observe {

// During its lifetime SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are collected instead of
// handled, in whichever thread they arrive, and SIGPIPE is ignored. Ignored signals stay ignored
// (nohup). At most one object per process.
class SignalRelay {
 public:
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  int fd() const { return read_.get(); }  // Readable if signals arrived.
  std::vector<int> take();

 private:
  struct Saved;
  os::Fd read_{-1};
  os::Fd write_{-1};
  std::vector<Saved> saved_;
};

}  // namespace amdahl::observe
