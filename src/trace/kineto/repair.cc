#include "trace/kineto/repair.h"

#include <algorithm>
#include <cstdint>

#include "trace/kineto/frame.h"
#include "trace/kineto/marker.h"
#include "trace/kineto/scan.h"

namespace amdahl::trace::kineto {
namespace {

// Length of the UTF-8 character at the start of `bytes`; 0 if invalid.
std::size_t character_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
  const bool beyond = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

std::vector<Unit> split_balanced(std::string_view bytes) {
  std::vector<Unit> units;
  std::size_t at = 0;
  while (true) {
    at = bytes.find_first_not_of(" \n\r\t,", at);
    if (at == std::string_view::npos) return units;
    if (bytes[at] != '{') {
      // No event: up to the next that could be one.
      const std::size_t next = std::min(bytes.find('{', at), bytes.size());
      units.push_back({at, next});
      at = next;
      continue;
    }
    Nesting nesting;
    std::size_t end = at;
    while (end < bytes.size()) {
      const bool closed =
          scan_events_slowly(bytes.data(), end, end + 1, 0, nesting).after_last != 0;
      ++end;
      if (closed) break;
    }
    units.push_back({at, end});
    at = end;
  }
}

std::vector<Unit> split_at_markers(std::string_view bytes, std::string_view key) {
  std::vector<Unit> units;
  std::size_t at = find_event(bytes, 0, key);
  // The bytes before the first start are an event with a broken start.
  if (at != std::string_view::npos && bytes.find_first_not_of(" \n\r\t,") < at) {
    units.push_back({0, at});
  }
  while (at != std::string_view::npos) {
    const std::size_t next = find_event(bytes, at + 1, key);
    const std::size_t stop = std::min(next, bytes.size());
    const std::vector<Unit> inner = split_balanced(bytes.substr(at, stop - at));
    units.push_back({at, at + inner.front().end});
    at = next;
  }
  if (units.empty()) units.push_back({0, bytes.size()});
  return units;
}

bool clean(std::string_view bytes, Cleaned& cleaned) {
  std::string& text = cleaned.text;
  text.assign(bytes);
  bool changed = false;
  Nesting nesting;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const std::size_t length = character_length(std::string_view(text).substr(at));
    if (nesting.in_string && c < 0x20) {
      text[at] = ' ';
      changed = true;
    } else if (length == 0) {
      text[at] = '?';
      changed = true;
    }
    scan_events_slowly(text.data(), at, at + 1, -1, nesting);
    at += std::max<std::size_t>(length, 1);
  }
  text.append(kPadding, '\0');
  return changed;
}

}  // namespace amdahl::trace::kineto
