// times.h: parses times as written by tools; local times by the rules of their zone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::fleet {

// Start and end of daylight saving, as in POSIX TZ: "CET-1CEST,M3.5.0,M10.5.0/3".
struct YearRule {
  struct Day {
    enum class How : std::uint8_t { kJulian, kZeroBased, kMonth } how = How::kMonth;
    int month = 0;   // kMonth: 1 to 12.
    int week = 0;    // kMonth: 1 to 5; 5 is the last.
    int day = 0;     // kMonth: weekday, 0 is Sunday; else day of the year.
    int second = 0;  // Of that day; may be negative or beyond a day.
  };
  int standard = 0;  // Seconds east of UTC.
  int summer = 0;
  bool has_summer = false;
  Day from;
  Day to;
};

// Offsets from UTC over time. Created by zone_named(); default: UTC.
class Zone {
 public:
  // The Unix time of a local time. In the hour that daylight saving repeats there are two: `first`
  // and `second`; else both are equal. In the hour that it skips, computed as if the clock had not
  // been changed.
  struct Unix {
    std::int64_t first = 0;
    std::int64_t second = 0;
    bool skipped = false;
  };
  Unix to_unix(std::int64_t local) const;
  int offset_at(std::int64_t unix_time) const;  // Seconds east of UTC.

 private:
  friend Result<Zone> zone_named(std::string_view name, std::string_view rules);
  friend Result<Zone> zone_from_tzif(std::string_view bytes);

  struct Change {
    std::int64_t at = 0;
    int offset = 0;
  };
  int before_ = 0;
  std::vector<Change> changes_;
  YearRule after_;
  bool has_after_ = false;
  bool fixed_ = true;  // Always before_.
};

// `name` as in TZ: "" or "UTC", "+02:00", "CET-1CEST,M3.5.0,M10.5.0/3", or a place such as
// "Europe/Oslo", for which `rules` must be the content of zone_file().
Result<Zone> zone_named(std::string_view name, std::string_view rules = {});
// Rules compiled by zic (RFC 8536).
Result<Zone> zone_from_tzif(std::string_view bytes);
// File with the rules of a place; empty if the name is self-contained.
std::string zone_file(std::string_view name);

// A parsed time.
struct Instant {
  enum class Is : std::uint8_t { kTime, kNone, kBad } is = Is::kNone;  // kNone: "Unknown", empty.
  Nanos at{};
  Nanos other{};         // Second meaning of an ambiguous local time; else same as `at`.
  bool skipped = false;  // A local time that does not exist.

  bool known() const { return is == Is::kTime; }
  bool ambiguous() const { return other != at; }
};

// Time format of a column. "auto" accepts ISO 8601 (also with a space or slashes) with or without
// a zone, and numbers as seconds, milli-, micro- or nanoseconds since 1970, by magnitude.
class TimeFormat {
 public:
  TimeFormat() = default;  // "auto".
  Instant read(std::string_view text, const Zone& zone) const;

 private:
  friend Result<TimeFormat> time_format(std::string_view pattern, Nanos base);
  enum class How : std::uint8_t { kAuto, kNumber, kPattern } how_ = How::kAuto;
  double unit_ = 1;      // kNumber: nanoseconds.
  Nanos base_{};         // kNumber: the time of zero.
  std::string pattern_;  // kPattern: as in strptime, %Y %m %d %H %M %S %f %y %a %b %I %p %z.
};

// "auto", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns" or a pattern with '%'. `base`: the time of
// zero, for clocks that do not start in 1970.
Result<TimeFormat> time_format(std::string_view pattern, Nanos base = {});

Instant read_time(std::string_view text, const Zone& zone);  // As "auto".

// "1-02:03:04", "02:03:04", "03:04.567", "90", as written by schedulers; false if malformed.
bool read_duration(std::string_view text, Nanos& duration);

}  // namespace amdahl::fleet
