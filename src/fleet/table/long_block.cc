#include "fleet/table/long_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/core.h>

#include "base/text.h"
#include "fleet/values.h"

namespace amdahl::fleet::table {
namespace {

using model::Trouble;

constexpr std::uint64_t kListedOfEach = 5;
// The fast way looks at words beyond what it has checked.
constexpr std::ptrdiff_t kAhead = 64;
constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
static_assert(std::endian::native == std::endian::little, "words are read byte by byte");

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, 8);
  return word;
}

// How many of the eight bytes, from the first, are digits.
unsigned digits_in(std::uint64_t word) {
  const std::uint64_t above = word + 0x4646464646464646ULL;  // Top bit set beyond '9'.
  const std::uint64_t below = word - 0x3030303030303030ULL;  // And below '0'.
  const std::uint64_t others = (above | below) & 0x8080808080808080ULL;
  return others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
}

// The number that the first `count` (1 to 8) bytes write, all digits.
std::uint32_t number_in(std::uint64_t word, unsigned count) {
  word <<= 64 - 8 * count;  // Zero bytes in front act as the digit 0.
  word = (word & 0x0F0F0F0F0F0F0F0FULL) * 2561 >> 8;
  word = (word & 0x00FF00FF00FF00FFULL) * 6553601 >> 16;
  return static_cast<std::uint32_t>((word & 0x0000FFFF0000FFFFULL) * 42949672960001ULL >> 32);
}

constexpr std::array<double, 9> kTenth = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};

// A plain number of at most eight digits on either side of its point. Null if it is none.
const char* plain_number(const char* at, float& value) {
  std::uint64_t word = load(at);
  const unsigned whole = digits_in(word);
  if (whole == 0 || whole == 8) return nullptr;
  double number = number_in(word, whole);
  at += whole;
  if (*at == '.') {
    word = load(at + 1);
    const unsigned fraction = digits_in(word);
    if (fraction == 0 || fraction == 8) return nullptr;
    number += number_in(word, fraction) * kTenth[fraction];
    at += 1 + fraction;
  }
  value = static_cast<float>(number);
  return at;
}

}  // namespace

void LongBlock::clear() {
  series.clear();
  samples.clear();
  fresh.clear();
  problems.clear();
  counts.assign(model::kTroubleKinds, 0);
  lines = 0;
}

void LongParser::problem(LongBlock& into, Trouble trouble, Where where, std::string text) {
  std::uint64_t listed = 0;
  for (const LongBlock::Problem& one : into.problems) listed += one.trouble == trouble ? 1U : 0U;
  if (listed < kListedOfEach) {
    into.problems.push_back({trouble, where, std::move(text)});
  } else {
    ++into.counts[static_cast<std::size_t>(trouble)];
  }
}

void LongParser::parse(std::string_view lines, LongBlock& into) {
  const char* at = lines.data();
  const char* const end = at + lines.size();
  while (at < end) {
    if (columns_.is_plain && end - at > kAhead) {
      if (const char* next = parse_plain(at, end, into)) {
        at = next;
        ++into.lines;
        continue;
      }
    }
    const auto* stop =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    const char* line_end = stop ? stop : end;
    std::string_view line(at, static_cast<std::size_t>(line_end - at));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!trim(line).empty()) {
      parse_slowly(line, static_cast<std::uint64_t>(at - lines.data()), into);
    }
    ++into.lines;
    at = line_end + 1;
  }
}

// One plain line whose series is known: nearly all of them. Null if it is another; then nothing
// was taken.
const char* LongParser::parse_plain(const char* at, const char* end, LongBlock& into) {
  if (known_.empty()) return nullptr;
  at = same_or_next_time(at);
  if (!at) return nullptr;
  const std::uint32_t known = known_at(at, end);
  if (known == kUnknown) return nullptr;
  at += known_[known].size;
  const std::size_t before = into.series.size();
  at = parse_values(at, end, known, into);
  if (!at) {
    into.series.resize(before);
    into.samples.resize(before);
    return nullptr;
  }
  known_[previous_].next = known;
  previous_ = known;
  return at;
}

// Past the time and its delimiter, if it is the last row's, or seconds or milliseconds since 1970.
const char* LongParser::same_or_next_time(const char* at) {
  if (time_size_ > 0 && std::memcmp(at, time_text_.data(), time_size_) == 0) {
    return at + time_size_;
  }
  const std::uint64_t high = load(at);
  const std::uint64_t low = load(at + 8);
  const unsigned more = digits_in(low);
  if (digits_in(high) != 8 || (more != 2 && more != 5) || at[8 + more] != columns_.delimiter) {
    return nullptr;
  }
  const std::int64_t number =
      std::int64_t{number_in(high, 8)} * (more == 2 ? 100 : 100'000) + number_in(low, more);
  // Beyond, nanoseconds do not fit; milliseconds with zeros in front may be seconds.
  if (number > (more == 2 ? 9'000'000'000 : 9'000'000'000'000)) return nullptr;
  if (more == 5 && number < 100'000'000'000) return nullptr;
  time_ = more == 2 ? Nanos{std::chrono::seconds(number)} : std::chrono::milliseconds(number);
  remember_time({at, 9 + more});
  return at + time_size_;
}

void LongParser::remember_time(std::string_view text) {
  time_size_ = text.size() <= time_text_.size() ? text.size() : 0;
  std::memcpy(time_text_.data(), text.data(), time_size_);
}

std::uint32_t LongParser::known_at(const char* at, const char* end) {
  const std::uint32_t guess = known_[previous_].next;
  const Known& it = known_[guess];
  if (end - at > kAhead + static_cast<std::ptrdiff_t>(it.size) &&
      ((load(at) ^ it.key[0]) & it.mask[0]) == 0 &&
      ((load(at + 8) ^ it.key[1]) & it.mask[1]) == 0 &&
      (it.size <= 16 || std::memcmp(at, it.text->data(), it.size) == 0)) {
    return guess;
  }
  const char* stop = at;
  for (std::size_t column = 1; column < columns_.key_end; ++column) {
    stop = static_cast<const char*>(
        std::memchr(stop, columns_.delimiter, static_cast<std::size_t>(end - stop)));
    if (!stop) return kUnknown;
    ++stop;
  }
  if (end - stop <= kAhead) return kUnknown;
  const auto found = by_key_.find({at, static_cast<std::size_t>(stop - at)});
  return found == by_key_.end() ? kUnknown : found->second;
}

// Past the end of the line; null if its values are not plain numbers.
const char* LongParser::parse_values(const char* at, const char* end, std::uint32_t known,
                                     LongBlock& into) {
  const std::size_t values = columns_.values.size();
  std::size_t column = columns_.key_end;
  for (std::size_t i = 0; i < values; ++i, ++column) {
    for (; column < columns_.values[i]; ++column) {  // LongColumns that say nothing.
      while (at < end && *at != columns_.delimiter && *at != '\n' && *at != '"') ++at;
      if (at == end || *at++ != columns_.delimiter) return nullptr;
    }
    if (end - at < kAhead / 2) return nullptr;
    float value = 0;
    at = plain_number(at, value);
    if (!at) return nullptr;
    into.series.push_back(static_cast<std::uint32_t>(known * values + i));
    into.samples.push_back({time_, value});
    const bool is_last = column + 1 == columns_.list.size();
    if (is_last) {
      if (*at == '\r') ++at;
      return *at == '\n' ? at + 1 : nullptr;
    }
    if (*at++ != columns_.delimiter) return nullptr;
  }
  for (; column < columns_.list.size(); ++column) {  // What comes after them says nothing either.
    const char stop = column + 1 == columns_.list.size() ? '\n' : columns_.delimiter;
    while (at < end && *at != columns_.delimiter && *at != '\n' && *at != '"') ++at;
    if (at == end || *at++ != stop) return nullptr;
  }
  return at;
}

bool LongParser::read_time(std::string_view text, Where where, LongBlock& into) {
  const Instant time = fleet::read_time(text, zone_);
  if (!time.known()) {
    problem(into, Trouble::kBadTime, where,
            fmt::format("{}: '{}' is no time", columns_.list[0].name, clip(text, 32)));
    return false;
  }
  if (time.ambiguous()) {
    problem(into, Trouble::kAmbiguousTime, where,
            fmt::format("{} came twice that day", clip(text, 32)));
  }
  time_ = time.at;
  return true;
}

void LongParser::parse_slowly(std::string_view line, std::uint64_t byte, LongBlock& into) {
  const Where where{into.lines, byte};
  if (!cells_.cut(line, columns_.delimiter) || cells_.size() != columns_.list.size()) {
    return problem(
        into, Trouble::kBadLine, where,
        fmt::format("has {} cells where the header has {}", cells_.size(), columns_.list.size()));
  }
  // Files that were put one behind the other.
  if (std::ranges::equal(cells_.all(), columns_.list, {}, {}, &LongColumn::name)) return;
  std::string key;
  bool is_good = true;
  for (std::size_t i = 0; i < columns_.list.size(); ++i) {
    const LongRole role = columns_.list[i].role;
    if (role == LongRole::kTime) {
      is_good = read_time(cells_[i], where, into);
    } else if (role != LongRole::kOther && role != LongRole::kValue && role != LongRole::kUsage) {
      key += cells_[i];
      key += columns_.delimiter;
    }
  }
  time_size_ = 0;
  if (!is_good) return;
  const std::size_t time_end = columns_.is_plain ? line.find(columns_.delimiter) : line.npos;
  if (time_end == cells_[0].size()) remember_time(line.substr(0, time_end + 1));
  const std::uint32_t known = intern(key, into);
  for (std::size_t i = 0; i < columns_.values.size(); ++i) {
    const Value value = read_value(cells_[columns_.values[i]]);
    if (value) {
      into.series.push_back(static_cast<std::uint32_t>(known * columns_.values.size() + i));
      into.samples.push_back({time_, static_cast<float>(value.number)});
    } else {
      problem(into, *value.trouble, where,
              fmt::format("{}: '{}'", columns_.list[columns_.values[i]].name,
                          clip(cells_[columns_.values[i]], 32)));
    }
  }
}

std::uint32_t LongParser::intern(std::string_view key, LongBlock& into) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    known_[previous_].next = found->second;
    return previous_ = found->second;
  }
  const auto number = static_cast<std::uint32_t>(known_.size());
  const std::string& text = texts_.emplace_back(key);
  by_key_.emplace(text, number);
  Known& known = known_.emplace_back();
  known.text = &text;
  known.size = static_cast<std::uint32_t>(text.size());
  char first[16] = {};
  char mask[16] = {};
  std::memcpy(first, text.data(), std::min<std::size_t>(text.size(), 16));
  std::memset(mask, 0xFF, std::min<std::size_t>(text.size(), 16));
  std::memcpy(known.key, first, 16);
  std::memcpy(known.mask, mask, 16);
  known_[previous_].next = number;
  previous_ = number;
  for (const std::size_t value : columns_.values) {
    LongBlock::NewSeries series;
    const LongColumn& of = columns_.list[value];
    series.metric = of.metric.empty() ? of.name : of.metric;
    for (std::size_t i = 0; i < columns_.list.size(); ++i) {
      const std::string cell(cells_[i]);
      switch (columns_.list[i].role) {
        case LongRole::kHost:
          series.host = cell;
          break;
        case LongRole::kDevice:
          series.device = cell;
          break;
        case LongRole::kUuid:
          if (!is_blank_word(cell)) series.uuid = cell;
          break;
        case LongRole::kSlice:
          if (!is_blank_word(cell)) series.slice = cell;
          break;
        case LongRole::kProfile:
          if (!is_blank_word(cell)) series.profile = cell;
          break;
        case LongRole::kJob:
          series.job = job_in(cell);
          break;
        case LongRole::kKind:
          series.kind = cell;
          break;
        case LongRole::kMetric:
          series.metric = cell;
          break;
        default:
          break;
      }
    }
    into.fresh.push_back(std::move(series));
  }
  return number;
}

}  // namespace amdahl::fleet::table
