#include "os/files.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "os/fd.h"
#include "os/private.h"

namespace amdahl::os {
namespace {

namespace fs = std::filesystem;

// Below malloc's threshold for mmap, which would cost a page fault every 4 KiB of every read.
constexpr std::size_t kBlock = 64 * 1024;

Error file_error(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
      return {Error::Kind::kNotFound, path + ": no such file"};
    case ENOSPC:
    case EDQUOT:
      return external(path + ": no space left on the disk: free some and try again");
    default:
      return external(fmt::format("{}: {}", path, std::system_category().message(error)));
  }
}

Result<Fd> open_to_read(const std::string& path) {
  Fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (fd.get() < 0) return file_error(path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return file_error(path, errno);
  if (S_ISDIR(info.st_mode)) return file_error(path, EISDIR);
  return fd;
}

// Calls `use` with each piece up to the end of the file.
template <class Use>
Result<> each_block(const std::string& path, int fd, Use use) {
  std::string block(kBlock, '\0');
  while (true) {
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, errno);
    if (got == 0) return Ok{};
    use(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
  }
}

// 0, or the errno of what failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

constexpr mode_t kOwner = 0600;
constexpr mode_t kPermissions = 0777;

// A mode that was asked for is given whatever the umask, which is for those that were not.
int write_new(const std::string& path, std::string_view bytes, std::optional<mode_t> mode) {
  constexpr mode_t kAll = 0666;
  const mode_t at_first = mode ? *mode & kOwner : kAll;
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, at_first)};
  if (fd.get() < 0) return errno;
  if (mode && *mode != at_first && ::fchmod(fd.get(), *mode) != 0) return errno;
  if (const int error = write_all(fd.get(), bytes)) return error;
  return ::fsync(fd.get()) == 0 ? 0 : errno;
}

// A pipe that nobody reads is an error: opening it would wait for ever.
int write_into(const std::string& path, std::string_view bytes) {
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)};
  if (fd.get() < 0) return errno;
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) return errno;
  return write_all(fd.get(), bytes);
}

// So that the new name survives a power cut. Some file systems cannot; the bytes are safe anyway.
void sync_folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  const Fd fd{::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (fd.get() >= 0) ::fsync(fd.get());
}

// An existing file keeps its mode; a new one gets `mode`, or that of the umask.
Result<> replace_file(const std::string& path, std::string_view bytes, std::optional<mode_t> mode) {
  static std::atomic<unsigned> count{0};
  struct stat present {};
  const bool is_there = ::stat(path.c_str(), &present) == 0;
  if (is_there && !S_ISREG(present.st_mode) && !S_ISDIR(present.st_mode)) {
    const int error = write_into(path, bytes);
    return error == 0 ? Result<>(Ok{}) : file_error(path, error);
  }
  std::error_code unresolved;
  const fs::path real = is_there ? fs::canonical(path, unresolved) : fs::path(path);
  const std::string target = unresolved ? path : real.string();
  const std::string beside = fmt::format("{}.tmp-{}-{}", target, ::getpid(), ++count);
  ::unlink(beside.c_str());  // A dead process may have had our number.
  if (is_there) mode = present.st_mode & kPermissions;
  int error = write_new(beside, bytes, mode);
  if (error == 0 && ::rename(beside.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(beside.c_str());
    if (error == ENOENT) return external(path + ": the folder does not exist");
    return file_error(path, error);
  }
  sync_folder_of(target);
  return Ok{};
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Fd fd = TRY(open_to_read(path));
  std::string bytes;
  TRY(each_block(path, fd.get(), [&](std::string_view block) { bytes += block; }));
  return bytes;
}

Result<std::string> read_head(const std::string& path, std::size_t bytes) {
  const Fd fd = TRY(open_to_read(path));
  std::string head;
  while (head.size() < bytes) {
    std::string block(std::min(kBlock, bytes - head.size()), '\0');
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, errno);
    if (got == 0) break;
    head.append(block, 0, static_cast<std::size_t>(got));
  }
  return head;
}

Result<std::string> read_tail(const std::string& path, std::size_t bytes) {
  const Fd fd = TRY(open_to_read(path));
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(bytes));
  if (size < 0 || ::lseek(fd.get(), from, SEEK_SET) < 0) return file_error(path, errno);
  std::string tail;
  TRY(each_block(path, fd.get(), [&](std::string_view block) { tail += block; }));
  // The file may have grown while we read.
  if (tail.size() > bytes) tail.erase(0, tail.size() - bytes);
  return tail;
}

Result<> write_file(const std::string& path, std::string_view bytes) {
  return replace_file(path, bytes, kOwner);
}

Result<> write_shared(const std::string& path, std::string_view bytes) {
  return replace_file(path, bytes, std::nullopt);
}

Result<> write_like(const std::string& source, const std::string& path, std::string_view bytes) {
  struct stat info {};
  if (::stat(source.c_str(), &info) != 0) return file_error(source, errno);
  ::unlink(path.c_str());  // An existing file may have wider permissions.
  return replace_file(path, bytes, info.st_mode & kPermissions);
}

Result<> make_private_file(const std::string& path) {
  const Fd fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwner)};
  return fd.get() < 0 ? Result<>(file_error(path, errno)) : Ok{};
}

bool is_open_to_others(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

Result<> close_to_others(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || info.st_uid != ::geteuid()) return Ok{};
  const mode_t closed = info.st_mode & S_IRWXU;
  if (closed == (info.st_mode & kPermissions)) return Ok{};
  return ::chmod(path.c_str(), closed) == 0 ? Result<>(Ok{}) : file_error(path, errno);
}

Result<> make_dirs(const std::string& path) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return Ok{};
  const std::string above = fs::path(folder).parent_path().string();
  if (!above.empty()) TRY(make_dirs(above));
  if (::mkdir(folder.c_str(), S_IRWXU) == 0) return Ok{};
  const int failed = errno == EEXIST ? ENOTDIR : errno;
  // Another process may have made it at the same time.
  if (fs::is_directory(folder, error)) return Ok{};
  return file_error(path, failed);
}

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<std::string> list(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> sha256_of_file(const std::string& path) {
  const Fd fd = TRY(open_to_read(path));
  Sha256 hash;
  TRY(each_block(path, fd.get(), [&](std::string_view block) { hash.update(block); }));
  return hex(hash.finish());
}

std::vector<std::string> glob(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  // glob(3) sorts by locale; a fingerprint must not depend on it.
  std::sort(paths.begin(), paths.end());
  return paths;
}

Result<std::string> working_folder() {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (!error) return here.string();
  return Error{Error::Kind::kNotFound,
               fmt::format("the current folder was deleted ({}); change to another folder",
                           error.message())};
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

}  // namespace amdahl::os
