// pump.h: bytes of an input, unpacked, block by block; in a thread of its own if that is allowed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/unpack.h"
#include "scan/drive.h"

namespace amdahl::scan {

class Pump {
 public:
  struct Block {
    std::string_view bytes;    // Until the next call. May be empty.
    std::uint64_t packed = 0;  // Bytes of the input that it is made of.
    bool is_last = false;
    bool is_truncated = false;  // The input ends in the middle.
    std::string error;          // Why it ends here; with is_last alone.
  };
  struct Options {
    bool in_thread = false;
    const std::atomic<bool>* stop = nullptr;  // Set: ends soon.
  };

  // `first`: bytes that were read from the stream before. `stream` must outlive this.
  static std::unique_ptr<Pump> make(ByteStream& stream, fleet::Packing packing, std::string first,
                                    Options options);
  virtual ~Pump() = default;
  virtual Block next() = 0;
};

}  // namespace amdahl::scan
