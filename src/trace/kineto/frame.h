// frame.h: splits a JSON stream into pieces of whole events, and the header around them.
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

// Memory that grows on demand and is reused.
struct Buffer {
  std::unique_ptr<char[]> bytes;
  std::size_t room = 0;
};

// A list of events with commas between them. Writable: one byte before `begin`, and kPadding bytes
// from `end` on.
struct Piece {
  Buffer buffer;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t offset = 0;          // Stream offset of `begin`.
  std::string_view key = kUsualKey;  // First key of events, from first_key().
};

inline constexpr std::size_t kPadding = 128;

struct FrameSizes {
  std::size_t piece = std::size_t{1} << 20;  // Fits the cache together with its index.
  // Limit per event; a longer one is treated as never ending.
  std::size_t longest = std::size_t{8} << 20;
  std::size_t header = std::size_t{4} << 20;  // Limit for what is kept besides the events.
};

// One pass, with memory for two pieces, whatever the size of the stream or of an event.
class Framer {
 public:
  explicit Framer(NextBytes next, FrameSizes sizes = {});

  // The next piece, in `buffer` or a larger one; nothing at the end.
  Result<std::optional<Piece>> next(Buffer buffer);

  // Valid at the end of the stream:

  // Everything but the events, completed to valid JSON if the stream was truncated: {"rank": 0,
  // "traceEvents": []}.
  std::string header() const;

  std::uint64_t bytes() const { return offset_ + filled_ - 1; }
  bool truncated() const { return truncated_; }
  std::uint64_t lost_bytes() const { return lost_; }        // Bytes of a truncated last event.
  std::uint64_t runaway_bytes() const { return runaway_; }  // Bytes skipped because no event ended.
  bool header_cut() const { return header_cut_; }
  bool found_list() const { return found_list_; }
  // Places with unbalanced brackets after which events follow.
  std::uint64_t broken() const { return broken_; }
  std::uint64_t first_broken() const { return first_broken_; }  // Byte offset of the first.

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
  std::string carry_;         // End of the last buffer that belongs to the next piece.
  std::size_t filled_ = 1;    // Bytes in the buffer; the first is reserved for a bracket.
  std::size_t begin_ = 1;     // Start of what has not been returned yet.
  std::size_t scanned_ = 1;   // Position up to which `nesting_` is valid.
  std::uint64_t offset_ = 0;  // Stream offset of the buffer's first byte, minus one.
  Nesting nesting_;
  std::int64_t level_ = 0;  // Depth of the list of events.
  bool in_list_ = false;
  bool bare_list_ = false;  // The stream is a plain list (Chrome).
  bool seeking_ = false;    // After a runaway event: searching for the next one.
  bool ended_ = false;
  bool found_list_ = false;
  bool truncated_ = false;
  bool header_cut_ = false;
  std::uint64_t lost_ = 0;
  std::uint64_t runaway_ = 0;
  std::uint64_t broken_ = 0;
  std::uint64_t first_broken_ = 0;
  std::string_view first_key_;  // First key of events; empty until one was seen.
  std::string header_;
  std::string key_;          // The last string at depth 1.
  bool key_open_ = false;    // Inside that string.
  bool value_next_ = false;  // A colon followed it.
};

}  // namespace amdahl::trace::kineto
