#include "bytes/pump.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <zstd.h>

namespace amdahl::bytes {
namespace {

struct FreePacker {
  void operator()(ZSTD_CCtx* packer) const { ZSTD_freeCCtx(packer); }
};

std::string packed_of(const std::string& text) {
  const std::unique_ptr<ZSTD_CCtx, FreePacker> packer(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(packer.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(
      ZSTD_compress2(packer.get(), packed.data(), packed.size(), text.data(), text.size()));
  return packed;
}

// Gives a text in small pieces, and then fails or ends.
Read reading(std::string text, std::optional<Error> then = {}) {
  return [text = std::move(text), then = std::move(then),
          at = std::size_t{0}](std::span<char> room) mutable -> Result<std::size_t> {
    if (at == text.size() && then) return *then;
    const std::size_t got = text.copy(room.data(), std::min<std::size_t>(room.size(), 70'000), at);
    at += got;
    return got;
  };
}

struct Pumped {
  std::string text;
  std::uint64_t packed = 0;
  std::size_t largest = 0;
  Pump::Block last;
};

Pumped pump_all(Read read, Pump::Options options) {
  const auto pump = Pump::make(std::move(read), std::move(options));
  Pumped all;
  while (!all.last.is_last) {
    all.last = pump->next();
    all.text += all.last.bytes;
    all.packed += all.last.packed;
    all.largest = std::max(all.largest, all.last.bytes.size());
  }
  return all;
}

class PumpTest : public testing::TestWithParam<bool> {
 protected:
  PumpTest() {
    for (int i = 0; i < 400'000; ++i) text_ += std::to_string(i * 7919 % 65537) + "\n";
  }
  std::string text_;
};
INSTANTIATE_TEST_SUITE_P(InThisThreadAndApart, PumpTest, testing::Bool());

TEST_P(PumpTest, GivesAllBytesInBlocks) {
  const std::string packed = packed_of(text_);
  for (const bool is_packed : {false, true}) {
    SCOPED_TRACE(is_packed);
    const std::string input = is_packed ? packed : text_;
    const Packing packing = packing_of(input);
    const Read read = reading(input);
    const std::string first = *read_first(read, 100'000);
    EXPECT_EQ(first, input.substr(0, 100'000)) << "though it comes in smaller pieces";
    EXPECT_EQ(*unpack_first(first, 5000), text_.substr(0, 5000));
    const Pumped all = pump_all(read, {packing, first, GetParam()});
    EXPECT_EQ(all.text, text_);
    EXPECT_EQ(all.packed, input.size());
    EXPECT_LT(all.largest, std::size_t{2} << 20) << "however much a few bytes hold";
    EXPECT_FALSE(all.last.is_truncated);
    EXPECT_FALSE(all.last.error);
  }
}

TEST_P(PumpTest, WhatCameBeforeTheDamageIsGiven) {
  const std::string packed = packed_of(text_);
  const Pumped cut =
      pump_all(reading(packed.substr(0, packed.size() / 2)), {Packing::kZstd, {}, GetParam()});
  EXPECT_TRUE(cut.last.is_truncated);
  EXPECT_FALSE(cut.last.error);
  EXPECT_GT(cut.text.size(), text_.size() / 4);
  EXPECT_TRUE(text_.starts_with(cut.text));

  std::string bad = packed;
  bad.replace(packed.size() / 2, 64, 64, '\xEE');
  const Pumped damaged = pump_all(reading(bad), {Packing::kZstd, {}, GetParam()});
  ASSERT_TRUE(damaged.last.error);
  EXPECT_EQ(damaged.last.error->kind, Error::Kind::kBadInput);

  const Pumped failed =
      pump_all(reading(text_, external("the disk is gone")), {Packing::kNone, {}, GetParam()});
  ASSERT_TRUE(failed.last.error);
  EXPECT_EQ(failed.last.error->kind, Error::Kind::kExternal);
  EXPECT_EQ(failed.text, text_);
}

TEST_P(PumpTest, MayEndBeforeItsInput) {
  const auto pump = Pump::make(reading(text_), {Packing::kNone, {}, GetParam()});
  EXPECT_FALSE(pump->next().is_last);
}

TEST(UnpackFirst, SaysWhyNothingCanBeUnpacked) {
  EXPECT_EQ(*unpack_first("", 100), "");
  const auto bad = unpack_first("\x1f\x8b nonsense that goes on", 100);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, Error::Kind::kBadInput);
}

}  // namespace
}  // namespace amdahl::bytes
