// pump.h: the bytes of an input, unpacked, block by block; in a thread of its own if allowed.
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

// Where bytes come from: how many were put into `room`, 0 only at the end. May be called from
// another thread than the one that made it, but never from two at once.
using Read = std::function<Result<std::size_t>(std::span<char> room)>;

// The first bytes of an input, as they come: `most` of them, fewer only if the input is shorter.
Result<std::string> read_first(const Read& read, std::size_t most);

// The same bytes unpacked, up to `most`. An error only if not even one can be unpacked.
Result<std::string> unpack_first(std::string_view first, std::size_t most);

class Pump {
 public:
  struct Block {
    std::string_view bytes{};      // Until the next call. A megabyte; less only at the end.
    std::uint64_t packed = 0;      // Bytes of the input that it is made of.
    bool is_last = false;          // No call may follow.
    bool is_truncated = false;     // A packed input that ends in the middle; with is_last alone.
    std::optional<Error> error{};  // Why it ends here; with is_last alone. What is before is whole.
  };

  struct Options {
    Packing packing = Packing::kNone;
    std::string first{};     // Bytes that were read from the input before.
    bool in_thread = false;  // Read and unpack ahead, in a thread that ends with this.
  };

  static std::unique_ptr<Pump> make(Read read, Options options);
  virtual ~Pump() = default;
  virtual Block next() = 0;
};

}  // namespace amdahl::bytes
