#include "bytes/utf16.h"

namespace amdahl::bytes {
namespace {

constexpr std::uint32_t kUnknown = 0xFFFD;

void append(std::uint32_t code, std::string& text) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace

bool is_utf16(std::string_view head) {
  return head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF");
}

void Utf16::put(std::uint32_t unit, std::string& text) {
  if (!begun_) {
    begun_ = true;
    if (unit == 0xFEFF) return;
    if (unit == 0xFFFE) {
      big_ = true;
      return;
    }
  }
  if (high_ != 0) {
    const std::uint32_t high = high_;
    high_ = 0;
    if (unit >= 0xDC00 && unit < 0xE000) {
      return append(0x10000 + ((high - 0xD800) << 10) + (unit - 0xDC00), text);
    }
    append(kUnknown, text);
  }
  if (unit >= 0xD800 && unit < 0xDC00) {
    high_ = unit;
  } else {
    append(unit >= 0xDC00 && unit < 0xE000 ? kUnknown : unit, text);
  }
}

std::string Utf16::decode(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (half_ < 0) {
      half_ = byte;
      continue;
    }
    const auto first = static_cast<std::uint32_t>(half_);
    half_ = -1;
    put(big_ ? first << 8 | byte : std::uint32_t{byte} << 8 | first, text);
  }
  return text;
}

}  // namespace amdahl::bytes
