#include "trace/kineto/frame.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trace/kineto/scan.h"
#include "trace/testing.h"

namespace amdahl::trace::kineto {
namespace {

TEST(Scan, BlocksAndBytesSayTheSame) {
  std::mt19937_64 random(7);
  constexpr std::string_view kAlphabet = "{}[]\"\\a,{}\"  ";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    const std::size_t length = random() % 400;
    while (text.size() < length) text.push_back(kAlphabet[random() % kAlphabet.size()]);
    Nesting fast{.depth = 2};
    Nesting slow{.depth = 2};
    const Scanned a = scan_events(text.data(), 0, text.size(), 2, fast);
    const Scanned b = scan_events_slowly(text.data(), 0, text.size(), 2, slow);
    ASSERT_EQ(a.after_last, b.after_last) << text;
    ASSERT_EQ(a.list_ended, b.list_ended) << text;
    ASSERT_EQ(a.stopped, b.stopped) << text;
    ASSERT_EQ(fast.depth, slow.depth) << text;
    ASSERT_EQ(fast.in_string, slow.in_string) << text;
    ASSERT_EQ(fast.escaped, slow.escaped) << text;
  }
}

struct Framed {
  std::string events;  // Of all pieces, with a bar between pieces.
  std::string header;
  bool truncated = false;
  std::uint64_t lost = 0;
  std::uint64_t runaway = 0;
};

Framed frame(const std::string& text, std::size_t piece, std::size_t at_once,
             std::size_t longest = 1 << 20) {
  Framer framer(bytes_in(text, at_once), {.piece = piece, .longest = longest, .header = 1 << 16});
  Framed framed;
  while (true) {
    Result<std::optional<Piece>> next = framer.next({});
    EXPECT_TRUE(next);
    const std::optional<Piece> got = *std::move(next);
    if (!got) break;
    const std::string bytes(got->buffer.bytes.get() + got->begin, got->end - got->begin);
    EXPECT_EQ(text.substr(got->offset, bytes.size()), bytes) << "the offset is that of the bytes";
    framed.events += bytes + "|";
  }
  EXPECT_EQ(framer.bytes(), text.size());
  framed.header = framer.header();
  framed.truncated = framer.truncated();
  framed.lost = framer.lost_bytes();
  framed.runaway = framer.runaway_bytes();
  return framed;
}

std::string without(std::string text, std::string_view chars) {
  std::erase_if(text, [&](char c) { return chars.find(c) != std::string_view::npos; });
  return text;
}

TEST(Frame, PiecesHoldWholeEventsWhateverTheirSize) {
  const std::string text =
      R"({"a": {"traceEvents": [1]}, "traceEvents": [ {"x":"}]{["}, {"y":[{"z":"\"}"}]} ,)"
      R"({"w":1}], "end": "]"})";
  for (const std::size_t piece : {1, 2, 7, 16, 64, 1000}) {
    for (const std::size_t at_once : {1, 3, 1000}) {
      SCOPED_TRACE(testing::Message() << piece << " " << at_once);
      const Framed framed = frame(text, piece, at_once);
      EXPECT_EQ(without(framed.events, "|, "), R"({"x":"}]{["}{"y":[{"z":"\"}"}]}{"w":1})");
      EXPECT_EQ(framed.header, R"({"a": {"traceEvents": [1]}, "traceEvents": [], "end": "]"})");
      EXPECT_FALSE(framed.truncated);
    }
  }
}

TEST(Frame, SaysWhatACutFileLost) {
  const std::string text = R"({"rank": 3, "traceEvents": [{"a":1},{"b":2},{"c":"lo)";
  const Framed framed = frame(text, 8, 5);
  EXPECT_EQ(without(framed.events, "|"), R"({"a":1}{"b":2})");
  EXPECT_EQ(framed.header, R"({"rank": 3, "traceEvents": []})");
  EXPECT_TRUE(framed.truncated);
  EXPECT_EQ(framed.lost, 8u);
}

TEST(Frame, ReadsABareListThatNeedNotEnd) {
  const Framed framed = frame(R"([{"a":1},{"b":2},)", 4, 4);
  EXPECT_EQ(without(framed.events, "|"), R"({"a":1}{"b":2})");
  EXPECT_FALSE(framed.truncated);
}

TEST(Frame, GoesOnAfterAnEventThatNeverEnds) {
  std::string text = R"({"traceEvents": [{"ph":"X","good":1},{"ph":"X","open":{)";
  text += std::string(300, ' ') + R"(,{"ph":"X","good":2},{"ph":"X","good":3}]})";
  const Framed framed = frame(text, 32, 32, 128);
  EXPECT_NE(framed.events.find(R"({"ph":"X","good":1})"), std::string::npos);
  EXPECT_NE(framed.events.find(R"({"ph":"X","good":2})"), std::string::npos);
  EXPECT_NE(framed.events.find(R"({"ph":"X","good":3})"), std::string::npos);
  EXPECT_GT(framed.runaway, 128u);
}

}  // namespace
}  // namespace amdahl::trace::kineto
