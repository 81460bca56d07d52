#include "trace_builder.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "trace/kineto/scan.h"

namespace amdahl::bench {
namespace {

enum class Number { kTime, kId, kStep };

// A number of the text that every copy changes.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  Number what = Number::kId;
  bool nanos = false;  // A time with three decimals.
  std::int64_t value = 0;
};

struct Word {
  std::string_view text;
  Number what;
};

constexpr Word kWords[] = {
    {"\"ts\": ", Number::kTime},      {"\"correlation\": ", Number::kId},
    {"\"id\": ", Number::kId},        {"\"External id\": ", Number::kId},
    {"ProfilerStep#", Number::kStep},
};

std::int64_t number_at(std::string_view text, std::size_t begin, std::size_t& end) {
  std::int64_t value = 0;
  const auto done = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  end = static_cast<std::size_t>(done.ptr - text.data());
  return value;
}

Place place_at(std::string_view text, std::size_t begin, Number what) {
  Place place{.begin = begin, .end = begin, .what = what, .nanos = false, .value = 0};
  place.value = number_at(text, begin, place.end);
  if (what != Number::kTime || place.end >= text.size() || text[place.end] != '.') return place;
  std::size_t end = place.end + 1;
  const std::size_t from = end;
  std::int64_t nanos = number_at(text, from, end);
  for (std::size_t digits = end - from; digits < 3; ++digits) nanos *= 10;
  place.value = place.value * 1000 + nanos;
  place.nanos = true;
  place.end = end;
  return place;
}

std::vector<Place> places_of(std::string_view text) {
  std::vector<Place> places;
  for (const Word& word : kWords) {
    for (std::size_t at = text.find(word.text); at != std::string_view::npos;
         at = text.find(word.text, at + word.text.size())) {
      places.push_back(place_at(text, at + word.text.size(), word.what));
    }
  }
  std::ranges::sort(places, {}, &Place::begin);
  return places;
}

// By how much each copy is later, and how many ids it uses.
struct Stride {
  std::int64_t micros = 0;
  std::int64_t ids = 0;
};

Stride stride_of(const std::vector<Place>& places) {
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  std::int64_t ids = 0;
  for (const Place& place : places) {
    if (place.what == Number::kId) ids = std::max(ids, place.value);
    if (place.what != Number::kTime || place.value == 0) continue;  // Metadata has no time.
    const std::int64_t micros = place.nanos ? place.value / 1000 : place.value;
    first = std::min(first, micros);
    last = std::max(last, micros);
  }
  return {last - first + 1000, ids + 1};
}

std::string copy_of(std::string_view text, const std::vector<Place>& places, const Stride& stride,
                    std::int64_t number) {
  std::string copy;
  copy.reserve(text.size() + text.size() / 8);
  std::size_t at = 0;
  for (const Place& place : places) {
    copy.append(text.substr(at, place.begin - at));
    at = place.end;
    if (place.what == Number::kTime && place.nanos) {
      const std::int64_t nanos = place.value + number * stride.micros * 1000;
      fmt::format_to(std::back_inserter(copy), "{}.{:03}", nanos / 1000, nanos % 1000);
    } else if (place.what == Number::kTime) {
      const std::int64_t shift = place.value == 0 ? 0 : number * stride.micros;
      fmt::format_to(std::back_inserter(copy), "{}", place.value + shift);
    } else {
      const std::int64_t shift = place.what == Number::kStep ? 1000 : stride.ids;
      fmt::format_to(std::back_inserter(copy), "{}", place.value + number * shift);
    }
  }
  copy.append(text.substr(at));
  return copy;
}

}  // namespace

std::uint64_t repeat_trace(std::string_view json, std::uint64_t bytes,
                           const std::function<void(std::string_view)>& write) {
  const std::size_t list = json.find('[', json.find("\"traceEvents\""));
  const std::size_t begin = json.find('{', list);
  trace::kineto::Nesting nesting;
  const std::size_t end =
      trace::kineto::scan_events(json.data(), begin, json.size(), 0, nesting).after_last - 1;
  const std::string_view events = json.substr(begin, end + 1 - begin);
  const std::vector<Place> places = places_of(events);
  const Stride stride = stride_of(places);
  std::uint64_t written = begin;
  write(json.substr(0, begin));
  for (std::int64_t number = 0; written < bytes; ++number) {
    if (number > 0) write(",\n  ");
    const std::string copy = copy_of(events, places, stride, number);
    write(copy);
    written += copy.size();
  }
  write(json.substr(end + 1));
  return written + (json.size() - end - 1);
}

}  // namespace amdahl::bench
