// unsupported_formats.h: formats that we recognise but cannot read, and what to do instead.
#pragma once

#include <string>
#include <string_view>

namespace amdahl::fleet {

// Names a binary format and how to convert it; empty if it may be text.
std::string_view not_text(std::string_view bytes);

// Names human-readable tool output and the command that prints data instead; empty if unknown.
std::string output_for_people(std::string_view bytes);

}  // namespace amdahl::fleet
