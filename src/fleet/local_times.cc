#include "fleet/local_times.h"

#include <cstddef>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

// Whether `text` begins with a shape: 0 is any digit, - also a slash, T also a blank.
bool has_shape(std::string_view text, std::string_view shape) {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const char c = text[i];
    const bool fits = shape[i] == '0'   ? is_digit(c)
                      : shape[i] == '-' ? c == '-' || c == '/'
                      : shape[i] == 'T' ? c == 'T' || c == ' '
                                        : c == shape[i];
    if (!fits) return false;
  }
  return true;
}

struct Stamps {
  std::size_t local = 0;
  std::size_t zoned = 0;
};

// Behind the minutes: seconds, a fraction, and the zone if there is one.
bool is_zoned(std::string_view rest) {
  std::size_t at = has_shape(rest, ":00") ? 3 : 0;
  // A date behind a comma is the next cell.
  const bool is_next = at < rest.size() && has_shape(rest.substr(at + 1), "0000-00-00");
  if (at < rest.size() && (rest[at] == '.' || (rest[at] == ',' && !is_next)) &&
      has_shape(rest.substr(at + 1), "0")) {
    ++at;
    while (at < rest.size() && is_digit(rest[at])) ++at;
  }
  rest.remove_prefix(at);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const std::string_view name : {"Z", "z", "UTC", "GMT"}) {
    if (rest.starts_with(name)) return true;
  }
  return (rest.starts_with('+') || rest.starts_with('-')) && has_shape(rest.substr(1), "00");
}

Stamps stamps_in(std::string_view text) {
  constexpr std::string_view kUsual = "0000-00-00T00:00";
  constexpr std::string_view kDmon = "00000000";  // "20240301  12:00:00".
  Stamps stamps;
  for (std::size_t i = 0; i + kUsual.size() <= text.size(); ++i) {
    if (!is_digit(text[i]) || (i > 0 && is_digit(text[i - 1]))) continue;
    const std::string_view here = text.substr(i);
    if (has_shape(here, kUsual)) {
      ++(is_zoned(here.substr(kUsual.size())) ? stamps.zoned : stamps.local);
      i += kUsual.size() - 1;
    } else if (has_shape(here, kDmon) && here[kDmon.size()] == ' ' &&
               has_shape(trim(here.substr(kDmon.size(), 14)), "00:00:00")) {
      ++stamps.local;
    }
  }
  return stamps;
}

}  // namespace

bool has_local_times(std::string_view head) {
  head = trim(head);
  // Lines are not records.
  if (head.starts_with('{') || head.starts_with('[') || head.starts_with("JobId=")) {
    const Stamps all = stamps_in(head);
    return all.local > all.zoned;
  }
  std::size_t records = 0;
  std::size_t local = 0;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    const Stamps stamps = stamps_in(head.substr(0, end));
    ++records;
    local += stamps.local > stamps.zoned ? 1 : 0;
    if (end == head.npos) break;
    head.remove_prefix(end + 1);
  }
  // The first line may be a header, and the last is cut.
  return local > 0 && local * 2 + 2 >= records;
}

}  // namespace amdahl::fleet
