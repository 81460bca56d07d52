// lock.h: a file lock that the kernel lets go of when its holder dies.
#pragma once

#include <optional>
#include <string>

#include "os/fd.h"

namespace amdahl::os {

// Holds an open-file-description lock (fcntl(2), F_OFD_SETLK) on a file while it lives. Not passed
// on to programs we start; a fork that never calls exec shares it.
class FileLock {
 public:
  // Nothing if someone else holds it or the file cannot be made.
  static std::optional<FileLock> try_take(const std::string& path);
  // Whether someone holds it now. Takes nothing, so it never makes a try_take() fail.
  static bool is_held(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_{std::move(fd)} {}
  Fd fd_;
};

}  // namespace amdahl::os
