// tee.h: copies a job's output to a file and to a descriptor of ours.
#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace amdahl::observe {

class Tee {
 public:
  // Creates the file. With `copy_to` -1 the job writes the file itself.
  static Result<Tee> make(const std::string& path, int copy_to);

  int child_end() const { return child_.get(); }
  void started() { child_ = os::Fd{-1}; }      // Call when the job holds its end.
  int poll_fd() const { return read_.get(); }  // -1 if there is nothing to pump.
  // Copies what is available. Fails if the file cannot be written (disk full); a closed reader is
  // not a failure.
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
