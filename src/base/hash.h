// hash.h: SHA-256, for digests, keys, chains and coins.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace amdahl {

using Digest = std::array<std::uint8_t, 32>;

// Feed bytes in chunks, then call finish() once. For files too large for memory.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::string_view bytes);
  Digest finish();  // The object must not be used afterwards.

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Digest sha256(std::string_view bytes);
std::string hex(const Digest& digest);
std::string sha256_hex(std::string_view bytes);

}  // namespace amdahl
