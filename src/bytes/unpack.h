// unpack.h: streaming decompression of gzip and zstd.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace amdahl::bytes {

enum class Packing : std::uint8_t { kNone, kGzip, kZstd };
std::string_view name(Packing packing);  // "plain", "gzip", "zstd".

// By magic number; `head` needs four bytes.
Packing packing_of(std::string_view head);

// Concatenated members are one stream, as with cat(1); zeros after the last member are padding. On
// damaged input, all data before the damage has been passed to `sink`.
class Unpacker {
 public:
  using Sink = std::function<Result<>(std::string_view bytes)>;  // Bytes are valid during the call.

  static std::unique_ptr<Unpacker> make(Packing packing);
  virtual ~Unpacker() = default;

  // An error of `sink` stops it and is returned. kBadInput: "byte 812: gzip: ...".
  Result<> feed(std::string_view bytes, const Sink& sink);
  // One step of feed(): produces at most 256 KiB and returns how many input bytes it consumed. A
  // kilobyte may unpack to gigabytes, so callers that keep the output should use steps.
  virtual Result<std::size_t> step(std::string_view bytes, const Sink& sink) = 0;
  virtual bool has_more() const = 0;  // More output is available though all input is consumed.
  // Call at the end of the input: false if it was truncated.
  virtual bool is_whole() const = 0;
};

}  // namespace amdahl::bytes
