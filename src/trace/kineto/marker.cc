#include "trace/kineto/marker.h"

#include <algorithm>
#include <array>

namespace amdahl::trace::kineto {
namespace {

constexpr std::string_view kSpace = " \n\r\t";
// Only white space may be between brace and key, up to a limit.
constexpr std::size_t kMostSpace = 64;

constexpr auto kKeys =
    std::to_array<std::string_view>({"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"",
                                     "\"ts\"", "\"args\"", "\"dur\"", "\"id\""});

// The last byte before `end` that is not white space, within a limit; npos if none.
std::size_t last_before(std::string_view bytes, std::size_t end) {
  const std::size_t first = end - std::min(end, kMostSpace);
  const std::size_t at = bytes.substr(first, end - first).find_last_not_of(kSpace);
  return at == std::string_view::npos ? at : first + at;
}

}  // namespace

std::string_view first_key(std::string_view events) {
  const std::size_t brace = events.substr(0, kMostSpace).find('{');
  if (brace == std::string_view::npos) return kUsualKey;
  const std::size_t at = events.find_first_not_of(kSpace, brace + 1);
  if (at == std::string_view::npos) return kUsualKey;
  for (const std::string_view key : kKeys) {
    if (events.substr(at, key.size()) == key) return key;
  }
  return kUsualKey;
}

std::size_t find_event(std::string_view bytes, std::size_t from, std::string_view key) {
  for (std::size_t at = bytes.find(key, from); at != std::string_view::npos;
       at = bytes.find(key, at + key.size())) {
    const std::size_t brace = last_before(bytes, at);
    if (brace == std::string_view::npos || brace < from || bytes[brace] != '{') continue;
    const std::size_t before = last_before(bytes, brace);
    if (before == std::string_view::npos || bytes[before] != ':') return brace;
  }
  return std::string_view::npos;
}

}  // namespace amdahl::trace::kineto
