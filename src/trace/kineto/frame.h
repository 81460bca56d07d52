// frame.h: cuts a stream of JSON into pieces of whole events and the header around them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/kineto/marker.h"
#include "trace/kineto/scan.h"
#include "trace/reader.h"

namespace amdahl::trace::kineto {

// Memory that grows to what it is asked for and is used again.
struct Buffer {
  std::unique_ptr<char[]> bytes;
  std::size_t room = 0;
};

// Events one after another, with commas between. A piece may be written to: one byte before
// `begin`, and kPadding from `end` on.
struct Piece {
  Buffer buffer;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t offset = 0;          // Of `begin` in the stream.
  std::string_view key = kUsualKey;  // That events begin with, as first_key() gives it.
};

inline constexpr std::size_t kPadding = 128;

struct FrameSizes {
  std::size_t piece = std::size_t{1} << 20;    // Fits the cache with its index.
  std::size_t longest = std::size_t{8} << 20;  // No event is longer, unless it never ends.
  std::size_t header = std::size_t{4} << 20;   // Of what is kept beside the events.
};

// One pass, memory of two pieces, whatever the size of the stream or of an event.
class Framer {
 public:
  explicit Framer(NextBytes next, FrameSizes sizes = {});

  // The next piece, in `buffer` or larger; nothing at the end.
  Result<std::optional<Piece>> next(Buffer buffer);

  // The rest is known at the end of the stream.

  // All but the events, closed to be JSON again if the stream ended early: {"rank": 0,
  // "traceEvents": []}.
  std::string header() const;

  std::uint64_t bytes() const { return offset_ + filled_ - 1; }
  bool truncated() const { return truncated_; }
  std::uint64_t lost_bytes() const { return lost_; }        // Of the event that was cut off.
  std::uint64_t runaway_bytes() const { return runaway_; }  // Where no event ended for too long.
  bool header_cut() const { return header_cut_; }
  bool found_list() const { return found_list_; }
  // Places where brackets do not match and events follow all the same.
  std::uint64_t broken() const { return broken_; }
  std::uint64_t first_broken() const { return first_broken_; }  // Byte of the first.

 private:
  Result<bool> fill();
  void open_buffer(Buffer buffer);
  std::optional<Piece> cut(std::size_t end);
  std::string_view key() const { return first_key_.empty() ? kUsualKey : first_key_; }
  bool read_header();
  void header_byte(char c);
  void count_broken(std::size_t at);
  std::optional<Piece> rescue();
  void leave_list(std::size_t bracket);
  std::optional<Piece> give_up();
  bool seek_event();
  void finish();

  NextBytes next_;
  FrameSizes sizes_;
  Buffer buffer_;
  std::string carry_;         // What of the last buffer belongs to the next.
  std::size_t filled_ = 1;    // Bytes in the buffer; the first is left free for a bracket.
  std::size_t begin_ = 1;     // Of what has not been given out.
  std::size_t scanned_ = 1;   // Up to where `nesting_` holds.
  std::uint64_t offset_ = 0;  // Of the buffer's first byte in the stream, less one.
  Nesting nesting_;
  std::int64_t level_ = 0;  // Depth within the list of events.
  bool in_list_ = false;
  bool bare_list_ = false;  // The stream is a list, as Chrome writes it.
  bool seeking_ = false;    // After a runaway event: until something looks like an event.
  bool ended_ = false;
  bool found_list_ = false;
  bool truncated_ = false;
  bool header_cut_ = false;
  std::uint64_t lost_ = 0;
  std::uint64_t runaway_ = 0;
  std::uint64_t broken_ = 0;
  std::uint64_t first_broken_ = 0;
  std::string_view first_key_;  // That events begin with; empty until one was seen.
  std::string header_;
  std::string key_;          // The last string at depth 1.
  bool key_open_ = false;    // It is being read.
  bool value_next_ = false;  // A colon followed it.
};

}  // namespace amdahl::trace::kineto
