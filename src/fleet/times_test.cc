#include "fleet/times.h"

#include <array>

#include <gtest/gtest.h>

namespace amdahl::fleet {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using Is = Instant::Is;

constexpr std::string_view kOslo = "CET-1CEST,M3.5.0,M10.5.0/3";

Zone zone(std::string_view name) {
  const auto made = zone_named(name);
  EXPECT_TRUE(made) << made.error().text;
  return *made;
}

TEST(Times, ReadsWhatToolsWrite) {
  struct Case {
    std::string_view text;
    Is is;
    std::int64_t nanos;
  };
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr Case kCases[] = {
      {"2017-10-11T00:00:00", Is::kTime, 1507680000 * kSecond},
      {"2017-10-11 00:00:00", Is::kTime, 1507680000 * kSecond},
      {"2017/10/11 00:00:00.312", Is::kTime, 1507680000 * kSecond + 312'000'000},
      {"2025-05-02T14:09:52+02:00", Is::kTime, 1746187792 * kSecond},
      {"2025-05-02T14:09:52-0530", Is::kTime, 1746214792 * kSecond},
      {"2025-05-02T12:09:52Z", Is::kTime, 1746187792 * kSecond},
      {"2025-05-02 12:09:52 UTC", Is::kTime, 1746187792 * kSecond},
      {"2025-05-02", Is::kTime, 1746144000 * kSecond},
      {"1507507200", Is::kTime, 1507507200 * kSecond},
      {"1507507200.25", Is::kTime, 1507507200 * kSecond + 250'000'000},
      {"1507507200123", Is::kTime, 1507507200123 * 1'000'000},
      {"1507507200123456", Is::kTime, 1507507200123456 * 1000},
      {"1507507200123456789", Is::kTime, 1507507200123456789},
      {"1.507507200e+09", Is::kTime, 1507507200 * kSecond},
      {"1.5e+999", Is::kBad, 0},
      {"e9", Is::kBad, 0},
      {"Unknown", Is::kNone, 0},
      {"None", Is::kNone, 0},
      {"", Is::kNone, 0},
      {"0", Is::kNone, 0},
      {"2017-13-11T00:00:00", Is::kBad, 0},
      {"2017-02-29", Is::kBad, 0},
      {"2017-10-11T25:00:00", Is::kBad, 0},
      {"2017-10-11T00:00:00+02:0", Is::kBad, 0},
      {"yesterday", Is::kBad, 0},
      {"99999999999999999999", Is::kBad, 0},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.text);
    const Instant read = read_time(c.text, Zone{});
    EXPECT_EQ(read.is, c.is);
    EXPECT_EQ(read.at.count(), c.nanos);
    EXPECT_FALSE(read.ambiguous());
  }
}

TEST(Times, LocalTimesFollowDaylightSaving) {
  const Zone oslo = zone(kOslo);
  EXPECT_EQ(read_time("2025-01-15T12:00:00", oslo).at, read_time("2025-01-15T11:00:00Z", {}).at);
  EXPECT_EQ(read_time("2025-07-15T12:00:00", oslo).at, read_time("2025-07-15T10:00:00Z", {}).at);
  // Clocks went from 03:00 back to 02:00 on 26 October 2025.
  const Instant twice = read_time("2025-10-26T02:30:00", oslo);
  EXPECT_TRUE(twice.ambiguous());
  EXPECT_EQ(twice.at, read_time("2025-10-26T00:30:00Z", {}).at);
  EXPECT_EQ(twice.other - twice.at, hours(1));
  EXPECT_FALSE(read_time("2025-10-26T03:00:00", oslo).ambiguous());
  EXPECT_FALSE(read_time("2025-10-26T01:59:59", oslo).ambiguous());
  // And from 02:00 to 03:00 on 30 March.
  const Instant never = read_time("2025-03-30T02:30:00", oslo);
  EXPECT_TRUE(never.skipped);
  EXPECT_EQ(never.at, read_time("2025-03-30T01:30:00Z", {}).at);
  // South of the equator the year begins in summer.
  const Zone sydney = zone("AEST-10AEDT,M10.1.0,M4.1.0/3");
  EXPECT_EQ(sydney.offset_at(1736942400), 11 * 3600);
  EXPECT_EQ(sydney.offset_at(1752580800), 10 * 3600);
}

TEST(Times, ZonesAreNamedInManyWays) {
  EXPECT_EQ(zone("+02:00").offset_at(0), 7200);
  EXPECT_EQ(zone("-0530").offset_at(0), -19800);
  EXPECT_EQ(zone("UTC").offset_at(0), 0);
  EXPECT_EQ(zone("EST5").offset_at(0), -5 * 3600);
  EXPECT_EQ(zone("<-03>3").offset_at(0), -3 * 3600);
  EXPECT_EQ(zone("EST5EDT").offset_at(1752580800), -4 * 3600);
  EXPECT_EQ(zone_file("Europe/Oslo"), "/usr/share/zoneinfo/Europe/Oslo");
  EXPECT_EQ(zone_file("../../etc/passwd"), "");
  EXPECT_EQ(zone_file(kOslo), "");
  EXPECT_EQ(zone_named("Europe/Oslo").error().text,
            "time zone 'Europe/Oslo' is not known here; write it as 'Europe/Oslo' (its rules must "
            "be installed: /usr/share/zoneinfo), '+02:00' or 'CET-1CEST,M3.5.0,M10.5.0/3'");
  EXPECT_EQ(zone_named("Europe/Oslo", "garbage").error().text,
            "time zone 'Europe/Oslo': the rules of the time zone are damaged: not a TZif file");
}

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

// One change, from +1 h to +2 h at 2020-03-29 01:00 UTC, then by the rule.
std::string tzif() {
  const auto part = [](int width) {
    std::string text = "TZif2" + std::string(15, '\0');
    for (const std::uint64_t count : {0, 0, 0, 1, 2, 4}) text += big_endian(count, 4);
    text += big_endian(1585443600, width) + '\1';
    text += big_endian(3600, 4) + std::string("\0\0", 2);
    text += big_endian(7200, 4) + std::string("\1\0", 2);
    return text + std::string("CET\0", 4);
  };
  return part(4) + part(8) + "\n" + std::string(kOslo) + "\n";
}

TEST(Times, ReadsCompiledRules) {
  const auto made = zone_from_tzif(tzif());
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(made->offset_at(1585443599), 3600);
  EXPECT_EQ(made->offset_at(1585443600), 7200);
  EXPECT_EQ(made->offset_at(1736942400), 3600);  // 2025, by the rule behind the last change.
  EXPECT_EQ(made->offset_at(1752580800), 7200);
  const std::string whole = tzif();
  for (std::size_t size = 0; size + 30 < whole.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_FALSE(zone_from_tzif(whole.substr(0, size)));
  }
}

TEST(Times, FormatsOfColumns) {
  const auto read = [](std::string_view pattern, std::string_view text, Nanos base = {}) {
    const auto format = time_format(pattern, base);
    EXPECT_TRUE(format) << format.error().text;
    return format->read(text, Zone{});
  };
  EXPECT_EQ(read("%d/%m/%Y %H:%M:%S", "11/10/2017 00:00:01").at, seconds(1507680001));
  EXPECT_EQ(read("%b %d %Y %I:%M%p", "Oct 11 2017 01:30PM").at, seconds(1507680000) + minutes(810));
  EXPECT_EQ(read("%Y%m%dT%H%M%S.%f%z", "20171011T020000.5+0200").at,
            seconds(1507680000) + Nanos(500'000'000));
  EXPECT_EQ(read("epoch_ms", "1500").at, Nanos(1'500'000'000));
  EXPECT_EQ(read("epoch_s", "0", seconds(100)).at, seconds(100));  // A clock that starts at 0.
  EXPECT_EQ(read("epoch_s", "").is, Is::kNone);
  EXPECT_EQ(read("%d/%m/%Y", "11/10").is, Is::kBad);
  EXPECT_EQ(time_format("%Q").error().text,
            "time format '%Q': supported are %Y %y %m %d %a %b %H %I %p %M %S %f %z");
  EXPECT_EQ(time_format("iso").error().text,
            "time format 'iso' is none of auto, epoch_s, epoch_ms, epoch_us, epoch_ns, or a "
            "pattern such as '%d/%m/%Y %H:%M:%S'");
}

TEST(Times, Durations) {
  const auto read = [](std::string_view text) {
    Nanos duration{-1};
    read_duration(text, duration);
    return duration;
  };
  EXPECT_EQ(read("1-02:03:04"), hours(26) + minutes(3) + seconds(4));
  EXPECT_EQ(read("02:03:04"), hours(2) + minutes(3) + seconds(4));
  EXPECT_EQ(read("03:04.5"), minutes(3) + seconds(4) + Nanos(500'000'000));
  EXPECT_EQ(read("90"), seconds(90));
  EXPECT_EQ(read("2-03"), hours(51));
  EXPECT_EQ(read("UNLIMITED"), Nanos(-1));
  EXPECT_EQ(read("1:2:3:4"), Nanos(-1));
}

}  // namespace
}  // namespace amdahl::fleet
