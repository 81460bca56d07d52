#include "fleet/times.h"

#include <array>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/text.h"

namespace amdahl::fleet {
namespace {

constexpr std::int64_t kDay = 86'400;
// Beyond these nanoseconds since 1970 do not fit.
constexpr std::int64_t kFirst = -9'000'000'000;
constexpr std::int64_t kLast = 9'000'000'000;

std::int64_t days_of(int year, int month, int day) {
  using namespace std::chrono;
  return sys_days{std::chrono::year{year} / month / day}.time_since_epoch().count();
}

bool is_date(int year, int month, int day) {
  using namespace std::chrono;
  return year >= 1700 && year <= 2250 &&
         year_month_day{std::chrono::year{year}, std::chrono::month(static_cast<unsigned>(month)),
                        std::chrono::day(static_cast<unsigned>(day))}
             .ok();
}

bool is_none(std::string_view text) {
  constexpr std::string_view kWords[] = {"",    "Unknown", "None", "N/A", "NONE", "(null)",
                                         "NaT", "null",    "-",    "NaN", "none", "NULL"};
  for (const std::string_view word : kWords) {
    if (text == word) return true;
  }
  return false;
}

// Takes digits off the front of text.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_{text} {}

  bool done() const { return text_.empty(); }
  char peek() const { return text_.empty() ? '\0' : text_.front(); }
  void skip() { text_.remove_prefix(1); }
  bool take(char c) {
    if (done() || peek() != c) return false;
    skip();
    return true;
  }
  bool take_any(std::string_view of) {
    if (done() || of.find(peek()) == of.npos) return false;
    skip();
    return true;
  }
  // Exactly `least` to `most` digits.
  std::optional<int> digits(int least, int most) {
    int value = 0;
    int count = 0;
    while (count < most && peek() >= '0' && peek() <= '9') {
      value = value * 10 + (peek() - '0');
      skip();
      ++count;
    }
    if (count < least) return std::nullopt;
    return value;
  }
  // Digits after a point, as nanoseconds; more than nine are cut.
  std::optional<std::int64_t> fraction() {
    std::int64_t nanos = 0;
    std::int64_t unit = 100'000'000;
    int count = 0;
    for (; peek() >= '0' && peek() <= '9'; skip(), ++count) {
      nanos += unit * (peek() - '0');
      unit /= 10;
    }
    if (count == 0) return std::nullopt;
    return nanos;
  }
  std::string_view rest() const { return text_; }
  std::string_view word() {
    std::size_t size = 0;
    while (size < text_.size() && ((text_[size] | 32) >= 'a' && (text_[size] | 32) <= 'z')) ++size;
    const std::string_view found = text_.substr(0, size);
    text_.remove_prefix(size);
    return found;
  }

 private:
  std::string_view text_;
};

// "Z", "+02:00", "-0530", "+02"; nothing if it is none of them.
std::optional<int> read_offset(Scan& scan) {
  if (scan.take('Z') || scan.take('z')) return 0;
  const char sign = scan.peek();
  if (sign != '+' && sign != '-') return std::nullopt;
  scan.skip();
  const auto hours = scan.digits(2, 2);
  if (!hours || *hours > 26) return std::nullopt;
  int minutes = 0;
  if (scan.take(':') || !scan.done()) {
    const auto read = scan.digits(2, 2);
    if (!read || *read > 59) return std::nullopt;
    minutes = *read;
  }
  const int seconds = *hours * 3600 + minutes * 60;
  return sign == '-' ? -seconds : seconds;
}

// Those of RFC 822, and some that mean one place alone.
std::optional<int> hours_of_abbreviation(std::string_view word) {
  struct Known {
    std::string_view name;
    int hours;
  };
  constexpr Known kKnown[] = {{"UTC", 0},  {"GMT", 0},  {"EST", -5}, {"EDT", -4}, {"CST", -6},
                              {"CDT", -5}, {"MST", -7}, {"MDT", -6}, {"PST", -8}, {"PDT", -7},
                              {"WET", 0},  {"WEST", 1}, {"CET", 1},  {"CEST", 2}, {"EET", 2},
                              {"EEST", 3}, {"MSK", 3},  {"JST", 9},  {"KST", 9},  {"AEST", 10}};
  for (const Known& known : kKnown) {
    if (known.name == word) return known.hours;
  }
  return std::nullopt;
}

// What a pattern or ISO 8601 has filled in.
struct Parts {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t nanos = 0;
  std::optional<int> offset{};
};

Instant bad() { return {.is = Instant::Is::kBad}; }

Instant at(std::int64_t seconds, std::int64_t nanos) {
  if (seconds < kFirst || seconds > kLast) return bad();
  const Nanos time = std::chrono::seconds{seconds} + Nanos{nanos};
  return {.is = Instant::Is::kTime, .at = time, .other = time};
}

Instant instant_of(const Parts& parts, const Zone& zone) {
  // 60: a leap second; 24:00 is the end of a day.
  if (!is_date(parts.year, parts.month, parts.day) || parts.hour > 24 || parts.minute > 59 ||
      parts.second > 60) {
    return bad();
  }
  const std::int64_t local = days_of(parts.year, parts.month, parts.day) * kDay +
                             parts.hour * 3600 + parts.minute * 60 + parts.second;
  if (parts.offset) return at(local - *parts.offset, parts.nanos);
  const Zone::Unix unix_time = zone.to_unix(local);
  Instant read = at(unix_time.first, parts.nanos);
  if (!read.known()) return read;
  read.other = std::chrono::seconds{unix_time.second} + Nanos{parts.nanos};
  read.skipped = unix_time.skipped;
  return read;
}

// Two digits at `at`; above 99 if they are none.
unsigned pair_at(const char* at) {
  const auto tens = static_cast<unsigned char>(at[0] - '0');
  const auto ones = static_cast<unsigned char>(at[1] - '0');
  return tens > 9 || ones > 9 ? 100 : tens * 10U + ones;
}

// "2026-11-16T08:30:00" to the letter: what schedulers write, three times a job.
bool read_plain(std::string_view text, Parts& parts) {
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':') {
    return false;
  }
  const char* at = text.data();
  const unsigned read[] = {pair_at(at),      pair_at(at + 2),  pair_at(at + 5), pair_at(at + 8),
                           pair_at(at + 11), pair_at(at + 14), pair_at(at + 17)};
  for (const unsigned part : read) {
    if (part > 99) return false;
  }
  parts.year = static_cast<int>(read[0] * 100 + read[1]);
  parts.month = static_cast<int>(read[2]);
  parts.day = static_cast<int>(read[3]);
  parts.hour = static_cast<int>(read[4]);
  parts.minute = static_cast<int>(read[5]);
  parts.second = static_cast<int>(read[6]);
  return true;
}

Instant read_iso(std::string_view text, const Zone& zone) {
  Scan scan(text);
  Parts parts;
  if (read_plain(text, parts)) return instant_of(parts, zone);
  const auto year = scan.digits(4, 4);
  const char between = scan.peek();
  if (!year || (between != '-' && between != '/')) return bad();
  scan.skip();
  const auto month = scan.digits(1, 2);
  if (!month || !scan.take(between)) return bad();
  const auto day = scan.digits(1, 2);
  if (!day) return bad();
  parts.year = *year;
  parts.month = *month;
  parts.day = *day;
  if (scan.done()) return instant_of(parts, zone);
  if (!scan.take_any("Tt ")) return bad();
  const auto hour = scan.digits(1, 2);
  if (!hour || !scan.take(':')) return bad();
  const auto minute = scan.digits(2, 2);
  if (!minute) return bad();
  parts.hour = *hour;
  parts.minute = *minute;
  if (scan.take(':')) {
    const auto second = scan.digits(2, 2);
    if (!second) return bad();
    parts.second = *second;
    if (scan.take_any(".,")) {
      const auto nanos = scan.fraction();
      if (!nanos) return bad();
      parts.nanos = *nanos;
    }
  }
  scan.take(' ');
  if (scan.done()) return instant_of(parts, zone);
  if (const auto hours = hours_of_abbreviation(scan.rest())) {
    parts.offset = *hours * 3600;
    return instant_of(parts, zone);
  }
  parts.offset = read_offset(scan);
  if (!parts.offset || !scan.done()) return bad();
  return instant_of(parts, zone);
}

bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (const std::size_t power = text.find_first_of("eE"); power != text.npos) {  // "1.79e+09"
    std::string_view digits = text.substr(power + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (digits.empty() || digits.size() > 2 ||
        digits.find_first_not_of("0123456789") != digits.npos) {
      return false;
    }
    text = text.substr(0, power);
  }
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c < '0' || c > '9') {
      return false;
    }
  }
  return !text.empty() && text != ".";
}

// A count of `unit` nanoseconds since `base`. Whole numbers are exact.
Instant read_count(std::string_view text, double unit, Nanos base) {
  const std::int64_t step = static_cast<std::int64_t>(unit);
  std::int64_t nanos = 0;
  if (const auto whole = to_number<std::int64_t>(text)) {
    if (__builtin_mul_overflow(*whole, step, &nanos)) return bad();
  } else {
    const auto real = to_number<double>(text);
    if (!real || !std::isfinite(*real) || std::abs(*real * unit) > 9e18) return bad();
    // The fraction by itself: a double holds no nanoseconds of today.
    const double floor = std::floor(*real);
    nanos = static_cast<std::int64_t>(floor) * step +
            static_cast<std::int64_t>(std::llround((*real - floor) * unit));
  }
  if (__builtin_add_overflow(nanos, base.count(), &nanos)) return bad();
  return {.is = Instant::Is::kTime, .at = Nanos{nanos}, .other = Nanos{nanos}};
}

Instant read_auto(std::string_view text, const Zone& zone) {
  // Most are of this form, and there are three in each record of a job.
  if (text.size() > 10 && (text[4] == '-' || text[4] == '/') && text.back() != ' ') {
    return read_iso(text, zone);
  }
  text = trim(text);
  if (is_none(text)) return {};
  if (!is_number(text)) return read_iso(text, zone);
  const auto size = to_number<double>(text);
  if (!size) return bad();
  if (*size == 0) return {};  // What tools write for "no time".
  const double large = std::abs(*size);
  const double unit = large < 1e11 ? 1e9 : large < 1e14 ? 1e6 : large < 1e17 ? 1e3 : 1;
  return read_count(text, unit, {});
}

bool read_month_name(Scan& scan, int& month) {
  constexpr std::string_view kNames = "janfebmaraprmayjunjulaugsepoctnovdec";
  const std::string word = lower(scan.word());
  if (word.size() < 3) return false;
  const std::size_t found = kNames.find(word.substr(0, 3));
  if (found == kNames.npos || found % 3 != 0) return false;
  month = static_cast<int>(found / 3) + 1;
  return true;
}

bool read_half(Scan& scan, int& add_hours) {
  const std::string word = lower(scan.word());
  add_hours = word == "pm" ? 12 : 0;
  return word == "am" || word == "pm";
}

bool set(std::optional<int> read, int& part) {
  if (!read) return false;
  part = *read;
  return true;
}

struct Halves {
  int add = 0;
  bool used = false;
};

bool read_code(char code, Scan& scan, Parts& parts, Halves& halves) {
  switch (code) {
    case 'Y':
      return set(scan.digits(4, 4), parts.year);
    case 'y':
      if (!set(scan.digits(2, 2), parts.year)) return false;
      parts.year += parts.year < 69 ? 2000 : 1900;
      return true;
    case 'm':
      return set(scan.digits(1, 2), parts.month);
    case 'd':
      return set(scan.digits(1, 2), parts.day);
    case 'H':
      return set(scan.digits(1, 2), parts.hour);
    case 'I':
      halves.used = true;
      return set(scan.digits(1, 2), parts.hour);
    case 'M':
      return set(scan.digits(1, 2), parts.minute);
    case 'S':
      return set(scan.digits(1, 2), parts.second);
    case 'a':
      return !scan.word().empty();
    case 'b':
      return read_month_name(scan, parts.month);
    case 'p':
      return read_half(scan, halves.add);
    case 'f': {
      const auto nanos = scan.fraction();
      parts.nanos = nanos.value_or(0);
      return nanos.has_value();
    }
    case 'z':
      parts.offset = read_offset(scan);
      return parts.offset.has_value();
    default:
      return scan.take(code);  // "%%".
  }
}

Instant read_pattern(std::string_view text, std::string_view pattern, const Zone& zone) {
  text = trim(text);
  if (is_none(text)) return {};
  Scan scan(text);
  Parts parts;
  Halves halves;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size()) {
      if (!read_code(pattern[++i], scan, parts, halves)) return bad();
    } else if (!scan.take(pattern[i])) {
      return bad();
    } else if (pattern[i] == ' ') {
      while (scan.take(' ')) {  // "May  1" has two.
      }
    }
  }
  if (!scan.done()) return bad();
  if (halves.used) parts.hour = parts.hour % 12 + halves.add;
  return instant_of(parts, zone);
}

}  // namespace

Instant TimeFormat::read(std::string_view text, const Zone& zone) const {
  switch (how_) {
    case How::kAuto:
      return read_auto(text, zone);
    case How::kPattern:
      return read_pattern(text, pattern_, zone);
    case How::kNumber:
      break;
  }
  text = trim(text);
  return is_none(text) ? Instant{} : read_count(text, unit_, base_);
}

Result<TimeFormat> time_format(std::string_view pattern, Nanos base) {
  struct Unit {
    std::string_view name;
    double nanos;
  };
  constexpr Unit kUnits[] = {
      {"epoch_s", 1e9}, {"epoch_ms", 1e6}, {"epoch_us", 1e3}, {"epoch_ns", 1}};
  TimeFormat format;
  format.base_ = base;
  if (pattern == "auto" || pattern.empty()) return format;
  for (const Unit& unit : kUnits) {
    if (pattern != unit.name) continue;
    format.how_ = TimeFormat::How::kNumber;
    format.unit_ = unit.nanos;
    return format;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    if (i + 1 == pattern.size() ||
        std::string_view("YymdHIMSabpfz%").find(pattern[i + 1]) == std::string_view::npos) {
      return bad_input("time format '" + std::string(pattern) +
                       "': supported are %Y %y %m %d %a %b %H %I %p %M %S %f %z");
    }
    ++i;
    format.how_ = TimeFormat::How::kPattern;
  }
  if (format.how_ != TimeFormat::How::kPattern) {
    return bad_input("time format '" + std::string(pattern) +
                     "' is none of auto, epoch_s, epoch_ms, epoch_us, epoch_ns, "
                     "or a pattern such as '%d/%m/%Y %H:%M:%S'");
  }
  format.pattern_ = pattern;
  return format;
}

Instant read_time(std::string_view text, const Zone& zone) { return read_auto(text, zone); }

bool read_duration(std::string_view text, Nanos& duration) {
  Scan scan(trim(text));
  std::int64_t days = 0;
  std::int64_t seconds = 0;
  auto number = scan.digits(1, 9);
  if (!number) return false;
  const bool in_words = scan.rest().starts_with(" day");  // "1 day, 2:03:04" as Python writes it.
  if (in_words) {
    scan.skip();
    scan.word();
    scan.take(',');
    scan.take(' ');
    scan.take('+');
  }
  if (in_words || scan.take('-')) {
    days = *number;
    number = scan.digits(1, 9);
    if (!number) return false;
  }
  seconds = *number;
  int colons = 0;
  while (scan.take(':')) {
    number = scan.digits(1, 2);
    if (!number || ++colons > 2) return false;
    seconds = seconds * 60 + *number;
  }
  // After days the first number is hours, whatever is missing behind it.
  if (days > 0 && colons < 2) seconds *= colons == 0 ? 3600 : 60;
  std::int64_t nanos = 0;
  if (scan.take('.')) {
    const auto fraction = scan.fraction();
    if (!fraction) return false;
    nanos = *fraction;
  }
  seconds += days * kDay;
  if (!scan.done() || seconds > kLast) return false;
  duration = std::chrono::seconds{seconds} + Nanos{nanos};
  return true;
}

}  // namespace amdahl::fleet
