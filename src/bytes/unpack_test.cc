#include "bytes/unpack.h"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

namespace amdahl::bytes {
namespace {

std::string gzip(const std::string& text) {
  std::string packed(text.size() + 1024, '\0');
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
  stream.avail_out = static_cast<std::uint32_t>(packed.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  packed.resize(packed.size() - stream.avail_out);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

struct Unpacked {
  std::string text;
  std::string error;
  bool is_whole = false;
};

Unpacked unpack(const std::string& packed, std::size_t piece = std::string::npos) {
  Unpacked result;
  const auto unpacker = Unpacker::make(packing_of(packed));
  for (std::size_t at = 0; at < packed.size(); at += std::min(piece, packed.size())) {
    const std::string some = packed.substr(at, piece);
    const auto done = unpacker->feed(some, [&](std::string_view bytes) -> Result<> {
      result.text += bytes;
      return Ok{};
    });
    if (!done) {
      result.error = done.error().text;
      return result;
    }
  }
  result.is_whole = unpacker->is_whole();
  return result;
}

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 60000; ++i) text += std::to_string(i * 7919 % 10007) + ",gpu001,0\n";
  return text;
}

TEST(Unpack, GivesBackWhatWasPacked) {
  const std::string text = sample_text();
  EXPECT_EQ(packing_of(text), Packing::kNone);
  EXPECT_EQ(packing_of(gzip(text)), Packing::kGzip);
  EXPECT_EQ(packing_of(zstd(text)), Packing::kZstd);
  for (const std::string& packed : {text, gzip(text), zstd(text)}) {
    for (const std::size_t piece : {std::string::npos, std::size_t{1000}, std::size_t{1}}) {
      const Unpacked got = unpack(packed, piece);
      EXPECT_EQ(got.error, "");
      EXPECT_TRUE(got.is_whole);
      EXPECT_TRUE(got.text == text);
    }
  }
}

TEST(Unpack, MembersOneAfterTheOther) {
  for (const auto pack : {gzip, zstd}) {
    const std::string packed = pack("one\n") + pack("") + pack("two\n") + pack(sample_text());
    for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{13}}) {
      const Unpacked got = unpack(packed, piece);
      EXPECT_EQ(got.error, "");
      EXPECT_TRUE(got.is_whole);
      EXPECT_TRUE(got.text == "one\ntwo\n" + sample_text());
    }
  }
}

TEST(Unpack, ZerosAfterTheEndArePadding) {
  const Unpacked got = unpack(gzip("one\n") + std::string(512, '\0'), 100);
  EXPECT_EQ(got.error, "");
  EXPECT_TRUE(got.is_whole);
  EXPECT_EQ(got.text, "one\n");
}

TEST(Unpack, TruncatedInputKeepsWhatWasWhole) {
  const std::string text = sample_text();
  for (const auto pack : {gzip, zstd}) {
    const std::string packed = pack(text);
    for (const std::size_t size : {packed.size() / 2, packed.size() - 1, std::size_t{12}}) {
      const Unpacked got = unpack(packed.substr(0, size), 4096);
      EXPECT_EQ(got.error, "");
      EXPECT_FALSE(got.is_whole);
      EXPECT_TRUE(text.starts_with(got.text));
    }
    EXPECT_GT(unpack(packed.substr(0, packed.size() - 1)).text.size(), text.size() / 2);
  }
}

TEST(Unpack, DamageIsSaidWithItsPlace) {
  std::string packed = gzip(sample_text());
  packed[packed.size() - 6] ^= 0x55;  // In the checksum.
  const Unpacked got = unpack(packed);
  EXPECT_TRUE(got.error.ends_with("gzip: checksum mismatch")) << got.error;
  EXPECT_TRUE(unpack(gzip("one\n") + "something else entirely").error.starts_with("byte "));
  std::string frames = zstd(sample_text());
  frames[frames.size() / 2] ^= 0x55;
  const Unpacked frame = unpack(frames);
  EXPECT_TRUE(!frame.error.empty() || !frame.is_whole || frame.text != sample_text());
}

// A few bytes that hold a great many come in steps, whoever keeps them in blocks.
TEST(Unpack, ABombIsGivenInSmallSteps) {
  const std::string text(std::size_t{64} << 20, '0');
  for (const std::string& packed : {gzip(text), zstd(text)}) {
    ASSERT_LT(packed.size(), text.size() / 100);
    const auto unpacker = Unpacker::make(packing_of(packed));
    std::string_view left = packed;
    std::size_t given = 0;
    while (!left.empty() || unpacker->has_more()) {
      std::size_t now = 0;
      const auto used = unpacker->step(left, [&](std::string_view bytes) -> Result<> {
        now += bytes.size();
        return Ok{};
      });
      ASSERT_TRUE(used) << used.error().text;
      ASSERT_LE(now, std::size_t{256} << 10);
      given += now;
      left.remove_prefix(*used);
    }
    EXPECT_EQ(given, text.size());
    EXPECT_TRUE(unpacker->is_whole());
  }
}

}  // namespace
}  // namespace amdahl::bytes
