// unpack.h: gzip and zstd undone while the bytes come, so that no input is held whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace amdahl::bytes {

enum class Packing : std::uint8_t { kNone, kGzip, kZstd };
std::string_view name(Packing packing);  // "plain", "gzip", "zstd".

// By the magic number; `head` needs four bytes.
Packing packing_of(std::string_view head);

// Several members one after the other are one stream, as cat(1) makes them; zeros after the last
// member are padding. What was whole before damage has been given to `sink`.
class Unpacker {
 public:
  using Sink = std::function<Result<>(std::string_view bytes)>;  // Bytes live for the call.

  static std::unique_ptr<Unpacker> make(Packing packing);
  virtual ~Unpacker() = default;

  // An error of `sink` ends it and is given back. kBadInput: "byte 812: gzip: ...".
  Result<> feed(std::string_view bytes, const Sink& sink);
  // One step of that: gives at most 256 KiB and says how many bytes it used. A kilobyte may hold
  // gigabytes, so who keeps what comes goes by steps.
  virtual Result<std::size_t> step(std::string_view bytes, const Sink& sink) = 0;
  virtual bool has_more() const = 0;  // There is more to give, though all bytes are used.
  // No more bytes come. Whether the input was whole: false if it ends in the middle.
  virtual bool is_whole() const = 0;
};

}  // namespace amdahl::bytes
