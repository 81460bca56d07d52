#include "trace/xplane/wire.h"

namespace amdahl::trace::xplane {
namespace {

enum Type : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

bool Message::stop() {
  rest_ = {};
  is_whole_ = false;
  return false;
}

bool Message::number(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return false;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool Message::fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return stop();
  rest_.remove_prefix(bytes);
  return true;
}

bool Message::next(Field& field) {
  if (rest_.empty()) return false;
  std::uint64_t key = 0;
  if (!number(key)) return stop();
  field = {.number = static_cast<std::uint32_t>(key >> 3U)};
  switch (static_cast<Type>(key & 7U)) {
    case kVarint:
      return number(field.value) || stop();
    case kFixed64:
      return fixed(8);
    case kFixed32:
      return fixed(4);
    case kBytes: {
      std::uint64_t size = 0;
      if (!number(size)) return stop();
      if (size > rest_.size()) {
        size = rest_.size();
        is_whole_ = false;
      }
      field.bytes = rest_.substr(0, size);
      rest_.remove_prefix(size);
      return true;
    }
  }
  return stop();
}

}  // namespace amdahl::trace::xplane
