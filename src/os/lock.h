// lock.h: a file lock that the kernel releases when its holder dies.
#pragma once

#include <optional>
#include <string>

#include "os/fd.h"

namespace amdahl::os {

// Holds an open-file-description lock (fcntl(2), F_OFD_SETLK) during its lifetime. Not inherited
// through exec; a fork without exec shares it.
class FileLock {
 public:
  // Nothing if the lock is held elsewhere or the file cannot be created.
  static std::optional<FileLock> try_take(const std::string& path);
  // Whether the lock is held now. Does not take it, so it never makes a try_take() fail.
  static bool is_held(const std::string& path);

 private:
  explicit FileLock(Fd fd) : fd_{std::move(fd)} {}
  Fd fd_;
};

}  // namespace amdahl::os
