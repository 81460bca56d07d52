#include "os/reserve.h"

#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "os/fd.h"
#include "os/files.h"

namespace amdahl::os {
namespace {

// Only what overwrites blocks that are there needs no new ones.
bool overwrite(const std::string& space, const std::string& path, std::string_view bytes) {
  const Fd fd{::open(space.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return false;
  if (static_cast<std::uint64_t>(info.st_size) < bytes.size()) return false;
  const auto length = static_cast<ssize_t>(bytes.size());
  if (::pwrite(fd.get(), bytes.data(), bytes.size(), 0) != length) return false;
  if (::ftruncate(fd.get(), length) != 0 || ::fsync(fd.get()) != 0) return false;
  return ::rename(space.c_str(), path.c_str()) == 0;
}

}  // namespace

// Zeros that are written, and not a hole: a hole has no blocks.
Result<> take_space(const std::string& space, std::size_t bytes) {
  return write_file(space, std::string(bytes, '\0'));
}

Result<> write_in_space(const std::string& space, const std::string& path, std::string_view bytes) {
  if (overwrite(space, path, bytes)) return Ok{};
  free_space(space);
  return write_file(path, bytes);
}

void free_space(const std::string& space) { ::unlink(space.c_str()); }

bool is_disk_full(const std::string& path) {
  constexpr std::uint64_t kHardlyAny = 64 * 1024;
  struct statvfs disk {};
  return ::statvfs(path.c_str(), &disk) == 0 &&
         std::uint64_t{disk.f_bavail} * disk.f_frsize < kHardlyAny;
}

}  // namespace amdahl::os
