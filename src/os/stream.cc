#include "os/stream.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

namespace amdahl::os {
namespace {

Error failed(const std::string& path, const char* what) {
  const auto kind = errno == ENOENT ? Error::Kind::kNotFound : Error::Kind::kExternal;
  return Error{kind, fmt::format("{}: cannot be {}: {}", path, what, std::strerror(errno))};
}

}  // namespace

Result<Stream> Stream::open(const std::string& path) {
  if (path == "-") return Stream(Fd(-1), "standard input", true);
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return failed(path, "read");
  ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
  return Stream(std::move(fd), path, false);
}

FileFacts Stream::facts() const {
  struct stat found {};
  if (::fstat(number(), &found) != 0) return {};
  return {static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino),
          static_cast<std::uint64_t>(found.st_size),
          std::chrono::seconds(found.st_mtim.tv_sec) + Nanos(found.st_mtim.tv_nsec),
          S_ISREG(found.st_mode)};
}

Result<> Stream::seek(std::uint64_t offset) {
  if (::lseek(number(), static_cast<off_t>(offset), SEEK_SET) < 0) return failed(path_, "read");
  return Ok{};
}

Result<std::size_t> Stream::read(std::span<char> room) {
  while (true) {
    const ssize_t n = ::read(number(), room.data(), room.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    // A read that waits for a pipe must be interrupted by ^C.
    const int why = errno;
    if (why == EINTR && facts().regular) continue;
    errno = why;
    return failed(path_, "read");
  }
}

Result<Growing> Growing::make(const std::string& path) {
  const std::string part = path + ".part";
  Fd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (fd.get() < 0) return failed(part, "written");
  return Growing(std::move(fd), path);
}

Growing::~Growing() {
  if (fd_.get() >= 0 && !kept_) ::unlink((path_ + ".part").c_str());
}

Result<> Growing::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path_ + ".part", "written");
    bytes.remove_prefix(static_cast<std::size_t>(n));
    size_ += n;
  }
  // The disk begins early, so that keeping it at the end is quick, even after ^C.
  if (size_ - begun_ >= kWriteBehind) {
    ::sync_file_range(fd_.get(), begun_, size_ - begun_, SYNC_FILE_RANGE_WRITE);
    begun_ = size_;
  }
  return Ok{};
}

Result<> Growing::keep() {
  if (::fsync(fd_.get()) != 0) return failed(path_ + ".part", "written");
  if (::rename((path_ + ".part").c_str(), path_.c_str()) != 0) return failed(path_, "written");
  kept_ = true;
  return Ok{};
}

}  // namespace amdahl::os
