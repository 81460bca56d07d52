// profile_targets.h: feeds bytes to the readers of traces and sources and holds them to what they
// promise.
#pragma once

#include <string_view>

namespace amdahl::fuzz {

// Read whole and in pieces it must give the same rows; no duration is negative, every position is
// of a row that exists.
void read_trace(std::string_view reader, std::string_view bytes);

// As Python and as C++; findings stand on lines that exist, and patches have hunks.
void read_code(std::string_view bytes);

}  // namespace amdahl::fuzz
