// unsupported_formats.h: inputs that no source reads but that are known, and what to do instead.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::fleet {

// What is not text at all, and how to convert it; empty if it may be text.
std::string_view not_text(std::string_view bytes);

// Output that tools print for people, and the command that prints data instead; empty if it is none
// of these.
std::string output_for_people(std::string_view bytes);

}  // namespace amdahl::fleet
