#include "observe/tee.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

namespace amdahl::observe {
namespace {

Error cannot_write(const std::string& path, int error) {
  return external(fmt::format("{}: {}", path, std::system_category().message(error)));
}

// 0, or the errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (wrote < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

}  // namespace

Result<Tee> Tee::make(const std::string& path, int copy_to) {
  os::Fd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)};
  if (file.get() < 0) return cannot_write(path, errno);
  if (copy_to < 0) return Tee{path, os::Fd{-1}, std::move(file), os::Fd{-1}, -1};
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_write("a pipe", errno);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Tee{path, std::move(file), os::Fd{ends[1]}, os::Fd{ends[0]}, copy_to};
}

Result<> Tee::pump() {
  std::array<char, 65536> bytes{};
  while (read_.get() >= 0) {
    const ssize_t got = ::read(read_.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Ok{};
    if (got == 0) {
      read_ = os::Fd{-1};
      return Ok{};
    }
    const std::string_view piece(bytes.data(), static_cast<std::size_t>(got));
    if (copy_to_ >= 0 && write_all(copy_to_, piece) != 0) copy_to_ = -1;
    if (const int error = write_all(file_.get(), piece)) return cannot_write(path_, error);
  }
  return Ok{};
}

}  // namespace amdahl::observe
