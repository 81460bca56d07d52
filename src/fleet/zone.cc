#include <algorithm>
#include <chrono>
#include <optional>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/times.h"

namespace amdahl::fleet {
namespace {

constexpr std::int64_t kSecondsADay = 86'400;

// ---- POSIX TZ strings -------------------------------------------------------------------------

class PosixReader {
 public:
  explicit PosixReader(std::string_view text) : text_{text} {}

  std::optional<YearRule> read() {
    YearRule rule;
    if (!name() || !offset(rule.standard)) return std::nullopt;
    rule.standard = -rule.standard;  // POSIX counts westwards.
    if (text_.empty()) return rule;
    if (!name()) return std::nullopt;
    rule.summer = rule.standard + 3600;
    if (!text_.empty() && text_.front() != ',') {
      if (!offset(rule.summer)) return std::nullopt;
      rule.summer = -rule.summer;
    }
    rule.has_summer = true;
    // Without days POSIX leaves them to the system; these are what all of them take.
    if (text_.empty()) text_ = ",M3.2.0,M11.1.0";
    if (!take(',') || !day(rule.from) || !take(',') || !day(rule.to) || !text_.empty()) {
      return std::nullopt;
    }
    return rule;
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool name() {
    if (take('<')) {
      const std::size_t end = text_.find('>');
      if (end == text_.npos || end < 3) return false;
      text_.remove_prefix(end + 1);
      return true;
    }
    std::size_t size = 0;
    while (size < text_.size() && (text_[size] | 32) >= 'a' && (text_[size] | 32) <= 'z') ++size;
    text_.remove_prefix(size);
    return size >= 3;
  }
  bool number(int most, int& value) {
    std::size_t size = 0;
    value = 0;
    while (size < text_.size() && size < 4 && text_[size] >= '0' && text_[size] <= '9') {
      value = value * 10 + (text_[size++] - '0');
    }
    text_.remove_prefix(size);
    return size > 0 && value <= most;
  }
  // [+-]hh[:mm[:ss]]
  bool offset(int& seconds) {
    const bool negative = take('-');
    if (!negative) take('+');
    int hours = 0;
    int minutes = 0;
    int rest = 0;
    if (!number(167, hours)) return false;
    if (take(':') && !number(59, minutes)) return false;
    if (minutes > 0 && take(':') && !number(59, rest)) return false;
    seconds = hours * 3600 + minutes * 60 + rest;
    if (negative) seconds = -seconds;
    return true;
  }
  bool day(YearRule::Day& day) {
    using How = YearRule::Day::How;
    day.second = 7200;
    if (take('M')) {
      day.how = How::kMonth;
      if (!number(12, day.month) || day.month < 1 || !take('.') || !number(5, day.week) ||
          day.week < 1 || !take('.') || !number(6, day.day)) {
        return false;
      }
    } else if (take('J')) {
      day.how = How::kJulian;
      if (!number(365, day.day) || day.day < 1) return false;
    } else {
      day.how = How::kZeroBased;
      if (!number(365, day.day)) return false;
    }
    return !take('/') || offset(day.second);
  }

  std::string_view text_;
};

// Local seconds since 1970 at which the day's change happens in `year`.
std::int64_t change_in(const YearRule::Day& rule, int year) {
  using namespace std::chrono;
  using How = YearRule::Day::How;
  const std::chrono::year y{year};
  std::int64_t days = sys_days{y / 1 / 1}.time_since_epoch().count();
  if (rule.how == How::kZeroBased) {
    days += rule.day;
  } else if (rule.how == How::kJulian) {  // The 29th of February is never counted.
    days += rule.day - 1 + (y.is_leap() && rule.day >= 60 ? 1 : 0);
  } else {
    const month m{static_cast<unsigned>(rule.month)};
    const weekday w{static_cast<unsigned>(rule.day)};
    days = (rule.week == 5 ? sys_days{y / m / w[last]}
                           : sys_days{y / m / w[static_cast<unsigned>(rule.week)]})
               .time_since_epoch()
               .count();
  }
  return days * kSecondsADay + rule.second;
}

int offset_by(const YearRule& rule, std::int64_t at) {
  if (!rule.has_summer) return rule.standard;
  using namespace std::chrono;
  const sys_days day{floor<days>(seconds{at + rule.standard})};
  const int year = static_cast<int>(year_month_day{day}.year());
  const std::int64_t from = change_in(rule.from, year) - rule.standard;
  const std::int64_t to = change_in(rule.to, year) - rule.summer;
  const bool summer = from < to ? at >= from && at < to : at >= from || at < to;
  return summer ? rule.summer : rule.standard;
}

// ---- TZif -------------------------------------------------------------------------------------

// Big-endian numbers off the front of bytes; zero behind their end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_{bytes} {}

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) {
      short_ = true;
      size = bytes_.size();
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::string_view rest() const { return bytes_; }
  bool was_short() const { return short_; }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

struct Header {
  char version = 0;
  std::size_t utc_marks = 0;
  std::size_t standard_marks = 0;
  std::size_t leaps = 0;
  std::size_t times = 0;
  std::size_t types = 0;
  std::size_t letters = 0;
};

std::optional<Header> read_header(Bytes& bytes) {
  if (bytes.take(4) != "TZif") return std::nullopt;
  Header header;
  const std::string_view version = bytes.take(1);
  header.version = version.empty() ? '\0' : version.front();
  bytes.take(15);
  for (std::size_t* count : {&header.utc_marks, &header.standard_marks, &header.leaps,
                             &header.times, &header.types, &header.letters}) {
    *count = bytes.number(4);
  }
  if (bytes.was_short()) return std::nullopt;
  return header;
}

Error damaged() { return bad_input("the rules of the time zone are damaged: not a TZif file"); }

}  // namespace

Result<Zone> zone_from_tzif(std::string_view text) {
  Bytes bytes(text);
  auto header = read_header(bytes);
  if (!header) return damaged();
  std::size_t width = 4;
  if (header->version >= '2') {  // The same again, in 64 bits.
    bytes.take(header->times * 5 + header->types * 6 + header->letters + header->leaps * 8 +
               header->standard_marks + header->utc_marks);
    header = read_header(bytes);
    if (!header) return damaged();
    width = 8;
  }
  if (header->types == 0 || header->times > 100'000 || header->types > 256) return damaged();
  const std::string_view times = bytes.take(header->times * width);
  const std::string_view kinds = bytes.take(header->times);
  Bytes types(bytes.take(header->types * 6));
  std::vector<int> offsets;
  for (std::size_t i = 0; i < header->types; ++i) {
    offsets.push_back(static_cast<std::int32_t>(types.number(4)));
    types.take(2);
  }
  bytes.take(header->letters + header->leaps * (width + 4) + header->standard_marks +
             header->utc_marks);
  if (bytes.was_short()) return damaged();

  Zone zone;
  zone.fixed_ = false;
  zone.before_ = offsets.front();
  Bytes at(times);
  for (const char kind : kinds) {
    const auto index = static_cast<unsigned char>(kind);
    if (index >= offsets.size()) return damaged();
    const std::uint64_t raw = at.number(width);
    const auto when = width == 8 ? static_cast<std::int64_t>(raw)
                                 : static_cast<std::int64_t>(static_cast<std::int32_t>(raw));
    if (!zone.changes_.empty() && when < zone.changes_.back().at) return damaged();
    zone.changes_.push_back({when, offsets[index]});
  }
  std::string_view footer = trim(bytes.rest());
  if (width == 8 && !footer.empty()) {
    const auto rule = PosixReader(footer).read();
    if (!rule) return damaged();
    zone.after_ = *rule;
    zone.has_after_ = true;
  }
  return zone;
}

int Zone::offset_at(std::int64_t unix_time) const {
  if (fixed_) return before_;
  if (changes_.empty() || unix_time < changes_.front().at) {
    return changes_.empty() && has_after_ ? offset_by(after_, unix_time) : before_;
  }
  if (has_after_ && unix_time >= changes_.back().at) return offset_by(after_, unix_time);
  const auto after =
      std::upper_bound(changes_.begin(), changes_.end(), unix_time,
                       [](std::int64_t time, const Change& change) { return time < change.at; });
  return std::prev(after)->offset;
}

Zone::Unix Zone::to_unix(std::int64_t local) const {
  if (fixed_) return {local - before_, local - before_, false};
  // No zone is more than a day from UTC, and none changes twice in two days.
  const int early = offset_at(local - kSecondsADay);
  const int late = offset_at(local + kSecondsADay);
  const bool by_early = offset_at(local - early) == early;
  const bool by_late = offset_at(local - late) == late;
  if (by_early && by_late) {
    return {std::min(local - early, local - late), std::max(local - early, local - late), false};
  }
  if (!by_early && !by_late) return {local - early, local - early, true};
  const std::int64_t only = local - (by_early ? early : late);
  return {only, only, false};
}

std::string zone_file(std::string_view name) {
  name = trim(name);
  if (name.starts_with(':')) name.remove_prefix(1);
  const bool place = name.find_first_of(",<+0123456789") == name.npos &&
                     (name.find('/') != name.npos || name == "CET" || name == "EET" ||
                      name == "MET" || name == "WET" || name == "Japan" || name == "Singapore");
  if (!place || name.find("..") != name.npos || name.starts_with('/')) return {};
  return fmt::format("/usr/share/zoneinfo/{}", name);
}

Result<Zone> zone_named(std::string_view name, std::string_view rules) {
  if (!rules.empty()) return zone_from_tzif(rules).in(fmt::format("time zone '{}'", name));
  name = trim(name);
  if (name.starts_with(':')) name.remove_prefix(1);
  Zone zone;
  if (name.empty() || name == "UTC" || name == "GMT" || name == "Z" || name == "Etc/UTC") {
    return zone;
  }
  if (name.size() >= 3 && (name.front() == '+' || name.front() == '-')) {  // "+02:00", "-0530".
    std::string digits;
    for (const char c : name.substr(1)) {
      if (c != ':') digits += c;
    }
    const auto number = to_number<int>(digits);
    if (number && (digits.size() == 2 || digits.size() == 4)) {
      const int minutes = digits.size() == 2 ? *number * 60 : *number / 100 * 60 + *number % 100;
      zone.before_ = (name.front() == '-' ? -60 : 60) * minutes;
      return zone;
    }
  }
  if (const auto rule = PosixReader(name).read()) {
    zone.fixed_ = false;
    zone.after_ = *rule;
    zone.has_after_ = true;
    return zone;
  }
  return bad_input(fmt::format(
      "time zone '{}' is not known here; write it as 'Europe/Oslo' (its rules must be installed: "
      "/usr/share/zoneinfo), '+02:00' or 'CET-1CEST,M3.5.0,M10.5.0/3'",
      name));
}

}  // namespace amdahl::fleet
