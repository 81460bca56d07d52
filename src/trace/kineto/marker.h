// marker.h: finds what looks like the start of an event where brackets cannot be trusted.
#pragma once

#include <cstddef>
#include <string_view>

namespace amdahl::trace::kineto {

// Longer than what find_event looks for, so that it can be found across two buffers.
inline constexpr std::size_t kLongestMarker = 80;

// As Kineto starts every event.
inline constexpr std::string_view kUsualKey = "\"ph\"";

// The key, in its quotes, that the first of some events begins with, if events have such a key;
// else kUsualKey. Writers begin all events with the same.
std::string_view first_key(std::string_view events);

// The next `{ "ph"` from `from` on that is no value of another event's key; npos if there is none.
std::size_t find_event(std::string_view bytes, std::size_t from, std::string_view key = kUsualKey);

}  // namespace amdahl::trace::kineto
