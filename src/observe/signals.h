// signals.h: the signals sent to us while a job runs, as bytes to poll for.
#pragma once

#include <vector>

#include "os/fd.h"

namespace amdahl::observe {

// While it lives, SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are collected instead of acting, in
// whichever thread they arrive; a broken pipe is an error of write, not a death. Signals that were
// ignored stay so (nohup). One at a time in a process.
class SignalRelay {
 public:
  SignalRelay();
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  int fd() const { return read_.get(); }  // Readable when there are some.
  std::vector<int> take();

 private:
  struct Saved;
  os::Fd read_{-1};
  os::Fd write_{-1};
  std::vector<Saved> saved_;
};

}  // namespace amdahl::observe
