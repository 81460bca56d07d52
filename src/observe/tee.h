// tee.h: a job's output into a file and, at the same time, to a descriptor of ours.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace amdahl::observe {

class Tee {
 public:
  // Makes the file; `copy_to` is -1 for "into the file alone", which the job then writes itself.
  static Result<Tee> make(const std::string& path, int copy_to);

  int child_end() const { return child_.get(); }
  void started() { child_ = os::Fd{-1}; }      // The job has it now.
  int poll_fd() const { return read_.get(); }  // -1 if there is nothing to pump.
  // Passes on what is there now. Fails if the file cannot take it (a full disk); a reader of ours
  // that went away is no failure.
  Result<> pump();

 private:
  Tee(std::string path, os::Fd file, os::Fd child, os::Fd read, int copy_to)
      : path_{std::move(path)},
        file_{std::move(file)},
        child_{std::move(child)},
        read_{std::move(read)},
        copy_to_{copy_to} {}

  std::string path_;
  os::Fd file_;
  os::Fd child_;
  os::Fd read_;
  int copy_to_;
};

}  // namespace amdahl::observe
