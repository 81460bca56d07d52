// utf16.h: text as Windows' tools write it, turned into UTF-8 while it comes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::bytes {

// By the byte order mark.
bool is_utf16(std::string_view head);

class Utf16 {
 public:
  // What the bytes say so far; the mark is passed over. Half a surrogate pair is U+FFFD.
  std::string decode(std::string_view bytes);

 private:
  void put(std::uint32_t unit, std::string& text);

  bool begun_ = false;
  bool big_ = false;        // The high byte comes first.
  int half_ = -1;           // The first byte of a unit.
  std::uint32_t high_ = 0;  // The first of a surrogate pair; 0: none.
};

}  // namespace amdahl::bytes
