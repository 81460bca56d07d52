// marker.h: finds what looks like the start of an event where brackets cannot be trusted.
#pragma once

#include <cstddef>
#include <string_view>

namespace amdahl::trace::kineto {

// Longer than what find_event looks for, so that it can be found across two buffers.
inline constexpr std::size_t kLongestMarker = 80;

// The next `{ "ph"` from `from` on, as Kineto starts every event; npos if there is none.
std::size_t find_event(std::string_view bytes, std::size_t from);

}  // namespace amdahl::trace::kineto
