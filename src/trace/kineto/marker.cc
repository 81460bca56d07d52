#include "trace/kineto/marker.h"

namespace amdahl::trace::kineto {

std::size_t find_event(std::string_view bytes, std::size_t from) {
  constexpr std::string_view kFirstKey = "\"ph\"";
  while (true) {
    const std::size_t key = bytes.find(kFirstKey, from);
    if (key == std::string_view::npos) return key;
    // Only white space may lie between the brace and the key, and not without end.
    const std::size_t first = key - from > 64 ? key - 64 : from;
    const std::size_t before = bytes.substr(first, key - first).find_last_not_of(" \n\r\t");
    if (before != std::string_view::npos && bytes[first + before] == '{') return first + before;
    from = key + kFirstKey.size();
  }
}

}  // namespace amdahl::trace::kineto
