// times.h: the times that tools write, as Unix time; local ones by the rules of their zone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace amdahl::fleet {

// When daylight saving begins and ends, as POSIX TZ says it: "CET-1CEST,M3.5.0,M10.5.0/3".
struct YearRule {
  struct Day {
    enum class How : std::uint8_t { kJulian, kZeroBased, kMonth } how = How::kMonth;
    int month = 0;   // kMonth: 1 to 12.
    int week = 0;    // kMonth: 1 to 5, where 5 is the last.
    int day = 0;     // kMonth: weekday, 0 is Sunday; else the day of the year.
    int second = 0;  // Of that day; may be negative or more than a day.
  };
  int standard = 0;  // Seconds east of Greenwich.
  int summer = 0;
  bool has_summer = false;
  Day from;
  Day to;
};

// Offsets from UTC over time. Made by zone_named(); UTC by default.
class Zone {
 public:
  // The Unix second that a clock on the wall means. In the hour that daylight saving repeats it
  // means two: `first` and `second`; else both are equal. In the hour that it skips, the time as
  // if the clock had not been put forward.
  struct Unix {
    std::int64_t first = 0;
    std::int64_t second = 0;
    bool skipped = false;
  };
  Unix to_unix(std::int64_t local) const;
  int offset_at(std::int64_t unix_time) const;  // Seconds east of Greenwich.

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

// `name` as TZ spells it: "" or "UTC", "+02:00", "CET-1CEST,M3.5.0,M10.5.0/3", or a place such as
// "Europe/Oslo", for which `rules` must be the bytes of zone_file().
Result<Zone> zone_named(std::string_view name, std::string_view rules = {});
// The rules of a zone as zic compiled them (RFC 8536).
Result<Zone> zone_from_tzif(std::string_view bytes);
// Where the rules of a place are kept; empty if the name says all itself.
std::string zone_file(std::string_view name);

// A time as it was read.
struct Instant {
  enum class Is : std::uint8_t { kTime, kNone, kBad } is = Is::kNone;  // kNone: "Unknown", empty.
  Nanos at{};
  Nanos other{};         // The second meaning of an ambiguous local time; else as `at`.
  bool skipped = false;  // A local time that no clock showed.

  bool known() const { return is == Is::kTime; }
  bool ambiguous() const { return other != at; }
};

// How a column writes times. "auto" takes ISO 8601 (also with a space or slashes) with or without
// a zone, and numbers as seconds, milli-, micro- or nanoseconds since 1970 by their size.
class TimeFormat {
 public:
  TimeFormat() = default;  // "auto".
  Instant read(std::string_view text, const Zone& zone) const;

 private:
  friend Result<TimeFormat> time_format(std::string_view pattern, Nanos base);
  enum class How : std::uint8_t { kAuto, kNumber, kPattern } how_ = How::kAuto;
  double unit_ = 1;      // kNumber: nanoseconds.
  Nanos base_{};         // kNumber: what zero means.
  std::string pattern_;  // kPattern: as strptime, %Y %m %d %H %M %S %f %y %a %b %I %p %z.
};

// "auto", "epoch_s", "epoch_ms", "epoch_us", "epoch_ns" or a pattern with '%'. `base`: what zero
// means, for clocks that do not start in 1970.
Result<TimeFormat> time_format(std::string_view pattern, Nanos base = {});

Instant read_time(std::string_view text, const Zone& zone);  // As "auto".

// "1-02:03:04", "02:03:04", "03:04.567", "90": what schedulers write; nothing if it is none.
bool read_duration(std::string_view text, Nanos& duration);

}  // namespace amdahl::fleet
