#include "trace/kineto/frame.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "trace/kineto/marker.h"

namespace amdahl::trace::kineto {
namespace {

constexpr std::string_view kList = "traceEvents";
constexpr std::size_t kLongestKey = 64;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

bool between_events(char c) { return is_space(c) || c == ','; }

}  // namespace

Framer::Framer(NextBytes next, FrameSizes sizes) : next_(std::move(next)), sizes_(sizes) {}

// Takes over `buffer` with the rest of the last one.
void Framer::open_buffer(Buffer buffer) {
  const std::size_t need = 1 + carry_.size() + sizes_.piece + kPadding;
  if (buffer.room < need) {
    buffer.bytes = std::make_unique_for_overwrite<char[]>(need);
    buffer.room = need;
  }
  offset_ += begin_ - 1;
  scanned_ = scanned_ - begin_ + 1;
  begin_ = 1;
  filled_ = 1 + carry_.size();
  std::memcpy(buffer.bytes.get() + 1, carry_.data(), carry_.size());
  carry_.clear();
  buffer_ = std::move(buffer);
}

// Reads until a piece is full; false if the stream gave nothing more.
Result<bool> Framer::fill() {
  const std::size_t goal = std::min(buffer_.room - kPadding, filled_ + sizes_.piece);
  const std::size_t before = filled_;
  while (filled_ < goal && !ended_) {
    const std::size_t got = TRY(next_(std::span(buffer_.bytes.get() + filled_, goal - filled_)));
    if (got == 0) ended_ = true;
    filled_ += got;
  }
  return filled_ > before;
}

// Gives out [begin_, end) and keeps the rest for the next buffer.
std::optional<Piece> Framer::cut(std::size_t end) {
  std::size_t begin = begin_;
  while (begin < end && between_events(buffer_.bytes[begin])) ++begin;
  if (first_key_.empty()) first_key_ = first_key({buffer_.bytes.get() + begin, end - begin});
  carry_.assign(buffer_.bytes.get() + end, filled_ - end);
  begin_ = end;
  return Piece{std::exchange(buffer_, {}), begin, end, offset_ + begin - 1, key()};
}

Result<std::optional<Piece>> Framer::next(Buffer buffer) {
  open_buffer(std::move(buffer));
  bool fresh = filled_ > 1;  // Carried-over bytes may contain events that were not searched for.
  while (true) {
    const bool more = TRY(fill());
    if (!more && !fresh) {
      if (std::optional<Piece> rest = rescue()) return rest;
      break;
    }
    fresh = false;
    while (scanned_ < filled_) {
      if (!in_list_) {
        if (read_header()) continue;
        break;
      }
      if (seeking_ && !seek_event()) break;
      const Scanned scanned = scan_events(buffer_.bytes.get(), scanned_, filled_, level_, nesting_);
      scanned_ = scanned.stopped;
      if (scanned.list_ended) leave_list(scanned.stopped);
      if (scanned.after_last > begin_) return cut(scanned.after_last);
      if (scanned.list_ended) begin_ = scanned_;
    }
    if (!in_list_) {
      begin_ = scanned_;
    } else if (seeking_) {
      begin_ = scanned_ = std::max(begin_, filled_ - std::min(filled_, kLongestMarker));
    } else if (filled_ - begin_ >= sizes_.longest) {
      return give_up();
    }
    // Room for another piece, after the unfinished part.
    Buffer old = std::move(buffer_);
    carry_.assign(old.bytes.get() + begin_, filled_ - begin_);
    open_buffer(std::move(old));
  }
  finish();
  return std::optional<Piece>{};
}

// Reads up to the next list of events; false: more bytes are needed.
bool Framer::read_header() {
  std::size_t stop = filled_;
  bool goes_on = false;
  if (found_list_) {
    // A bracket too many ends the list before its end: events follow.
    const std::string_view rest(buffer_.bytes.get() + scanned_, filled_ - scanned_);
    const std::size_t at = find_event(rest, 0, key());
    goes_on = at != std::string_view::npos;
    stop = goes_on ? scanned_ + at
                   : filled_ - std::min(filled_ - scanned_, ended_ ? 0 : kLongestMarker);
  }
  while (scanned_ < stop && !in_list_) header_byte(buffer_.bytes[scanned_++]);
  begin_ = scanned_;
  if (goes_on && !in_list_) {
    count_broken(scanned_);
    in_list_ = true;
    nesting_ = {.depth = level_};
  }
  return in_list_;
}

void Framer::count_broken(std::size_t at) {
  if (broken_++ == 0) first_broken_ = offset_ + at - 1;
}

// At the end of the stream, a rest of more than the truncated event means that a bracket is
// missing. The parser keeps what it can.
std::optional<Piece> Framer::rescue() {
  if (!in_list_ || seeking_ || filled_ <= begin_ + 1) return {};
  const std::string_view rest(buffer_.bytes.get() + begin_, filled_ - begin_);
  const std::size_t own = rest.find('{');
  if (own == rest.npos || find_event(rest, own + 1, key()) == rest.npos) return {};
  const std::size_t last = rest.find_last_not_of(" \n\r\t");
  const bool closed = rest[last] == ']' || rest[last] == '}';
  nesting_ = {.depth = closed ? 0 : level_};
  scanned_ = filled_;
  return cut(filled_);
}

void Framer::header_byte(char c) {
  if (header_.size() < sizes_.header) {
    header_.push_back(c);
  } else {
    header_cut_ = true;
  }
  if (nesting_.in_string) {
    if (nesting_.escaped) {
      nesting_.escaped = false;
    } else if (c == '\\') {
      nesting_.escaped = true;
    } else if (c == '"') {
      nesting_.in_string = key_open_ = false;
      return;
    }
    if (key_open_ && key_.size() < kLongestKey) key_.push_back(c);
    return;
  }
  if (is_space(c)) return;
  const bool list = c == '[' && ((nesting_.depth == 1 && value_next_ && key_ == kList) ||
                                 (nesting_.depth == 0 && !found_list_));
  value_next_ = c == ':';
  if (c == '"') {
    nesting_.in_string = true;
    key_open_ = nesting_.depth == 1;
    if (key_open_) key_.clear();
  } else if (c == '{' || c == '[') {
    ++nesting_.depth;
  } else if ((c == '}' || c == ']') && nesting_.depth > 0) {
    --nesting_.depth;
  }
  if (!list) return;
  in_list_ = found_list_ = true;
  bare_list_ = nesting_.depth == 1;
  level_ = nesting_.depth;
}

// The bracket at the end of the list belongs to the header again.
void Framer::leave_list(std::size_t bracket) {
  in_list_ = false;
  nesting_ = {.depth = level_ - 1};
  scanned_ = bracket + 1;
  header_.push_back(']');
  key_.clear();
}

// An event that never ends: everything read of it becomes a piece, of which the parser keeps what
// it can, and the search continues at the next likely event.
std::optional<Piece> Framer::give_up() {
  runaway_ += filled_ - begin_;
  seeking_ = true;
  scanned_ = filled_;
  return cut(filled_);
}

bool Framer::seek_event() {
  const std::string_view rest(buffer_.bytes.get() + scanned_, filled_ - scanned_);
  const std::size_t at = find_event(rest, 0, key());
  if (at == std::string_view::npos) {
    scanned_ = filled_;
    return false;
  }
  runaway_ += at;
  begin_ = scanned_ = scanned_ + at;
  nesting_ = {.depth = level_};
  seeking_ = false;
  return true;
}

void Framer::finish() {
  const char* const bytes = buffer_.bytes.get();
  while (!in_list_ && scanned_ < filled_) header_byte(bytes[scanned_++]);
  if (!in_list_) begin_ = filled_;
  std::size_t left = begin_;
  while (left < filled_ && between_events(bytes[left])) ++left;
  lost_ = filled_ - left;
  // Chrome may leave out the bracket at the end of a bare list.
  truncated_ = lost_ > 0 || nesting_.in_string || nesting_.depth > (bare_list_ ? 1 : 0);
  if (!in_list_) lost_ = 0;
}

std::string Framer::header() const {
  if (in_list_) return header_ + (bare_list_ ? "]" : "]}");
  return header_;
}

}  // namespace amdahl::trace::kineto
