// pump.h: reads and unpacks an input block by block, optionally in its own thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "bytes/unpack.h"

namespace amdahl::bytes {

// Reads into `room` and returns the number of bytes; 0 only at the end. May be called from another
// thread than the one that created it, but not concurrently.
using Read = std::function<Result<std::size_t>(std::span<char> room)>;

// The first `most` bytes of an input; fewer only if the input is shorter.
Result<std::string> read_first(const Read& read, std::size_t most);

// The same bytes unpacked, up to `most`. Fails only if not a single byte can be unpacked.
Result<std::string> unpack_first(std::string_view first, std::size_t most);

class Pump {
 public:
  struct Block {
    std::string_view bytes{};   // Valid until the next call. 1 MiB; less only at the end.
    std::uint64_t packed = 0;   // Bytes of packed input in this block.
    bool is_last = false;       // next() must not be called again.
    bool is_truncated = false;  // Packed input ends in the middle; only with is_last.
    // Why reading stopped; only with is_last. Earlier bytes are valid.
    std::optional<Error> error{};
  };

  struct Options {
    Packing packing = Packing::kNone;
    std::string first{};     // Bytes already read from the input.
    bool in_thread = false;  // Read and unpack ahead in a thread.
  };

  static std::unique_ptr<Pump> make(Read read, Options options);
  virtual ~Pump() = default;
  virtual Block next() = 0;
};

}  // namespace amdahl::bytes
