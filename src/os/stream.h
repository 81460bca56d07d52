// stream.h: reads a file or standard input in chunks from any offset; writes a file atomically.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "os/fd.h"

namespace amdahl::os {

struct FileFacts {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  Nanos changed{};       // Time of the last modification.
  bool regular = false;  // Neither a pipe nor a folder.
};

class Stream {
 public:
  static Result<Stream> open(const std::string& path);  // "-": standard input.

  FileFacts facts() const;
  Result<> seek(std::uint64_t offset);
  // Number of bytes read into `room`; 0 at the end. A signal interrupts waiting for a pipe.
  Result<std::size_t> read(std::span<char> room);

 private:
  Stream(Fd fd, std::string path, bool borrowed)
      : fd_{std::move(fd)}, path_{std::move(path)}, borrowed_{borrowed} {}
  int number() const { return borrowed_ ? 0 : fd_.get(); }

  Fd fd_;
  std::string path_;
  bool borrowed_;  // True for standard input, which we do not close.
};

// A file that is appended to under a temporary name and gets its own name when complete.
class Growing {
 public:
  static Result<Growing> make(const std::string& path);  // Writes to PATH.part.
  Growing(Growing&&) noexcept = default;
  ~Growing();  // Deletes the file unless keep() was called.

  Result<> append(std::string_view bytes);
  Result<> keep();  // Syncs and renames.

 private:
  Growing(Fd fd, std::string path) : fd_{std::move(fd)}, path_{std::move(path)} {}
  static constexpr std::int64_t kWriteBehind = 4 << 20;
  Fd fd_;
  std::string path_;
  std::int64_t size_ = 0;
  std::int64_t begun_ = 0;  // Bytes for which write-back was started.
  bool kept_ = false;
};

}  // namespace amdahl::os
