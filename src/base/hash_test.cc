#include "base/hash.h"

#include <gtest/gtest.h>

namespace amdahl {
namespace {

TEST(Hash, KnownAnswers) {  // FIPS 180-2, appendix B.
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, InPieces) {
  Sha256 hash;
  hash.update("a");
  Sha256 moved = std::move(hash);
  moved.update("");
  moved.update("bc");
  EXPECT_EQ(moved.finish(), sha256("abc"));
}

}  // namespace
}  // namespace amdahl
