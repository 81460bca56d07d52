#include "os/left.h"

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fd.h"

namespace amdahl::os {
namespace {

constexpr std::size_t kPieceOfLeft = 64 * 1024;

Error why_not_read(const std::string& path, int error) {
  if (error == ENOENT) return {Error::Kind::kNotFound, path + ": no such file"};
  if (error == ELOOP) return external(path + ": not a plain file");
  return external(fmt::format("{}: {}", path, std::system_category().message(error)));
}

}  // namespace

bool is_plain(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

Result<std::string> read_left(const std::string& path, std::size_t most) {
  const Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)};
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return why_not_read(path, errno);
  if (!S_ISREG(info.st_mode)) return why_not_read(path, ELOOP);
  std::string bytes;
  std::array<char, kPieceOfLeft> piece{};
  while (true) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return why_not_read(path, errno);
    if (got == 0) return bytes;
    bytes.append(piece.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most) return external(fmt::format("{}: longer than {} bytes", path, most));
  }
}

}  // namespace amdahl::os
