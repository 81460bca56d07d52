// stream.h: a file, or standard input, read in pieces from any place on.
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
  Nanos changed{};       // Last time its content did.
  bool regular = false;  // Neither a pipe nor a folder.
};

class Stream {
 public:
  static Result<Stream> open(const std::string& path);  // "-": standard input.

  FileFacts facts() const;
  Result<> seek(std::uint64_t offset);
  // How many bytes were read into `room`; 0 at the end. A signal ends the wait for a pipe.
  Result<std::size_t> read(std::span<char> room);

 private:
  Stream(Fd fd, std::string path, bool borrowed)
      : fd_{std::move(fd)}, path_{std::move(path)}, borrowed_{borrowed} {}
  int number() const { return borrowed_ ? 0 : fd_.get(); }

  Fd fd_;
  std::string path_;
  bool borrowed_;  // Standard input is not ours to close.
};

// A file that grows at its end and takes its name only when it is complete.
class Growing {
 public:
  static Result<Growing> make(const std::string& path);  // Beside it: PATH.part.
  Growing(Growing&&) noexcept = default;
  ~Growing();  // Removes what was not kept.

  Result<> append(std::string_view bytes);
  Result<> keep();  // Synced and renamed.

 private:
  Growing(Fd fd, std::string path) : fd_{std::move(fd)}, path_{std::move(path)} {}
  static constexpr std::int64_t kWriteBehind = 4 << 20;
  Fd fd_;
  std::string path_;
  std::int64_t size_ = 0;
  std::int64_t begun_ = 0;  // So much of it the disk was asked to write.
  bool kept_ = false;
};

}  // namespace amdahl::os
