// scan.h: finds where events end in bytes of JSON, without parsing them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace amdahl::trace::kineto {

// Where we are in the text between two bytes.
struct Nesting {
  std::int64_t depth = 0;  // Of braces and brackets outside strings.
  bool in_string = false;
  bool escaped = false;  // The byte before was a backslash that takes the next one with it.
};

struct Scanned {
  std::size_t after_last = 0;  // Just after the last event that ends here; 0: none does.
  bool list_ended = false;     // The list of events is over: its bracket is at `stopped`.
  std::size_t stopped = 0;     // How far was read.
};

// Reads `bytes` from `from` to `to`, which lie in a list of events whose elements are at depth
// `level`, and follows `nesting`. 64 bytes at a time: gigabytes a second.
Scanned scan_events(const char* bytes, std::size_t from, std::size_t to, std::int64_t level,
                    Nesting& nesting);

// The same byte by byte, for the test of the other and for odd ends.
Scanned scan_events_slowly(const char* bytes, std::size_t from, std::size_t to, std::int64_t level,
                           Nesting& nesting);

}  // namespace amdahl::trace::kineto
