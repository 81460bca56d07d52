// lock.h: a file lock that the kernel lets go of when its holder dies.
#pragma once

#include <optional>
#include <string>

#include "os/fd.h"

namespace amdahl::os {

// Holds flock(2) on a file while it lives.
class FileLock {
 public:
  // Nothing if someone else holds it or the file cannot be made.
  static std::optional<FileLock> try_take(const std::string& path);
  // Whether someone holds it now.
  static bool is_held(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_{std::move(fd)} {}
  Fd fd_;
};

}  // namespace amdahl::os
