// drive.h: takes inputs of any kind, finds out what each is, and reads jobs before samples.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/intake.h"
#include "fleet/source.h"
#include "bytes/unpack.h"

namespace amdahl::scan {

// Bytes as they come, packed or not. Another thread than the one that made it may read it.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // At most into.size() bytes; 0 only at the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

struct Input {
  std::string name;  // For people: a path, a URL.
  std::function<Result<std::unique_ptr<ByteStream>>()> open;
  std::string source{};            // As typed after --source; empty: recognise it.
  fleet::ReaderOptions options{};  // `path` is set to `name` if empty.
  bool once = false;               // It can be opened but once (a pipe).
};

// What became of an input, for --explain-input.
struct InputRead {
  std::string name;
  std::string source;  // Empty: not recognised.
  bytes::Packing packing = bytes::Packing::kNone;
  std::uint64_t packed_bytes = 0;
  std::uint64_t bytes = 0;  // Unpacked.
  bool is_truncated = false;
  std::string error;  // Why it was not read, or not to its end; empty: it was.
};

struct Progress {
  std::string_view input;
  std::size_t index = 0;    // Of the input, in the order given.
  std::uint64_t bytes = 0;  // Of all inputs so far, as they lie on the disk.
};

struct DriveOptions {
  int threads =
      1;  // 1: all in the calling thread. Else reading and unpacking have one of their own.
  std::function<void(const Progress&)> progress{};  // Called from the calling thread, a block each.
  const std::atomic<bool>* stop = nullptr;          // Set: ends soon, with an error of kExternal.
  // Before the first byte of each input goes to its reader: for complaints that name it.
  std::function<void(const Input&)> begin{};
};

// What one input is, by its first bytes.
Result<fleet::Source> recognise(const Input& input, std::string_view head);

// Jobs first, then what gives both, then samples; within each in the order given. An input that
// cannot be read does not keep the others from it: its error is in its InputRead, and what it told
// before stays. An error only if it was stopped.
Result<std::vector<InputRead>> drive(std::span<const Input> inputs, fleet::Intake& intake,
                                     const DriveOptions& options = {});

}  // namespace amdahl::scan
