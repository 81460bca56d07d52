// utf16.h: converts UTF-16 text (from Windows tools) to UTF-8 in chunks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace amdahl::bytes {

// By byte order mark.
bool is_utf16(std::string_view head);

class Utf16 {
 public:
  // Decodes the next chunk; the byte order mark is dropped. An unpaired surrogate becomes U+FFFD.
  std::string decode(std::string_view bytes);

 private:
  void put(std::uint32_t unit, std::string& text);

  bool begun_ = false;
  bool big_ = false;        // Big-endian.
  int half_ = -1;           // First byte of an incomplete unit; -1: none.
  std::uint32_t high_ = 0;  // First half of a surrogate pair; 0: none.
};

}  // namespace amdahl::bytes
