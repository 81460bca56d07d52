#include "base/hash.h"

#include <openssl/evp.h>

#include "base/check.h"

namespace amdahl {
namespace {

// Fetched once. EVP_sha256() makes every digest search OpenSSL's providers under a lock, which
// costs more than hashing a short text.
const EVP_MD* algorithm() {
  static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  CHECK(fetched != nullptr);
  return fetched;
}

}  // namespace

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  Context() { CHECK(evp != nullptr && EVP_DigestInit_ex(evp, algorithm(), nullptr) == 1); }
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
  Digest digest{};
  CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm(), nullptr) == 1);
  return digest;
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
