#include "os/lock.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace amdahl::os {
namespace {

// The first byte represents the whole file. An open-file-description lock, unlike flock(2), can be
// queried without being taken, so that a query never blocks a taker.
struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return lock;
}

}  // namespace

std::optional<FileLock> FileLock::try_take(const std::string& path) {
  Fd fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (fd.get() < 0) return std::nullopt;
  struct flock lock = whole_file();
  if (::fcntl(fd.get(), F_OFD_SETLK, &lock) != 0) return std::nullopt;
  return FileLock{std::move(fd)};
}

bool FileLock::is_held(const std::string& path) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (fd.get() < 0) return false;
  struct flock lock = whole_file();
  if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) return false;
  return lock.l_type != F_UNLCK;
}

}  // namespace amdahl::os
