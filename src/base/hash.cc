#include "base/hash.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace amdahl {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  Context() { CHECK(evp != nullptr && EVP_DigestInit_ex(evp, EVP_sha256(), nullptr) == 1); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }
};

Sha256::Sha256() : context_{std::make_unique<Context>()} {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
  Digest digest{};
  CHECK(EVP_DigestFinal_ex(context_->evp, digest.data(), nullptr) == 1);
  return digest;
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

}  // namespace amdahl
