// marker.h: finds the likely start of an event where brackets cannot be trusted.
#pragma once

#include <cstddef>
#include <string_view>

namespace amdahl::trace::kineto {

// Longer than what find_event() looks for, so that it is found across two buffers.
inline constexpr std::size_t kLongestMarker = 80;

// Kineto starts every event with it.
inline constexpr std::string_view kUsualKey = "\"ph\"";

// The first key, with quotes, of the first event, if there is one; else kUsualKey. Writers start
// all events with the same key.
std::string_view first_key(std::string_view events);

// The next `{ "ph"` from `from` on that is not the value of another event's key; npos if none.
std::size_t find_event(std::string_view bytes, std::size_t from, std::string_view key = kUsualKey);

}  // namespace amdahl::trace::kineto
